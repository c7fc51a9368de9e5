"""Pages of runs: which one, can it be trusted, what happened, and from where can it go on?"""

import re
from datetime import UTC, datetime

import pytest

from models.fields import instant_text
from tests.support.bodies import (
    digest_of,
    make_checkpoint,
    make_event,
    make_run,
    make_start,
    make_verification,
    make_version,
)
from tests.support.service import RunningService
from tests.support.slos import SloScene
from tests.web.scenes import HOSTILE
from tests.web.slo_scenes import signed_in
from tests.web.test_contract_check_pages import counted_statements, selects
from tests.web.test_decision_pages import text_of


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return SloScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> SloScene:
    return SloScene(sqlite_service)


def test_runs_are_listed_by_job_team_and_state_and_paged(scene: SloScene) -> None:
    for number in range(3):
        scene.record("/v1/runs", make_run(team="vision" if number else "ranking", evaluations=None))
    failed = make_start(events=[make_event(state="failed", at=instant_text(datetime.now(UTC)))])
    scene.record("/v1/runs", failed)
    client = signed_in(scene)
    assert "4 runs listed, the last registered first: 1 did not go well." in text_of(client.get("/runs").text)
    page = client.get("/runs?state=failed").text
    assert re.findall(r'<th scope="row"><a href="([^"]+)"', page) == [f"/runs/{failed['run_id']}"]
    for query, count in (("team=vision", 2), ("job=team-a/train", 4), ("job=train", 4), ("job=other", 0)):
        assert client.get(f"/runs?{query}").text.count('<th scope="row">') == count, query
    path, seen = "/runs?limit=3&job=train", list[str]()
    while path:
        page = client.get(path).text
        seen += re.findall(r'<th scope="row"><a href="([^"]+)"', page)
        following = re.search(r'href="([^"]+)" rel="next"', page)
        path = following[1].replace("&amp;", "&") if following else ""
    assert len(seen) == len(set(seen)) == 4
    assert client.get("/runs?after=odd").status_code == 422


def test_a_run_shows_all_that_is_known_of_it(scene: SloScene) -> None:
    run = make_run()
    scene.record("/v1/runs", run)
    checkpoint = run["checkpoints"][0]["digest"]
    scene.record(f"/v1/checkpoints/{checkpoint}/verifications", make_verification(), scene.worker)
    page = signed_in(scene).get(f"/runs/{run['run_id']}").text
    said = text_of(page)
    for told in (
        "This run completed.",
        "ranking",
        "2026-05-01 12:00:00 UTC, after 2 h",
        "loaded: every tensor was read",
        "s3://lake/clicks/train, grade manifest",
        "runs with the same are exact repeats",
        "validation/accuracy 0.91",
        "learning rate 0.001, seed 7",
        "2 nodes, 8 accelerators, H100-SXM",
        "accelerators/0/type H100-SXM",
        "Recorded by person ",
        "Attempt 1",
        digest_of("model"),
    ):
        assert told in said, told
    assert f'data-copy="{checkpoint}"' in page
    version = run["model_versions"][0]
    assert f'href="/models/{version["model"]}/versions/1"' in page


def test_a_stopped_run_names_the_last_checkpoint_that_somebody_read(sqlite_scene: SloScene) -> None:
    saved = [make_checkpoint(digest=digest_of(f"step {step}"), step=step) for step in (1000, 2000, 3000)]
    ended = [make_event(state="failed", at="2026-05-01T12:00:00.000Z", step=3400)]
    run = make_start(checkpoints=saved, events=ended)
    sqlite_scene.record("/v1/runs", run)
    client, path = signed_in(sqlite_scene), f"/runs/{run['run_id']}"
    said = text_of(client.get(path).text)
    assert (
        "This run failed. Nobody has looked at the bytes of its checkpoints; the last one is of step 3,000."
        in said
    )
    for step, outcome in ((1000, "passed"), (2000, "passed"), (3000, "failed")):
        verification = make_verification(level="checksummed", outcome=outcome)
        at = f"/v1/checkpoints/{digest_of(f'step {step}')}/verifications"
        sqlite_scene.record(at, verification, sqlite_scene.worker)
    said = text_of(client.get(path).text)
    assert "It can go on from step 2,000 (checksummed: its bytes are what was saved)." in said
    assert "Failed step 3,400" in said


