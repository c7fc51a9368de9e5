"""`snapshot`, `import mlperf` and `doctor`."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from shipworthy.cli.checks import clock
from shipworthy.query.results import Health
from tests.client.cli.conftest import Shipworthy, connect
from tests.support.service import RunningService

LOGS = Path(__file__).resolve().parents[2] / "data" / "mlperf"
LORA = [
    str(LOGS / f"NVIDIA__results__eos_ngc24.04_nemo__llama2_70b_lora__result_{number}.txt")
    for number in range(3)
]
PUBLISHED = [
    "--system", str(LOGS / "NVIDIA__systems__eos_ngc24.04_nemo.json"),
    "--repository", "https://github.com/mlcommons/training_results_v4.0",
    "--commit", "62f111b7690f163b269f32e4f93dcaaa13717c9c",
    "--release", "v4.0",
]  # fmt: skip


def data_folder() -> Path:
    folder = Path("data")
    folder.mkdir()
    (folder / "a.csv").write_text("1,2\n")
    (folder / "b.csv").write_text("3,4\n")
    return folder


def test_snapshot_prints_the_digest_alone_and_records_it(
    recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    data_folder()
    done = shipworthy("snapshot", "data", "--dataset", "shop/clicks", "--row-count", "2")
    digest = done.out.strip()
    assert (done.code, done.err) == (0, "2 files, 8 B; recorded\n")
    snapshot = recorder.get(f"/v1/snapshots/{digest}").json()
    assert (snapshot["grade"], snapshot["row_count"], snapshot["size_bytes"]) == ("content", 2, 8)
    assert [entry["path"] for entry in recorder.get(f"/v1/blobs/{digest}").json()] == ["a.csv", "b.csv"]
    again = shipworthy("snapshot", "data", "--dataset", "shop/clicks", "--row-count", "2")
    assert (again.out.strip(), again.err) == (digest, "2 files, 8 B; was recorded before\n")


def test_snapshot_without_a_service_only_hashes(shipworthy: Shipworthy) -> None:
    data_folder()
    done = shipworthy("snapshot", "data")
    assert (done.code, done.err) == (0, "2 files, 8 B; not recorded: SHIPWORTHY_URL names no service\n")
    said = json.loads(shipworthy("snapshot", "data", "--json").out)
    assert (said["digest"], said["recorded"], said["dataset"]["name"]) == (done.out.strip(), False, "data")


@pytest.mark.parametrize("path", ["nowhere", "empty", "link"])
def test_snapshot_of_what_has_no_digest_is_exit_2(shipworthy: Shipworthy, path: str) -> None:
    Path("empty").mkdir()
    Path("link").symlink_to("elsewhere")
    done = shipworthy("snapshot", path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("shipworthy: ")


def test_import_makes_one_family_and_does_nothing_twice(
    recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    done = shipworthy("import", "mlperf", *LORA, *PUBLISHED)
    assert done.code == 0, done.err
    assert done.out.count("✓") == 3
    assert "3 runs are one family sha256:" in done.out
    family = done.out.split("shipworthy runs --family ")[1].strip()
    assert len(json.loads(shipworthy("runs", "--family", family, "--json").out)) == 3
    again = json.loads(shipworthy("import", "mlperf", *LORA, *PUBLISHED, "--json").out)
    assert [(each["new"], each["refused"], each["family_digest"]) for each in again] == [(0, [], family)] * 3


def test_import_keeps_the_log_unless_told_not_to(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    (kept,) = json.loads(shipworthy("import", "mlperf", LORA[0], "--json").out)
    (bare,) = json.loads(shipworthy("import", "mlperf", LORA[1], "--no-keep-log", "--json").out)
    assert kept["records"] == bare["records"] + 1
    records = sqlite_recorder.get(f"/v1/runs/{kept['run_id']}/records").json()["items"]
    payloads = [sqlite_recorder.get(f"/v1/records/{each['record']}").json()["body"] for each in records]
    (blob,) = [body["blob"] for body in payloads if "blob" in body]
    assert sqlite_recorder.get(f"/v1/blobs/{blob}").content == Path(LORA[0]).read_bytes()


def test_import_says_what_a_log_lacks(sqlite_recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    done = shipworthy(
        "import", "mlperf", str(LOGS / "tinycorp__results__tinybox_green__resnet__result_0.txt")
    )
    assert done.code == 0
    assert "unknown" in done.out
    assert "▲ the log has no run_stop" in done.out
    assert "give the system's description with --system" in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["notes.txt"], "no MLPerf run in this file"),
        (["nothing.txt"], "nothing.txt"),
        ([LORA[0], "--system", "notes.txt"], "is no JSON"),
        ([LORA[0], "--repository", "https://x.example.org"], "--repository needs --commit"),
    ],
)
def test_import_of_something_else_is_exit_2(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy, arguments: list[str], sentence: str
) -> None:
    Path("notes.txt").write_text("nothing to see")
    done = shipworthy("import", "mlperf", *arguments)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err


def test_import_refused_by_the_service_is_exit_1_and_says_why(
    sqlite_recorder: httpx.Client, shipworthy: Shipworthy
) -> None:
    """The same run cannot have been made by two revisions."""
    assert shipworthy("import", "mlperf", LORA[0], *PUBLISHED).code == 0
    done = shipworthy("import", "mlperf", LORA[0], "--commit", "0" * 40, "--release", "v4.0")
    assert done.code == 1
    assert "line 1 was refused" in done.out
    assert "code" in done.out


def test_doctor_finds_nothing_wrong(recorder: httpx.Client, shipworthy: Shipworthy) -> None:
    done = shipworthy("doctor")
    assert done.code == 0, done.out
    assert "✗" not in done.out
    for about in ("client", "service", "versions", "clock", "key", "journal", "git"):
        assert f"✓ {about}" in done.out
    assert "▲ gates    no gate stands before any name of a model registry" in done.out


@pytest.mark.parametrize(
    ("token", "code", "said", "mend"),
    [
        ("", 6, "the service asks for a key", "keys create --role recorder"),
        ("sw_wrong", 6, "the key in SHIPWORTHY_TOKEN is malformed", "keys create --role recorder"),
    ],
)
def test_doctor_says_how_to_get_a_key(
    sqlite_recorder: httpx.Client,
    shipworthy: Shipworthy,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    code: int,
    said: str,
    mend: str,
) -> None:
    monkeypatch.setenv("SHIPWORTHY_TOKEN", token)
    done = shipworthy("doctor")
    assert (done.code, said in done.out, mend in done.out) == (code, True, True)


def test_doctor_tells_a_key_that_may_only_read(
    sqlite_service: RunningService, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(sqlite_service, monkeypatch)
    reader = sqlite_service.client("reader")
    monkeypatch.setenv("SHIPWORTHY_TOKEN", reader.headers["authorization"].removeprefix("Bearer "))
    done = shipworthy("doctor")
    assert "▲ key      may read, not record" in done.out


def test_doctor_without_service_names_the_setting(shipworthy: Shipworthy) -> None:
    done = shipworthy("doctor")
    assert done.code == 1
    assert "→ export SHIPWORTHY_URL=" in done.out


def test_doctor_with_a_service_that_is_away_is_exit_5(shipworthy: Shipworthy) -> None:
    done = shipworthy("doctor", "--url", "http://127.0.0.1:9", "--json")
    assert done.code == 5
    (service,) = [finding for finding in json.loads(done.out) if finding["about"] == "service"]
    assert (service["level"], service["mend"]) == ("bad", "shipworthy-server serve --port 9")


def test_doctor_tells_of_kept_records_and_the_command_that_sends_them(
    sqlite_service: RunningService, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shipworthy("exec", "--", "true").code == 0
    client = connect(sqlite_service, monkeypatch)
    folder = Path(".shipworthy").absolute()
    done = shipworthy("doctor")
    assert done.code == 1
    assert f"→ shipworthy sync {folder}" in done.out
    assert shipworthy("sync").code == 0
    assert shipworthy("doctor").code == 0
    assert [run["state"] for run in client.get("/v1/runs").json()["items"]] == ["completed"]


@pytest.mark.parametrize(
    ("ahead", "level", "said"),
    [
        (-180, "bad", "this machine is 3 min ahead of the service"),
        (180, "bad", "behind"),
        (2, "good", "agrees"),
    ],
)
def test_doctor_measures_the_clock(ahead: int, level: str, said: str) -> None:
    now = datetime.now(UTC)
    finding = clock(Health("sqlite", now + timedelta(seconds=ahead), "0.1.0"), now)
    assert finding.level.value == level
    assert said in finding.said
