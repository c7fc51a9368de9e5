"""Asking a Shipworthy service: synchronous, on httpx (extra `cli`). Runs are recorded by `shipworthy.run`."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import quote

from shipworthy.formats.digests import sha256_digest
from shipworthy.query import lineage as lineages
from shipworthy.query import results
from shipworthy.query.checkpoint_calls import CheckpointCalls
from shipworthy.query.contract_calls import ContractCalls
from shipworthy.query.evaluation_calls import EvaluationCalls
from shipworthy.query.exchange import PAGE
from shipworthy.query.gate_calls import GateCalls
from shipworthy.query.promotion_calls import PromotionCalls
from shipworthy.query.slo_calls import SloCalls

_SAFE: Final = "/"


class ShipworthyClient(CheckpointCalls, ContractCalls, EvaluationCalls, GateCalls, PromotionCalls, SloCalls):
    """`with ShipworthyClient("https://shipworthy.example.org", token) as client: …`; not for several threads.

    Every call raises a QueryError (shipworthy.query.errors) when it has no answer. `timeout` is in seconds.
    """

    def health(self) -> results.Health:
        """Whether the service is ready, its clock and version; asks for no key."""
        ready = self._exchange("GET", "/readyz")
        state = self._document(ready)
        if state.get("status") != "ready":
            raise self._stranger(ready.status_code)
        date = ready.headers.get("date")
        return results.Health(
            database=str(state.get("database")),
            clock=None if date is None else parsedate_to_datetime(date).astimezone(UTC),
            version=self._version(),
        )

    def runs(
        self,
        *,
        job_namespace: str | None = None,
        job: str | None = None,
        team: str | None = None,
        state: str | None = None,
        recipe_digest: str | None = None,
        family_digest: str | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
        page: int = PAGE,
    ) -> Iterator[results.RunSummary]:
        """The last registered first, `page` (1 to 500) at a time while they are asked for."""
        filters = {
            "job_namespace": job_namespace,
            "job": job,
            "team": team,
            "state": state,
            "recipe_digest": recipe_digest,
            "family_digest": family_digest,
            "started_after": None if started_after is None else started_after.isoformat(),
            "started_before": None if started_before is None else started_before.isoformat(),
        }
        return self._pages("/v1/runs", filters, page, results.run_summary)

    def run(self, run_id: str) -> results.Document:
        """Everything that is known of one run."""
        return self._get(f"/v1/runs/{quote(run_id)}")

    def versions(
        self, model: str, registry: str = "default", page: int = PAGE
    ) -> Iterator[results.ModelVersion]:
        """Versions of a model, newest first."""
        path = f"/v1/models/{quote(model, _SAFE)}/versions"
        return self._pages(path, {"registry": registry}, page, results.model_version)

    def version(self, model: str, version: str, registry: str = "default") -> results.ModelVersion:
        """One version of a model."""
        path = f"/v1/models/{quote(model, _SAFE)}/versions/{quote(version, '')}"
        return self._read(results.model_version, self._get(path, {"registry": registry}))

    def lineage(
        self,
        model: str,
        version: str,
        *,
        registry: str = "default",
        depth: int = 3,
        direction: str = "upstream",
        as_of: int | datetime | None = None,
        proof: bool = False,
    ) -> lineages.Lineage:
        path = f"/v1/models/{quote(model, _SAFE)}/versions/{quote(version, '')}/lineage"
        return self._lineage(path, depth, direction, as_of, proof, registry)

    def run_lineage(
        self,
        run_id: str,
        *,
        depth: int = 3,
        direction: str = "upstream",
        as_of: int | datetime | None = None,
        proof: bool = False,
    ) -> lineages.Lineage:
        return self._lineage(f"/v1/runs/{quote(run_id)}/lineage", depth, direction, as_of, proof, None)

    def append(self, lines: Iterable[str]) -> tuple[results.LineAnswer, ...]:
        """Records lines {kind, body}, each as JSON text; refused ones are told, not raised."""
        body = "\n".join(lines).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        answer = self._exchange("POST", "/v1/records:batch", content=body, headers=headers)
        items = self._document(answer)["items"]
        return self._read(lambda items: tuple(results.line_answer(item) for item in items), items)

    def put_blob(self, data: bytes) -> str:
        """Keeps bytes under their digest, which is returned; the same bytes may come again."""
        digest = sha256_digest(data)
        self._exchange("PUT", f"/v1/blobs/{digest}", content=data)
        return digest

    def _lineage(
        self,
        path: str,
        depth: int,
        direction: str,
        as_of: int | datetime | None,
        proof: bool,
        registry: str | None,
    ) -> lineages.Lineage:
        when = as_of.isoformat() if isinstance(as_of, datetime) else as_of
        asked: dict[str, str | int | None] = {
            "depth": depth,
            "direction": direction,
            "as_of": when,
            "registry": registry,
            "proof": "true" if proof else None,
        }
        answer = self._get(path, asked)
        return self._read(lineages.lineage, answer)

    def _version(self) -> str | None:
        version = self._get("/openapi.json").get("info", {}).get("version")
        return None if version is None else str(version)
