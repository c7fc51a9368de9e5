"""Calls about release gates: policies, decisions, what stands now, reviews and waivers, and what proves a decision."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from shipworthy.query import gates as answers
from shipworthy.query import results
from shipworthy.query.exchange import PAGE, Exchange


class GateCalls(Exchange):
    """A part of ShipworthyClient."""

    def lint_gate(self, data: bytes, media_type: str | None = None) -> results.Document:
        """What is wrong with a policy, without publishing it; `ok` is False when it would be refused."""
        answer = self._exchange("POST", "/v1/gates:lint", content=data, headers=_typed(media_type))
        return self._document(answer)

    def publish_gate(self, name: str, data: bytes, media_type: str | None = None) -> results.Document:
        """The next version of a gate. InvalidRequest names every place of a policy that is refused."""
        answer = self._exchange("PUT", _gate_path(name), content=data, headers=_typed(media_type))
        return self._document(answer)

    def gates(self, page: int = PAGE) -> Iterator[answers.Gate]:
        """The current version of each, the last published first."""
        return self._pages("/v1/gates", {}, page, answers.gate)

    def gate(self, name: str, version: int | None = None) -> answers.Gate:
        """One version, by default the current one."""
        return self._read(answers.gate, self._get(_gate_path(name, version)))

    def gate_source(self, name: str, version: int | None = None) -> bytes:
        """The policy as it was published, byte for byte."""
        return self._exchange("GET", _gate_path(name, version), params={"raw": 1}).content

    def decide(
        self,
        gate: str,
        *,
        model: str,
        artifact: str,
        to: str,
        version: str | None = None,
        mode: str = "enforce",
        flags: Sequence[str] = (),
    ) -> answers.Decision:
        """Has a gate evaluated on what is recorded now. Every call makes a decision, also when it is no."""
        asked = {
            "model": model,
            "artifact": artifact,
            "to": to,
            "version": version,
            "mode": mode,
            "flags": list(flags),
        }
        answer = self._post(f"{_gate_path(gate)}/decisions", asked)
        return self._read(answers.decision, answer)

    def decision(self, decision_id: str) -> answers.Decision:
        return self._read(answers.decision, self._get(_decision_path(decision_id)))

    def decisions(
        self,
        *,
        model: str | None = None,
        to: str | None = None,
        gate: str | None = None,
        verdict: str | None = None,
        page: int = PAGE,
    ) -> Iterator[answers.Decision]:
        """Newest first."""
        filters = {"model": model, "to": to, "gate": gate, "verdict": verdict}
        return self._pages("/v1/decisions", filters, page, answers.decision)

    def standing(
        self, model: str, to: str, *, artifact: str | None = None, version: str | None = None
    ) -> answers.Standing:
        """Whether an artifact, named by its digest or by a version, may take a place now, and what is missing."""
        asked = {"model": model, "to": to, "artifact": artifact, "version": version}
        return self._read(answers.standing, self._get("/v1/decisions:in-force", asked))

    def replay(
        self, gate: str, *, policy: str | None = None, version: int | None = None, limit: int = 100
    ) -> tuple[int, tuple[answers.Flip, ...]]:
        """How many past decisions were evaluated again under another policy, and those that come out otherwise."""
        asked = {"policy": policy, "version": version, "limit": limit}
        answer = self._post(f"{_gate_path(gate)}:replay", asked)
        return self._read(
            lambda found: (int(found["replayed"]), tuple(answers.flip(each) for each in found["flips"])),
            answer,
        )

    def review(
        self, decision_id: str, action: str, reason: str, expires_at: str | None = None
    ) -> results.Document:
        """`action` is request, approve or deny."""
        asked = {"decision": decision_id, "action": action, "reason": reason, "expires_at": expires_at}
        return self._post("/v1/reviews", asked)

    def waive(
        self, gate: str, criterion: str, *, artifact: str, to: str, reason: str, expires_at: str
    ) -> results.Document:
        """One person's waiver; it counts when as many gave one as the policy asks for."""
        asked = {
            "gate": gate,
            "criterion": criterion,
            "artifact": artifact,
            "to": to,
            "reason": reason,
            "expires_at": expires_at,
        }
        return self._post("/v1/waivers", asked)

    def decision_bundle(self, decision_id: str, since: int | None = None) -> bytes:
        """What `shipworthy verify --evidence` reads; `since` is the size of a log head that was kept."""
        parameters = {} if since is None else {"from": since}
        return self._exchange("GET", f"{_decision_path(decision_id)}/bundle", params=parameters).content

    def trust(self) -> bytes:
        """What `shipworthy verify --trust` reads: worth as much as the way over which it is fetched."""
        return self._exchange("GET", "/v1/trust").content


def _gate_path(name: str, version: int | None = None) -> str:
    path = f"/v1/gates/{quote(name, '')}"
    return path if version is None else f"{path}/versions/{version}"


def _decision_path(decision_id: str) -> str:
    return f"/v1/decisions/{quote(decision_id, ':')}"


def _typed(media_type: str | None) -> dict[str, str]:
    return {"Content-Type": media_type or "application/octet-stream"}
