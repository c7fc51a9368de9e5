"""Gauges and alerts as Prometheus itself takes them: `apt-get install prometheus` brings both of its programs."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx
import pytest

from tests.support.bodies import digest_of, make_checkpoint, make_start, make_verification
from tests.support.service import NO_CERTIFICATES, RunningService
from tests.support.slos import NAME, PAST, SloScene, make_slo
from tests.web.slo_scenes import token_of

RULES: Final = Path(__file__).resolve().parents[2] / "deploy/prometheus/shipworthy.rules.yaml"
WAIT_SECONDS: Final = 120.0
BROKEN: Final = "never-kept"
FRESH: Final = "checkpoint-age"
T = TypeVar("T")


def found(program: str) -> str:
    path = shutil.which(program)
    assert path is not None, (
        f"{program} is missing, and nothing else says whether Prometheus takes what the service exposes; bring it "
        "with: apt-get install prometheus"
    )
    return path


@pytest.fixture
def scene(sqlite_service: RunningService) -> SloScene:
    """A promise that is kept, one that is broken on any day of the month, and one over two live runs, of which one has
    a checkpoint that was verified."""
    scene = SloScene(sqlite_service)
    scene.published(make_slo(rolling="14d", **scene.past))
    for number in range(PAST):
        scene.run(number)
    other = {"event": "run.completed", "boundBy": "data-interval", "job": "never-started"}
    scene.published(make_slo(BROKEN, rolling="14d", evidence=other, **scene.past), BROKEN)
    freshness = make_slo(
        FRESH,
        objective="freshness",
        expect=None,
        slices=True,
        evidence={"event": "checkpoint.verified", "checkpointLevel": "loaded"},
        limits={"maxAge": "PT3H"},
        onMissing="unknown",
    )
    scene.published(freshness, FRESH)
    began = datetime.now(UTC) - timedelta(hours=1)
    for number in range(2):
        run = make_start(started_at=began.isoformat())
        scene.record("/v1/runs", run)
        scene.record(f"/v1/runs/{run['run_id']}/progress", {"step": 1})
        if number:
            digest = digest_of("verified")
            checkpoint = make_checkpoint(digest=digest, step=1, trained_until=began.isoformat())
            scene.record(f"/v1/runs/{run['run_id']}/checkpoints", checkpoint)
            scene.record(f"/v1/checkpoints/{digest}/verifications", make_verification(), scene.worker)
    scene.judged()
    return scene


def test_promtool_finds_nothing_in_what_is_exposed(scene: SloScene) -> None:
    exposed = scene.reader.get("/metrics").text
    families = {line.split()[2] for line in exposed.splitlines() if line.startswith("# TYPE training_")}
    assert families == {
        "training_checkpoint_verified_age_seconds",
        "training_checkpoint_verified_exists",
        "training_slo_budget_remaining_ratio",
        "training_slo_coverage_ratio",
        "training_slo_last_evaluation_timestamp_seconds",
        "training_slo_status",
        "training_window_deadline_timestamp_seconds",
    }
    checked = subprocess.run(
        [found("promtool"), "check", "metrics"], input=exposed, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "command", [["check", "rules", RULES.name], ["test", "rules", "shipworthy.rules.test.yaml"]]
)
def test_promtool_takes_the_rules_and_they_fire_when_they_should(command: list[str]) -> None:
    checked = subprocess.run(
        [found("promtool"), *command], cwd=RULES.parent, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "SUCCESS" in checked.stdout


def test_prometheus_scrapes_what_the_report_says_and_loads_the_rules(scene: SloScene, tmp_path: Path) -> None:
    def alerted() -> list[dict[str, Any]] | None:
        scene.judged()  # What was not judged for a minute and a half has no data.
        return _evaluated(server.get("/api/v1/rules").json()["data"]["groups"])

    with prometheus(scene, tmp_path) as server:
        groups = awaited(alerted)
        alerts = {rule["name"]: rule for group in groups for rule in group["rules"]}
        assert {rule["health"] for rule in alerts.values()} == {"ok"}
        assert {each["labels"]["slo"] for each in alerts["TrainingSloBreached"]["alerts"]} == {BROKEN}
        report = {each["definition"]["id"]: each for each in scene.report()["slos"]}
        states = {name: each["status"] for name, each in report.items()}
        assert (states[BROKEN], set(states)) == ("breached", {NAME, BROKEN, FRESH})
        shown = queried(server, "training_slo_status == 1", "slo", "status")
        assert shown == dict.fromkeys(states.items(), 1)
        coverage = queried(server, 'training_slo_coverage_ratio{slo!="checkpoint-age"}', "slo")
        assert coverage == {(name,): report[name]["coverage"] for name in (NAME, BROKEN)}
        remaining = queried(server, 'training_slo_budget_remaining_ratio{slo!="checkpoint-age"}', "slo")
        budgets = {name: report[name]["budget"] for name in (NAME, BROKEN)}
        assert remaining == {
            (name,): pytest.approx(budget["remaining"] / budget["total"]) for name, budget in budgets.items()
        }


def _evaluated(groups: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """All groups, once the alert on broken promises has seen a scrape."""
    fired = [each for group in groups for rule in group["rules"] for each in rule["alerts"]]
    is_seen = any(each["labels"]["alertname"] == "TrainingSloBreached" for each in fired)
    unknown = [rule for group in groups for rule in group["rules"] if rule["health"] == "unknown"]
    return groups if is_seen and not unknown else None


@contextmanager
def prometheus(scene: SloScene, folder: Path) -> Iterator[httpx.Client]:
    """A server that scrapes the service with a reader's key every second, by its HTTP API."""
    (folder / "token").write_text(token_of(scene))
    every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    job = {
        "job_name": "shipworthy",
        "authorization": {"credentials_file": str(folder / "token")},
        "static_configs": [{"targets": [scene.service.url.removeprefix("http://")]}],
    }
    configuration = {"global": every, "rule_files": [str(RULES)], "scrape_configs": [job]}
    # JSON is YAML.
    (folder / "prometheus.yaml").write_text(json.dumps(configuration))
    port = _free_port()
    command = [
        found("prometheus"),
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    log = folder / "prometheus.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, cwd=folder) as process,
    ):
        try:
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", timeout=30, verify=NO_CERTIFICATES
            ) as server:
                awaited(lambda: _is_ready(server, process, log))
                yield server
        finally:
            process.terminate()
            process.wait(30)


def _is_ready(server: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        return server.get("/-/ready").status_code == 200
    except httpx.TransportError:
        return False


def queried(server: httpx.Client, query: str, *labels: str) -> dict[tuple[str, ...], float]:
    """The values that Prometheus has now, by these labels."""
    answer = server.get("/api/v1/query", params={"query": query}).json()
    assert answer["status"] == "success", answer
    return {
        tuple(each["metric"][label] for label in labels): float(each["value"][1])
        for each in answer["data"]["result"]
    }


def awaited(look: Callable[[], T | None]) -> T:
    """What `look` finds as soon as it finds anything: Prometheus tells nobody when it has scraped."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        seen = look()
        if seen:
            return seen
        time.sleep(0.2)
    raise AssertionError(f"nothing was found in {WAIT_SECONDS} s; last: {look()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
