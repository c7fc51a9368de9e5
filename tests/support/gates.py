"""A gate, an artifact that passes it and the persons around it: everything recorded through the service's own calls."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

import httpx
from sqlalchemy import update
from sqlmodel import col

from gates.release.evaluate import evaluate
from gates.release.loading import load_policy
from models.fields import instant_text
from models.gates.in_force import Standing, standing
from models.gates.tables import GateDecision
from models.keys.administration import create_key
from shipworthy.formats.times import parse_instant
from tests.support.attempts import answered, claimed, opened, statistics_of
from tests.support.bodies import Body, digest_of, make_artifact, make_run, make_snapshot, make_version
from tests.support.calls import post
from tests.support.contracts import complete
from tests.support.service import NO_CERTIFICATES, RunningService

YAML: Final = {"Content-Type": "application/yaml"}
MODEL: Final = "fraud-classifier"
TO: Final = "champion"
GATE: Final = "fraud-champion"
TRAIN: Final = digest_of("fraud-train")
EVALUATION: Final = digest_of("fraud-eval")
ARTIFACT: Final = digest_of("model")
DISJOINT: Final = {"status": "disjoint", "method": "declared-split", "training": [TRAIN], "missing": []}
CRITERIA: Final = {
    "auc": "kind: threshold, metric: roc_auc, min: 0.85, use: lower-confidence-bound, severity: block",
    "bias": "kind: evidence, evidence: protected-population, maxAge: P90D, severity: block",
}
SIGN_OFF: Final = (
    "kind: review, approvals: 2, roles: [model-risk], excluding: [trainer, policy-author, waiver-grantor], "
    "triggeredBy: [first-release], expiresAfter: P14D, severity: block"
)
WAIVERS: Final = "waivers: {allowed: [bias], maxDuration: P30D, approvals: 2, maxPerDecision: 1}\n"


def make_policy(
    version: int = 1,
    *,
    waivers: str = "",
    valid_for: str = "P7D",
    to: str = TO,
    name: str = GATE,
    **criteria: str,
) -> bytes:
    """A policy's text; `criteria` replace and add to those of CRITERIA ("_" reads as "-", "" leaves one out)."""
    changed = {key.replace("_", "-"): text for key, text in criteria.items()}
    listed = "".join(f"  - {{id: {key}, {text}}}\n" for key, text in (CRITERIA | changed).items() if text)
    return (
        "apiVersion: shipworthy/v1\nkind: ReleaseGate\n"
        f'metadata: {{name: {name}, version: {version}, owner: team-risk, reason: "for a test"}}\n'
        f"appliesTo: {{model: {MODEL}, to: {to}, validFor: {valid_for}}}\n"
        f"protocol:\n  evaluator: {digest_of('evaluator')}\n  config: {digest_of('config')}\n"
        f"  dataset: {{id: fraud-eval, snapshot: {EVALUATION}, disjointFromTraining: required, minimumRows: 500}}\n"
        f"  incumbent: {{resolve: alias, alias: {to}, onNone: first-release}}\n"
        "  attempts: {countPer: dataset-snapshot, budget: 10, alpha: 0.05, spending: harmonic-square, "
        "onBudgetSpent: block}\n"
        f"criteria:\n{listed}{waivers}"
    ).encode()


