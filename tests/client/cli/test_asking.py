"""`runs` and `lineage`: what they show, and how they end."""

import json

import httpx
import pytest

from tests.client.cli.conftest import Shipworthy
from tests.support.bodies import digest_of, make_run, make_snapshot, make_start, make_version, new_run_id
from tests.support.service import RunningService


def register(client: httpx.Client, **changes: object) -> str:
    body = make_run(**changes)
    client.post("/v1/runs", json=body).raise_for_status()
    return str(body["run_id"])


def test_runs_lists_whole_ids_newest_first(recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    first, second = register(recorder), register(recorder, job={"namespace": "fraud", "name": "tune"})
    done = shipworthy("runs")
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0].split()[:3] == ["RUN", "JOB", "STATE"]
    assert lines[1].split()[:3] == [second, "fraud/tune", "completed"]
    assert lines[2].split()[:3] == [first, "team-a/train", "completed"]
    assert lines[1].endswith("2 h")


def test_runs_filters_and_speaks_json(sqlite_recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    run_id = register(sqlite_recorder, job={"namespace": "fraud", "name": "tune"}, team="risk")
    register(sqlite_recorder)
    for filters in (["--job", "fraud/tune"], ["--job", "tune"], ["--team", "risk"]):
        done = shipworthy("runs", "--json", *filters)
        assert [run["run_id"] for run in json.loads(done.out)] == [run_id]
    assert json.loads(shipworthy("runs", "--json", "--since", "1h").out) == []
    assert len(json.loads(shipworthy("runs", "--json", "--since", "2026-04-01T00:00:00Z").out)) == 2
    limited = shipworthy("runs", "--limit", "1")
    assert len(limited.out.splitlines()) == 2
    assert "more than 1" in limited.err


def test_runs_without_a_match_is_no_failure(sqlite_recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    done = shipworthy("runs")
    assert (done.code, done.out) == (0, "")
    assert "shipworthy exec --" in done.err
    assert "No run matches" in shipworthy("runs", "--team", "nobody").err


def test_lineage_gives_the_verdict_first_and_every_part(
    recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    register(
        recorder,
        run_id=(earlier := new_run_id()),
        job={"namespace": "shop", "name": "prepare"},
        artifacts=[{"digest": digest_of("clicks/train"), "role": "train"}],
        evaluations=None,
        checkpoints=None,
        model_versions=None,
    )
    run_id = register(
        recorder,
        inputs=[
            {"role": "train", "snapshot": make_snapshot()},
            {"role": "test", "snapshot": make_snapshot(grade="none", digest=None) | {"reason": "no version"}},
        ],
        environment={"image": {"name": "train", "tag": "24.04"}},
        model_versions=[make_version(model="shop/ranker", version="7")],
    )
    done = shipworthy("lineage", "shop/ranker:7")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "✗ Incomplete: 1 of 8 parts unknown, 1 weak; weakest data grade “none”"
    assert lines[1].startswith("  ✗ data.test")
    assert lines[2].startswith("  ▲ environment  the image is named by a tag")
    for said in (
        f"run {run_id}",
        "✓ train  s3://lake/clicks/train",
        "manifest  12,345,678 rows",
        "✓ code  https://git.example.org/ranking.git  9f3c2d1e9f3c  clean",
        "▲ environment  train:24.04",
        "learning_rate=0.001, seed=7",
        "2 nodes, 8 × H100-SXM",
        "✓ seeds  torch=7",
        f"run {earlier}",
        "shop/prepare",
        "step 1,000",
        "validation/accuracy 0.91",
        "in the log, checked here",
    ):
        assert said in done.out, said


def test_lineage_of_a_complete_version_says_so(sqlite_recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    register(sqlite_recorder, model_versions=[make_version(model="ranker", version="1")])
    first = shipworthy("lineage", "ranker:1").out.splitlines()[0]
    assert first.startswith("✓ Complete: all of 7 parts known and pinned")


def test_lineage_shows_a_revocation_above_the_tree(
    sqlite_recorder: httpx.Client, sqlite_service: RunningService, shipworthy: Shipworthy
) -> None:
    run_id = register(sqlite_recorder)
    record = sqlite_recorder.get(f"/v1/runs/{run_id}").json()["record"]
    said = {"record": record, "effect": "revoked", "reason": "the labels were wrong"}
    sqlite_service.client("author").post("/v1/revocations", json=said).raise_for_status()
    lines = shipworthy("lineage", run_id).out.splitlines()
    assert "✗ revoked: the labels were wrong" in lines[: lines.index("")]
    assert "completed revoked" in shipworthy("runs").out


def test_lineage_speaks_json_for_versions_and_runs(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    run_id = register(sqlite_recorder, model_versions=[make_version(model="ranker", version="1:rc")])
    version = json.loads(shipworthy("lineage", run_id, "--json").out)
    assert (version["run_id"], version["model_version"]) == (run_id, None)
    done = shipworthy("lineage", "ranker:1", "--json")
    assert (done.code, done.out) == (1, "")


def test_lineage_of_a_job_is_that_of_its_newest_run(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    job = {"namespace": "fraud", "name": "nightly/train"}
    register(sqlite_recorder, job=job)
    run_id = register(sqlite_recorder, job=job)
    register(sqlite_recorder)
    assert json.loads(shipworthy("lineage", "fraud/nightly/train", "--json").out)["run_id"] == run_id
    done = shipworthy("lineage", "fraud/nightly")
    assert (done.code, done.out) == (1, "")
    assert "no run of the job fraud/nightly; `shipworthy runs` lists what there is" in done.err


def test_lineage_as_of_a_time_before_knows_nothing(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    register(sqlite_recorder, model_versions=[make_version(model="ranker", version="1")])
    assert shipworthy("lineage", "ranker:1", "--as-of", "2020-01-01T00:00:00Z").code == 1
    assert shipworthy("lineage", "ranker:1", "--as-of", "100").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lineage", "ranker"], "neither MODEL:VERSION"),
        (["lineage", "ranker:1", "--as-of", "yesterday"], "log position or a time"),
        (["runs", "--since", "soon"], "write 30min, 12h, 7d"),
        (["runs", "--state", "asleep"], "must be 'queued'"),
        (["runs", "--limit", "0"], "limit"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy, arguments: list[str], sentence: str
) -> None:
    done = shipworthy(*arguments)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err


def test_service_that_is_away_is_exit_5(shipworthy: Shipworthy) -> None:
    done = shipworthy("runs", "--url", "http://127.0.0.1:9")
    assert (done.code, done.out, done.err.count("\n")) == (5, "", 1)
    assert "can't be reached" in done.err


def test_no_service_named_is_exit_2(shipworthy: Shipworthy) -> None:
    done = shipworthy("runs")
    assert done.code == 2
    assert done.err == "shipworthy: no service is named; set SHIPWORTHY_URL to its address, or give --url\n"


def test_refused_key_is_exit_6(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_TOKEN", "sw_wrong")
    done = shipworthy("lineage", "ranker:1")
    assert done.code == 6
    assert "the key in SHIPWORTHY_TOKEN is malformed" in done.err


def test_queued_run_has_neither_start_nor_end(sqlite_recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    sqlite_recorder.post("/v1/runs", json=make_start()).raise_for_status()
    assert shipworthy("runs").out.splitlines()[1].split()[2:] == ["queued", "–", "–"]
