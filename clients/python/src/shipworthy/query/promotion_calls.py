"""Calls about names of a model registry: what was promoted, what was released at a time, what the reconciler found."""

import json
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import quote

from shipworthy.query import promotions as answers
from shipworthy.query import results
from shipworthy.query.exchange import PAGE, Exchange


class PromotionCalls(Exchange):
    """A part of ShipworthyClient. `registry` is "default" unless the guard and the worker are told another name."""

    def protections(self) -> results.Document:
        """Which names of registries take a decision: `targets`, or with `all` every one; and what was `released`."""
        return self._get("/v1/protections")

    def promotions(
        self,
        *,
        model: str | None = None,
        registry: str | None = None,
        target: str | None = None,
        state: str | None = None,
        page: int = PAGE,
    ) -> Iterator[answers.PromotionEvent]:
        """What happened to the names of registries, newest first; refused tries too."""
        filters = {"model": model, "registry": registry, "target": target, "state": state}
        return self._pages("/v1/promotions", filters, page, answers.event)

    def released_at(
        self, model: str, when: datetime, registry: str = "default"
    ) -> tuple[answers.Release, ...]:
        """What each target of a model held at a time, by whom and on which decision."""
        asked = {"at": when.isoformat(), "registry": registry}
        answer = self._get(f"/v1/models/{quote(model, '/')}/promotions", asked)
        return self._read(
            lambda found: tuple(answers.release(each) for each in found["released"]),
            answer,
        )

    def observe_promotion(
        self, *, registry: str, model: str, target: str, version: str | None, artifact: str | None
    ) -> results.Document:
        """Records what an import found at a target: no release by decision. `artifact` None: nobody could read it."""
        asked = {"registry": registry, "model": model, "target": target, "how": "import"}
        # Both are said, also when they are null.
        body = json.dumps({**asked, "version": version, "artifact": artifact}).encode()
        headers = {"Content-Type": "application/json"}
        return self._document(self._exchange("POST", "/v1/promotions:observe", content=body, headers=headers))

    def allow_demotion(
        self, model: str, target: str, reason: str, registry: str = "default"
    ) -> results.Document:
        """Lets a target be emptied once, within a quarter of an hour; takes a key with the role approver."""
        asked = {"registry": registry, "model": model, "target": target, "reason": reason}
        return self._post("/v1/demotions", asked)

    def reconciliation(self, registry: str = "default") -> answers.Reconciliation:
        """The last one. Raises NotFound while nobody has compared this registry with the records."""
        answer = self._get("/v1/reconciliations:latest", {"registry": registry})
        return self._read(answers.reconciliation, answer)
