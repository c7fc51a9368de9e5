"""`shipworthy gate`, `review`, `decision` and `check` as persons use them, one after the other."""

import json
from pathlib import Path

import httpx
import pytest

from tests.client.cli.conftest import Shipworthy
from tests.client.cli.test_screen import ANSI, on_terminal
from tests.support.bodies import digest_of
from tests.support.gates import GATE, MODEL, TO, GateScene, make_policy
from tests.support.service import RunningService

NARROW = "kind: threshold, metric: roc_auc, min: 0.90, onInconclusive: review, severity: block"
SIGN_OFF = (
    "kind: review, approvals: 1, roles: [model-risk], excluding: [trainer, policy-author, waiver-grantor], "
    "triggeredBy: [inconclusive], expiresAfter: P14D, severity: block"
)


@pytest.fixture
def scene(sqlite_service: RunningService, monkeypatch: pytest.MonkeyPatch) -> GateScene:
    """0.91 ± 0.01 against 0.90: too uncertain to say, which the policy leaves to one person."""
    scene = GateScene(sqlite_service)
    scene.approver("noor")
    scene.published(make_policy(auc=NARROW, sign_off=SIGN_OFF))
    scene.record_data()
    scene.train(model_versions=[{"model": MODEL, "version": "7", "artifact": digest_of("model")}])
    scene.evaluate()
    scene.attest()
    monkeypatch.setenv("SHIPWORTHY_URL", sqlite_service.url)
    monkeypatch.setenv("SHIPWORTHY_TOKEN", token_of(scene.evaluator))
    return scene


def token_of(client: httpx.Client) -> str:
    return str(client.headers["authorization"]).removeprefix("Bearer ")


def test_what_a_person_took_on_does_not_read_as_passed(
    scene: GateScene, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = ("gate", "evaluate", f"{MODEL}:7", "--gate", GATE)
    asked = shipworthy(*evaluate)
    assert asked.code == 3, asked.err
    assert asked.out.startswith(f"NEEDS REVIEW  {MODEL}:7 (")
    assert "▲ inconclusive auc roc_auc is 0.91 (" in words(asked.out)
    assert max(map(len, asked.out.splitlines())) < 240, "sentences, and no columns as wide as them"
    assert "▲ needs review sign-off Needs review, asked for by" in words(asked.out)
    assert "approve it: `shipworthy review approve`." in words(asked.out)
    (waiting,) = json.loads(shipworthy("decision", "list", "--json").out)
    monkeypatch.setenv("SHIPWORTHY_TOKEN", token_of(scene.approver("noor")))
    approved = shipworthy("review", "approve", waiting["decision"], "--reason", "looked at it")
    assert approved.code == 0, approved.err
    assert approved.err.endswith(f"next decision: shipworthy gate evaluate {MODEL}:7 --gate {GATE}\n")
    monkeypatch.setenv("SHIPWORTHY_TOKEN", token_of(scene.evaluator))
    passed = shipworthy(*evaluate)
    assert passed.code == 0, passed.out
    assert "✓ cleared by review auc" in words(passed.out)
    assert "✓ passed sign-off" in words(passed.out)
    summary = shipworthy("check", f"{MODEL}:7", "--to", TO, "--summary", "md")
    assert summary.code == 0
    assert "| cleared by review | auc | ≥ 0.9 | 0.91 (" in summary.out


def words(text: str) -> str:
    """Without the spaces that make columns of it."""
    return " ".join(text.split())


@pytest.mark.parametrize("width", [60, 100, 200])
def test_decision_fits_the_terminal_and_keeps_its_sentences_whole(scene: GateScene, width: int) -> None:
    decision = scene.decided(version="7")["decision"]
    lines = ANSI.sub("", on_terminal(width, "decision", "show", decision)).splitlines()
    assert max(len(line.rstrip()) for line in lines if decision not in line) <= width
    told = words(" ".join(lines))
    assert "inconclusive auc" in told
    if width < 160:
        assert "too uncertain to say whether it is ≥ 0.9;" in told


def test_policy_that_can_not_be_published_says_where_and_how_to_mend_it(
    scene: GateScene, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_TOKEN", token_of(scene.author))
    text = make_policy(2, auc=NARROW.replace("min: 0.90, ", "mim: 0.90, "), sign_off=SIGN_OFF).decode()
    Path("policy.yaml").write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "mim" in each)
    linted = shipworthy("gate", "lint", "policy.yaml")
    assert linted.code == 1
    assert linted.err.startswith(f"policy.yaml:{line}: error: ")
    assert "min" in linted.err
    published = shipworthy("gate", "publish", GATE, "policy.yaml")
    assert published.code == 1
    assert f"policy.yaml:{line}: error: /criteria/0/mim: " in published.err
    assert shipworthy("gate", "show", GATE).out.startswith(f"{GATE} version 1: ")
