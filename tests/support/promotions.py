"""A registry's guard as the service sees it: what it asks before a move, and what it confirms."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import uuid4

import httpx
from sqlalchemy import update
from sqlmodel import col

from api.recording import Recorder
from models.ledger.commit import Outcome
from models.ledger.drafts import Item
from models.promotions.tables import PromotionGrant, ReleaseTarget
from tests.support.actors import actor_of
from tests.support.bodies import Body
from tests.support.calls import post
from tests.support.facts import get
from tests.support.gates import ARTIFACT, MODEL, TO, GateScene

Held = tuple[str, str | None]
"""Version and artifact."""


class PromotionScene(GateScene):
    """A gate scene with a registry: `guard` asks for moves."""

    @cached_property
    def guard(self) -> httpx.Client:
        return self.person(None, "registry")

    @cached_property
    def grace(self) -> httpx.Client:
        return self.approver("grace")

    def another(self, artifact: str, auc: float = 0.91) -> None:
        """Everything that the gate asks for is recorded of another artifact too."""
        self.train(artifact)
        self.evaluate(artifact, auc)
        self.attest(subject=artifact)

    def check(self, version: str | None = "1", held: Held | None = None, **changes: object) -> Body:
        answer = post(self.guard, "/v1/promotions:check", make_move(version, held, **changes))
        assert answer.status_code == 200, answer.text
        judged: Body = answer.json()
        assert judged["allowed"] is (judged["grant"] is not None) is (judged["code"] is None)
        assert judged["allowed"] or judged["missing"]
        return judged

    def granted(self, version: str | None = "1", held: Held | None = None, **changes: object) -> Body:
        """The grant."""
        judged = self.check(version, held, **changes)
        assert judged["allowed"], judged
        grant: Body = judged["grant"]
        return grant

    def refused(self, version: str | None = "1", held: Held | None = None, **changes: object) -> str:
        """The code."""
        judged = self.check(version, held, **changes)
        assert not judged["allowed"], judged
        return str(judged["code"])

    def settle(self, grant: Body, outcome: str = "promoted", **changes: object) -> httpx.Response:
        version = grant["binds"]["version"]
        body = {"grant": grant["id"], "version": version, "outcome": outcome}
        return post(self.guard, "/v1/promotions", body | changes)

    def promote(self, version: str | None = "1", held: Held | None = None, **changes: object) -> Body:
        """The confirmed promotion."""
        answer = self.settle(self.granted(version, held, **changes))
        assert answer.status_code == 201, answer.text
        promoted: Body = answer.json()
        return promoted

    def move(self, *moves: Body, id: str | None = None) -> Body:
        """What the guard asks before it commits, all of one call."""
        body = {"id": id or uuid4().hex, "moves": list(moves)}
        answer = post(self.guard, "/v1/promotions:move", body)
        assert answer.status_code == 200, answer.text
        judged: Body = answer.json()
        assert judged["allowed"] is bool(judged["promotions"]) is (judged["code"] is None)
        assert judged["allowed"] or judged["missing"]
        return judged

    def observe(self, client: httpx.Client | None = None, /, **changes: object) -> httpx.Response:
        body = {"model": MODEL, "target": TO, "version": "1", "artifact": ARTIFACT, "how": "import"}
        return post(client or self.recorder, "/v1/promotions:observe", body | changes)

    def allow_demotion(self, client: httpx.Client | None = None, /, **changes: object) -> httpx.Response:
        body = {"model": MODEL, "target": TO, "reason": "it invents numbers"}
        return post(client or self.grace, "/v1/demotions", body | changes)

    def released(self, at: datetime | None = None, **filters: str) -> list[dict[str, Any]]:
        when = (at or datetime.now(UTC) + timedelta(days=1)).isoformat()
        answer = self.reader.get(f"/v1/models/{MODEL}/promotions", params={"at": when, **filters})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["released"]
        return found

    def holds(self) -> tuple[str, str] | None:
        """Version and artifact of the target by the records."""
        found = self.released(target=TO)
        return (found[0]["version"], found[0]["artifact"]) if found else None

    def states(self, **filters: str) -> list[str]:
        """What happened, the oldest first."""
        answer = self.reader.get("/v1/promotions", params=filters)
        assert answer.status_code == 200, answer.text
        return [each["state"] for each in reversed(answer.json()["items"])]

    def pass_time(self) -> None:
        """As if every grant's ten seconds and every demotion's quarter of an hour were over."""
        over = datetime.now(UTC) - timedelta(seconds=1)
        with self.service.services.database.connection() as connection:
            connection.execute(update(PromotionGrant).values(expires_at=over))
            for name in ("open_until", "demotion_until"):
                column = getattr(ReleaseTarget, name)
                connection.execute(update(ReleaseTarget).where(col(column).is_not(None)).values({name: over}))


def make_move(version: str | None = "1", held: Held | None = None, **changes: object) -> Body:
    return {
        "action": "promote",
        "model": MODEL,
        "version": version,
        "target": TO,
        "artifact": ARTIFACT,
        "incumbent": None if held is None else {"version": held[0], "artifact": held[1]},
        "registry_user": "ada",
        "source": "runs:/1/model",
        "registry_run_id": "1",
    } | changes


def revocation(scene: PromotionScene, record: str) -> Item:
    body = {"record": record, "effect": "revoked", "reason": "wrong"}
    return Recorder(scene.service.services.ring.pepper).item(
        "revocation", actor_of(scene, "author"), body, None
    )


def evidence_of(scene: PromotionScene) -> str:
    record: str = get(scene.reader, "/v1/evidence", subject=ARTIFACT)["items"][0]["record"]
    return record


def together(scene: PromotionScene, *items: Item) -> Sequence[Outcome]:
    """Written by one commit, in this order."""

    async def append() -> Sequence[Outcome]:
        return await scene.service.services.ledger.append_all(items)

    return asyncio.run(append())
