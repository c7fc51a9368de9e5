"""The script of the GitHub Action deploy/ci/gate: what a workflow sees, and that nothing but a clear yes goes on."""

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.client.cli.conftest import COMMAND
from tests.support.bodies import digest_of
from tests.support.gates import GATE, MODEL, TO, GateScene, make_policy
from tests.support.service import RunningService

SCRIPT = Path(__file__).parents[3] / "deploy" / "ci" / "gate" / "gate.sh"
AUC_TOO_HIGH = "kind: threshold, metric: roc_auc, min: 0.99, use: lower-confidence-bound, severity: block"


@dataclass(frozen=True)
class Step:
    """How a step of a workflow ended: its exit code, its outputs, and its part of the summary page."""

    code: int
    outputs: str
    summary: str
    log: str


@pytest.fixture
def scene(sqlite_service: RunningService) -> GateScene:
    scene = GateScene(sqlite_service)
    scene.published(make_policy())
    scene.record_data()
    scene.train(model_versions=[{"model": MODEL, "version": "7", "artifact": digest_of("model")}])
    return scene


def run_step(url: str, token: str, version: str = "7", gate: str = GATE) -> Step:
    """As the Action runs it, with the command of this environment and no installation."""
    outputs, summary = Path("outputs"), Path("summary.md")
    for file in (outputs, summary):
        file.write_text("")
    environ = {
        **os.environ,
        "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}",
        "INSTALL": "",
        "MODEL": f"{MODEL}:{version}",
        "TARGET": TO,
        "GATE": gate,
        "SHIPWORTHY_URL": url,
        "SHIPWORTHY_TOKEN": token,
        "GITHUB_OUTPUT": str(outputs.resolve()),
        "GITHUB_STEP_SUMMARY": str(summary.resolve()),
    }
    done = subprocess.run(
        ["bash", SCRIPT], env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    return Step(done.returncode, outputs.read_text(), summary.read_text(), done.stdout + done.stderr)


def test_version_that_passes_goes_on(scene: GateScene) -> None:
    scene.evaluate()
    scene.attest()
    url, token = scene.service.url, scene.token("eve", "evaluator")
    step = run_step(url, token)
    assert (step.code, step.outputs) == (0, "verdict=ship\n"), step.log
    assert step.summary.startswith(f"### May ship: {MODEL}:7 (")
    assert "| passed | auc | ≥ 0.85 | 0.91 (" in step.summary
    looked = run_step(url, scene.token("noor", "reader"), gate="")
    assert (looked.code, looked.outputs) == (0, "verdict=ship\n"), (
        "who only looks needs no right to ask a gate"
    )


def test_version_that_fails_stops_the_workflow_and_says_why(scene: GateScene) -> None:
    scene.published(make_policy(2, auc=AUC_TOO_HIGH))
    scene.evaluate(auc=0.9)
    scene.attest()
    step = run_step(scene.service.url, scene.token("eve", "evaluator"))
    assert (step.code, step.outputs) == (1, "verdict=blocked\n"), step.log
    assert step.summary.startswith("### May not ship: ")
    assert "| failed | auc | ≥ 0.99 |" in step.summary
    assert "- auc: " in step.summary, "what unblocks it"


def test_missing_evidence_stops_the_workflow_with_a_code_of_its_own(scene: GateScene) -> None:
    step = run_step(scene.service.url, scene.token("eve", "evaluator"))
    assert (step.code, step.outputs) == (4, "verdict=missing\n"), step.log
    assert "| no value | auc |" in step.summary


def test_service_that_is_away_ships_nothing_and_shows_on_the_summary_page() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for gate in (GATE, ""):
            step = run_step(url, "sw_none", gate=gate)
            assert (step.code, step.outputs) == (5, "verdict=unreachable\n"), step.log
            assert step.summary.startswith("### ✗ May not ship: unreachable")


def test_key_that_is_refused_ships_nothing(scene: GateScene) -> None:
    step = run_step(scene.service.url, scene.token("noor", "reader"))
    assert (step.code, step.outputs) == (6, "verdict=refused\n"), step.log


def test_decision_that_could_not_be_made_is_not_replaced_by_an_older_one(scene: GateScene) -> None:
    """The version is in force, but the gate that was to be asked does not exist: asking it failed."""
    scene.evaluate()
    scene.attest()
    token = scene.token("eve", "evaluator")
    assert run_step(scene.service.url, token).code == 0
    step = run_step(scene.service.url, token, gate="fraud-chanpion")
    assert (step.code, step.outputs) == (1, "verdict=blocked\n"), step.log
    assert "May not ship" in step.summary
    assert "no gate of this name" in step.log