@dataclass
class GateScene:
    """Ada trains, Ben writes policies, Eve evaluates; Grace, Heidi and Ivan are of the group model-risk."""

    service: RunningService
    namespace: str = "team-a"

    @cached_property
    def recorder(self) -> httpx.Client:
        return self.person("ada", "recorder")

    @cached_property
    def author(self) -> httpx.Client:
        return self.person("ben", "author")

    @cached_property
    def evaluator(self) -> httpx.Client:
        return self.person("eve", "evaluator")

    @cached_property
    def worker(self) -> httpx.Client:
        return self.person(None, "worker")

    @cached_property
    def reader(self) -> httpx.Client:
        return self.person(None, "reader")

    def person(self, name: str | None, *roles: str, groups: tuple[str, ...] = ()) -> httpx.Client:
        """A client with a new key of this person's; `key_id` of the key is in its header X-Key."""
        services = self.service.services
        created = create_key(
            services.ledger,
            services.ring,
            namespace=self.namespace,
            roles=roles,
            owner=None if name is None else f"{name}@example.org",
            groups=groups,
        )
        headers = {"Authorization": f"Bearer {created.token}", "X-Key": created.key_id}
        client = httpx.Client(base_url=self.service.url, headers=headers, timeout=30, verify=NO_CERTIFICATES)
        return self.service.closing.enter_context(client)

    def token(self, name: str, *roles: str, groups: tuple[str, ...] = ("model-risk",)) -> str:
        """Of a new key of this person's, for a browser."""
        return self.person(name, *roles, groups=groups).headers["Authorization"].removeprefix("Bearer ")

    def approver(self, name: str) -> httpx.Client:
        return self.person(name, "approver", groups=("model-risk",))

    def publish(self, policy: bytes, name: str = GATE) -> httpx.Response:
        return self.author.put(f"/v1/gates/{name}", content=policy, headers=YAML)

    def published(self, policy: bytes) -> Body:
        answer = self.publish(policy)
        assert answer.status_code in (200, 201), answer.text
        found: Body = answer.json()
        return found

    def train(
        self, artifact: str = ARTIFACT, recorder: httpx.Client | None = None, **changes: object
    ) -> Body:
        """The answer to a run that made the artifact from the training snapshot."""
        data = make_snapshot(digest=TRAIN, dataset={"namespace": "lake", "name": "fraud-train"})
        run = make_run(
            inputs=[{"role": "train", "snapshot": data}],
            artifacts=[make_artifact(digest=artifact, serialization="safetensors")],
            evaluations=None,
            model_versions=None,
        )
        answer = post(recorder or self.recorder, "/v1/runs", {**run, **changes})
        assert answer.status_code == 201, answer.text
        registered: Body = answer.json()
        return registered

    def record_data(self) -> str:
        """The record of the evaluation snapshot."""
        data = make_snapshot(
            digest=EVALUATION, dataset={"namespace": "lake", "name": "fraud-eval"}, row_count=1000
        )
        answer = post(self.recorder, "/v1/snapshots", data)
        assert answer.status_code in (200, 201), answer.text
        return str(answer.json()["record"])

    def evaluate(self, artifact: str = ARTIFACT, auc: float = 0.91, **changes: object) -> Body:
        """An attempt with its result and what a worker made of it; `statistics` is that record."""
        attempt = opened(self.evaluator, candidate=artifact, **changes)
        answered(self.evaluator, attempt, subject=artifact)
        work = claimed(self.worker)
        measured = {"estimate": auc, "standard_error": 0.01, "n": 1000, "method": "delong"}
        statistics = statistics_of(work, metrics={"roc_auc": measured}, disjointness=DISJOINT)
        done = complete(self.worker, work, statistics)
        assert done.status_code == 200, done.text
        return {**attempt, "statistics": done.json()["record"]}

    def attest(self, kind: str = "protected-population", subject: str = ARTIFACT, **changes: object) -> str:
        """The record of evidence."""
        body = {
            "kind": kind,
            "subject": subject,
            "outcome": "passed",
            "producer": "checker 1.0",
            "produced_at": instant_text(datetime.now(UTC) - timedelta(minutes=1)),
        }
        answer = post(self.evaluator, "/v1/evidence", {**body, **changes})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["record"])

    def ready(self, policy: bytes | None = None) -> None:
        """Everything that the policy asks for is recorded, and passes."""
        self.published(make_policy() if policy is None else policy)
        self.record_data()
        self.train()
        self.evaluate()
        self.attest()

    def ask(self, client: httpx.Client | None = None, /, **changes: object) -> httpx.Response:
        body = {"model": MODEL, "artifact": ARTIFACT, "to": TO} | changes
        return post(client or self.evaluator, f"/v1/gates/{GATE}/decisions", body)

    def decided(self, **changes: object) -> Body:
        answer = self.ask(**changes)
        assert answer.status_code == 201, answer.text
        found: Body = answer.json()
        return found

    def in_force(self, artifact: str = ARTIFACT, to: str = TO) -> Body:
        parameters = {"model": MODEL, "to": to, "artifact": artifact}
        answer = self.reader.get("/v1/decisions:in-force", params=parameters)
        assert answer.status_code == 200, answer.text
        found: Body = answer.json()
        assert found["active"] == (found["missing"] == [])
        return found

    def standing_at(self, when: str, artifact: str = ARTIFACT, to: str = TO) -> Standing:
        """What would be in force at a time that has not come yet, if nothing else were recorded."""
        with self.service.services.database.read() as session:
            now = parse_instant(when)
            return standing(session.connection(), self.namespace, MODEL, to, artifact, now)

    def end(self, made: Body) -> None:
        """As if the time of a decision were over."""
        with self.service.services.database.connection() as connection:
            over = update(GateDecision).where(col(GateDecision.record) == made["decision"])
            connection.execute(over.values(valid_until=datetime.now(UTC)))

    def verdict_at(self, made: Body, when: str) -> str:
        """What the same facts would come to at another time."""
        facts = json.loads(self.reader.get(f"/v1/blobs/{made['facts']}").content)
        policy = load_policy(self.reader.get(f"/v1/gates/{GATE}", params={"raw": 1}).content)
        return evaluate(policy, facts, parse_instant(when)).verdict

    def revoke(self, record: str, effect: str = "revoked") -> None:
        body = {"record": record, "effect": effect, "reason": "for a test"}
        answer = post(self.author, "/v1/revocations", body)
        assert answer.status_code == 201, answer.text

    def review(
        self, client: httpx.Client, decision: Body, action: str = "approve", **changes: object
    ) -> httpx.Response:
        body = {"decision": decision["decision"], "action": action, "reason": "looked at it"}
        return post(client, "/v1/reviews", {**body, **changes})

    def waive(self, client: httpx.Client, **changes: object) -> httpx.Response:
        return post(client, "/v1/waivers", {**make_waiver(), **changes})

    def register_version(self, version: str = "1", artifact: str = ARTIFACT) -> httpx.Response:
        run = self.train(artifact)
        body = make_version(model=MODEL, version=version, artifact=artifact, run_id=run["run_id"])
        return post(self.recorder, "/v1/model-versions", body)


class Reviewed(GateScene):
    """First releases need two approvals of model-risk; Grace, Heidi and Ivan are in it."""

    grace: httpx.Client
    heidi: httpx.Client
    ivan: httpx.Client

    def prepare(self) -> Body:
        self.grace, self.heidi, self.ivan = map(self.approver, ("grace", "heidi", "ivan"))
        self.ready(make_policy(sign_off=SIGN_OFF, waivers=WAIVERS))
        return self.decided()


def make_waiver(**changes: object) -> Body:
    return {
        "gate": GATE,
        "criterion": "bias",
        "artifact": ARTIFACT,
        "to": TO,
        "reason": "measured by hand",
        "expires_at": ahead(days=7),
    } | changes


def ahead(**time: float) -> str:
    return instant_text(datetime.now(UTC) + timedelta(**time))
