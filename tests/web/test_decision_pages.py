"""Pages of decisions and model versions: the verdict, what unblocks it, and who may say what."""

import html
import re
from pathlib import Path

import httpx
import pytest

from tests.support.databases import DatabaseUrls
from tests.support.gates import MODEL, TO, GateScene
from tests.support.service import RunningService, running_service
from tests.web.decision_scenes import blocked, register, signed_in, waiting
from tests.web.scenes import HOSTILE, HTML, form_token


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return GateScene(service)


def text_of(page: str) -> str:
    """What a person reads: without tags, white space as one."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def test_a_decision_that_waits_says_what_unblocks_it_and_takes_two_approvals(scene: GateScene) -> None:
    decision = waiting(scene)
    path = f"/decisions/{decision['decision']}"
    for person in ("grace", "heidi"):
        browser = signed_in(scene, person, "approver")
        page = browser.get(path)
        assert page.status_code == 200
        said = text_of(page.text)
        assert decision["sentence"] in said
        assert "nor wrote the policy approve it: on the decision’s page, or by shipworthy review" in said
        assert decision["artifact"]["digest"] in said
        fields = {"form_token": form_token(page), "action": "approve", "reason": f"{person} looked at it"}
        assert browser.post(f"{path}/reviews", data=fields).status_code == 303
        assert f"{person} looked at it" in text_of(browser.get(path).text)
    assert scene.decided(version="1")["verdict"] == "passed"
    version = signed_in(scene, "rob", "reader").get(f"/models/{MODEL}/versions/1")
    assert f"{MODEL}:1 may ship as {TO}." in text_of(version.text)
    assert "Superseded" in text_of(signed_in(scene, "rob", "reader").get(path).text)
    listed = text_of(signed_in(scene, "rob", "reader").get("/decisions").text)
    assert "Nothing waits for a review." in listed
    assert "Superseded was: Needs review" in listed


def test_who_trained_may_not_approve_and_keeps_what_was_typed(scene: GateScene) -> None:
    path = f"/decisions/{waiting(scene)['decision']}"
    browser = signed_in(scene, "ada", "approver")
    fields = {
        "form_token": form_token(browser.get(path)),
        "action": "approve",
        "reason": "my own work is fine",
    }
    page = browser.post(f"{path}/reviews", data=fields)
    assert page.status_code == 403
    assert "my own work is fine</textarea>" in page.text
    assert "Nobody has said anything" in text_of(page.text)


def test_who_may_not_approve_reads_why_and_which_key_may(scene: GateScene) -> None:
    path = f"/decisions/{waiting(scene)['decision']}"
    command = "--role approver --owner you@example.org --groups model-risk"
    reader = text_of(signed_in(scene, "rob", "reader").get(path).text)
    assert "Your key has the role reader, and not approver." in reader
    assert f"shipworthy-server keys create --data FOLDER --namespace team-a {command}" in reader
    assert "sign in with it" in reader
    stranger = signed_in(scene, "sam", "approver", groups=("sales",))
    said = text_of(stranger.get(path).text)
    assert "The policy counts approvals by model-risk, and your key is in no such group." in said
    assert 'value="approve"' not in stranger.get(path).text
    trainer = text_of(signed_in(scene, "ada", "approver").get(path).text)
    assert "The model was trained by the person who would approve it; somebody else has to." in trainer
    assert "You can’t approve it here" not in text_of(signed_in(scene, "grace", "approver").get(path).text)
    assert "POST /v1/reviews" not in reader
    assert "on the decision’s page, or by shipworthy review approve" in reader


def test_in_open_mode_the_command_line_approves(sqlite_urls: DatabaseUrls, tmp_path: Path) -> None:
    with running_service(sqlite_urls, tmp_path / "data", open_mode=True) as service:
        decision = waiting(GateScene(service, "default"))["decision"]
        with httpx.Client(base_url=service.url, headers=HTML) as local:
            said = text_of(local.get(f"/decisions/{decision}").text)
        folder = service.services.settings.data
    assert "In open mode everybody is “local”, who never approves, and nobody signs in" in said
    assert f"keys create --data {folder} --role approver --owner you@example.org --groups model-risk" in said
    assert f"SHIPWORTHY_TOKEN=TOKEN shipworthy review approve {decision} --reason WHY --url" in said


def test_a_review_needs_a_reason_a_token_and_a_role(scene: GateScene) -> None:
    path = f"/decisions/{waiting(scene)['decision']}"
    browser = signed_in(scene, "grace", "approver")
    token = form_token(browser.get(path))
    empty = browser.post(f"{path}/reviews", data={"form_token": token, "action": "approve", "reason": "  "})
    assert empty.status_code == 422
    assert "Say why" in text_of(empty.text)
    forged = {"form_token": "0" * 64, "action": "approve", "reason": "x"}
    assert browser.post(f"{path}/reviews", data=forged).status_code == 403
    reader = signed_in(scene, "rob", "reader")
    assert "<textarea" not in reader.get(path).text
    assert "Nobody has said anything" in text_of(reader.get(path).text)


def test_a_blocked_version_lists_the_worst_first_and_how_to_go_on(scene: GateScene) -> None:
    waits, decision = waiting(scene), blocked(scene)
    browser = signed_in(scene, "rob", "reader")
    said = text_of(browser.get(f"/decisions/{decision['decision']}").text)
    assert said.index("auc") < said.index("bias")
    assert f"shipworthy gate evaluate {MODEL}:2 --gate" in said
    assert "Failed" in said
    version = text_of(browser.get(f"/models/{MODEL}/versions/2").text)
    assert f"{MODEL}:2 may not ship as {TO}." in version
    assert decision["unblocks"][0] in version
    listed = text_of(browser.get("/decisions").text)
    assert "Measured 0 approvals" in text_of(browser.get(f"/decisions/{waits['decision']}").text)
    assert listed.index(f"{MODEL} version 2") < listed.index(f"{MODEL} version 1")
    only = text_of(browser.get("/decisions", params={"verdict": "review_required"}).text)
    assert f"{MODEL} version 1" in only
    assert f"{MODEL} version 2" not in only


def test_empty_pages_show_the_command_that_fills_them(scene: GateScene) -> None:
    browser = signed_in(scene, "rob", "reader")
    assert "shipworthy gate publish NAME policy.yaml" in text_of(browser.get("/decisions").text)
    run = scene.train()
    assert run["created"]
    register(scene, "1", "sha256:" + "7" * 64)
    said = text_of(browser.get(f"/models/{MODEL}/versions/1").text)
    assert f"No gate judges {MODEL}:1: Production can’t be taken, every other name is free to move." in said
    assert browser.get(f"/models/{MODEL}/versions/9").status_code == 404


def test_hostile_reasons_are_text(scene: GateScene) -> None:
    path = f"/decisions/{waiting(scene)['decision']}"
    browser = signed_in(scene, "grace", "approver")
    for reason in HOSTILE[:2]:
        fields = {"form_token": form_token(browser.get(path)), "action": "request", "reason": reason}
        assert browser.post(f"{path}/reviews", data=fields).status_code == 303
    page = browser.get(path).text
    assert "<img src=x" not in page
    assert 'href="javascript' not in page
