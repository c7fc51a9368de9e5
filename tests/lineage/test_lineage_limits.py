"""Lineage stays bounded however many runs, links and versions there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx
import psycopg
from sqlalchemy import event, text

from models.database import Database
from tests.lineage.chains import digest, lineage, post, register, run_id
from tests.support.service import RunningService


def test_sealed_lineage_grows_by_one_document_a_change_however_many_versions_there_are(
    service: RunningService, client: httpx.Client
) -> None:
    register(client, 1, reads=0, writes=1)
    body = {"model": "m", "artifact": digest(1), "run_id": run_id(1)}
    for version in range(32):
        post(client, "/v1/model-versions", body | {"version": str(version)})
    refused = client.post("/v1/model-versions", json=body | {"version": "one too many"})
    assert refused.status_code == 422
    refused = client.post("/v1/model-versions", json=body | {"version": "32"})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    with service.services.database.read() as session:
        count = text("SELECT count(*), sum(length(document)) FROM ingredient WHERE kind = 'made_of'")
        before = session.connection().execute(count).one()
    post(client, f"/v1/runs/{run_id(1)}/artifacts", {"digest": digest(5), "role": "tokenizer"})
    with service.services.database.read() as session:
        after = session.connection().execute(count).one()
    assert after[0] - before[0] == 1


def test_lineage_of_very_many_links_is_cut_and_says_so(client: httpx.Client) -> None:
    shared = [{"role": f"part-{number}", "digest": digest(number)} for number in range(1000)]
    made = [{"role": "model", "digest": digest(number)} for number in range(1000)]
    for number in range(1, 8):
        post(
            client,
            "/v1/runs",
            {
                "run_id": run_id(number),
                "job": {"namespace": "fraud", "name": "train"},
                "inputs": shared,
                "artifacts": made,
            },
        )
    found = client.get(f"/v1/runs/{run_id(1)}/lineage", params={"depth": 5}).json()
    assert found["partial"]
    assert len(found["edges"]) <= 10_000
    assert found["next"]


def test_lineage_asks_no_more_queries_for_more_runs_of_one_level(
    service: RunningService, client: httpx.Client
) -> None:
    for number in range(2, 42):
        register(client, number, reads=0, writes=number)
    parts = [{"role": f"part-{number}", "digest": digest(number)} for number in range(2, 42)]
    register(client, 50, reads=2, writes=50)
    register(client, 60, reads=2, writes=60, inputs=parts[:20])
    register(client, 70, reads=2, writes=70, inputs=parts)
    for model, number in (("narrow", 50), ("wide", 60), ("wider", 70)):
        post(
            client,
            "/v1/model-versions",
            {"model": model, "version": "1", "artifact": digest(number), "run_id": run_id(number)},
        )
    asked = {}
    for model in ("narrow", "wide", "wider"):
        with statements_of(service.services.database) as seen:
            lineage(client, model, depth=3)
        asked[model] = [each for each in seen if " FROM " in each and "api_key" not in each]
    # One for the run and the few that it rests on, one for more than a few, one for what they all rest on.
    assert [len(statements) for statements in asked.values()] == [2, 3, 3]
    assert asked["wider"] == asked["wide"]


@contextmanager
def statements_of(database: Database) -> Iterator[list[str]]:
    """What is asked of the database, by the driver or through SQLAlchemy."""
    seen: list[str] = []
    if database.dialect == "sqlite":

        def remember(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
            seen.append(statement)

        event.listen(database.engine, "before_cursor_execute", remember)
        yield seen
        event.remove(database.engine, "before_cursor_execute", remember)
        return

    class Observed(psycopg.Cursor[Any]):
        def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
            seen.append(query.decode() if isinstance(query, bytes) else str(query))
            return super().execute(query, *arguments, **options)

    def observe(connection: psycopg.Connection[Any], *_: object) -> None:
        connection.cursor_factory = Observed

    def leave(connection: psycopg.Connection[Any], *_: object) -> None:
        connection.cursor_factory = psycopg.Cursor

    event.listen(database.engine, "checkout", observe)
    event.listen(database.engine, "checkin", leave)
    yield seen
    event.remove(database.engine, "checkout", observe)
    event.remove(database.engine, "checkin", leave)