def test_attempts_and_events_come_latest_first(sqlite_scene: SloScene) -> None:
    run = make_start(events=[make_event(at="2026-05-01T10:00:00.000Z")])
    sqlite_scene.record("/v1/runs", run)
    for sent in (
        make_event(state="failed", at="2026-05-01T11:00:00.000Z"),
        make_event(type="attempt.started", state=None, attempt=2, at="2026-05-01T11:30:00.000Z"),
        make_event(state="completed", attempt=2, at="2026-05-01T13:00:00.000Z"),
    ):
        body = {name: value for name, value in sent.items() if value is not None}
        sqlite_scene.record(f"/v1/runs/{run['run_id']}/events", body)
    said = text_of(signed_in(sqlite_scene).get(f"/runs/{run['run_id']}").text)
    assert said.index("Attempt 2") < said.index("Attempt 1")
    assert "1 h 30 min" in said
    assert said.index("Attempt started attempt 2") < said.index("2026-05-01 10:00:00 UTC Running")


def test_a_note_says_what_was_noted(sqlite_scene: SloScene) -> None:
    run = make_start()
    sqlite_scene.record("/v1/runs", run)
    at, blob = "2026-05-01T11:00:00.000Z", digest_of("log")
    for given in ({"text": "the loader was slow"}, {"text": "log lines", "blob": blob}):
        body = {"type": "note", "at": at} | given
        sqlite_scene.record(f"/v1/runs/{run['run_id']}/events", body)
    page = signed_in(sqlite_scene).get(f"/runs/{run['run_id']}").text
    assert "Note the loader was slow" in text_of(page)
    assert "Note log lines as a blob" in text_of(page)
    assert f'href="/v1/blobs/{blob}"' in page


def test_a_revoked_run_says_so_first(sqlite_scene: SloScene) -> None:
    run = make_run()
    record = sqlite_scene.record("/v1/runs", run)["record"]
    body = {"record": record, "reason": "trained on the wrong bucket", "effect": "revoked"}
    sqlite_scene.record("/v1/revocations", body, sqlite_scene.author)
    client = signed_in(sqlite_scene)
    said = text_of(client.get(f"/runs/{run['run_id']}").text)
    assert "This run was revoked: nothing that rests on it is evidence. trained on the wrong bucket" in said
    assert "Revoked" in text_of(client.get("/runs").text)


def test_pages_of_runs_cost_a_fixed_number_of_statements(sqlite_scene: SloScene) -> None:
    run = make_run(
        checkpoints=[make_checkpoint(digest=digest_of(f"at {step}"), step=step) for step in range(30)],
        model_versions=[make_version(version=str(number)) for number in range(5)],
    )
    sqlite_scene.record("/v1/runs", run)
    client = signed_in(sqlite_scene)
    for path, most in (("/runs", 2), (f"/runs/{run['run_id']}", 10)):
        client.get(path)
        with counted_statements(sqlite_scene) as statements:
            assert client.get(path).status_code == 200
        asked = [
            each for each in selects(statements) if "api_key" not in each and "ended_session" not in each
        ]
        assert len(asked) <= most, (path, asked)
    assert "Only the first are listed" in client.get(f"/runs/{run['run_id']}").text


def test_names_of_a_run_are_text(sqlite_scene: SloScene) -> None:
    run = make_run(
        job={"namespace": "team-a", "name": HOSTILE[0]},
        team=HOSTILE[1],
        tags={"note": HOSTILE[0]},
        evaluations=None,
        model_versions=None,
    )
    sqlite_scene.record("/v1/runs", run)
    client = signed_in(sqlite_scene)
    for path in ("/runs", f"/runs/{run['run_id']}", f"/runs?job={HOSTILE[0]}", f"/runs?team={HOSTILE[1]}"):
        page = client.get(path).text
        assert "<img" not in page
        assert not re.search(r'(?:href|src|action)="\s*javascript:', page)
    stranger = signed_in(sqlite_scene, "team-b")
    assert stranger.get(f"/runs/{run['run_id']}").status_code == 404
    assert "No run was recorded yet." in stranger.get("/runs").text
