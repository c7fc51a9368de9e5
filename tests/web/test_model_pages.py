"""Lists of models and of a model's versions: what there is, where names point, and what was decided last."""

import re

import pytest

from api.routes import pages_models
from tests.support.bodies import make_run, make_version
from tests.support.calls import post
from tests.support.gates import MODEL, TO
from tests.support.promotions import PromotionScene
from tests.support.service import RunningService
from tests.web.decision_scenes import signed_in
from tests.web.registry_scenes import promoted
from tests.web.test_contract_check_pages import counted_statements, selects
from tests.web.test_decision_pages import text_of


@pytest.fixture
def scene(service: RunningService) -> PromotionScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return PromotionScene(service)


def test_models_are_listed_with_their_names_and_their_last_decision(scene: PromotionScene) -> None:
    promoted(scene)
    other = make_run(model_versions=[make_version(model="vision/eyes", version=each) for each in "78"])
    answer = post(scene.recorder, "/v1/runs", other)
    assert answer.status_code == 201, answer.text
    client = signed_in(scene, "rob", "reader")
    page = client.get("/models").text
    said = text_of(page)
    assert "2 models, by name." in said
    assert f"{MODEL} 1 1 {TO} → 1 May ship version 1 as {TO}" in said
    assert "vision/eyes 2 8 none known no gate decided" in said
    for address in re.findall(r'<th scope="row"><a href="([^"]+)"', page):
        assert client.get(address).status_code == 200, address
    page = client.get("/models/vision/eyes").text
    assert [text_of(each).strip() for each in re.findall(r'<th scope="row">(.*?)</th>', page)] == [
        "version 8",
        "version 7",
    ]
    said = text_of(client.get(f"/models/{MODEL}").text)
    assert f"1 version of {MODEL}, the last first. By the records {TO} is version 1." in said
    version = client.get(f"/models/{MODEL}/versions/1").text
    assert f'href="/models/{MODEL}"' in version
    assert client.get("/models/none").status_code == 404
    assert 'aria-current="page">Models<' in page


def test_models_and_versions_are_paged(scene: PromotionScene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_models, "PAGE_ROWS", 2)
    versions = [make_version(model=f"m{number}") for number in range(5)]
    versions += [make_version(model="m1", version=str(number)) for number in range(2, 6)]
    assert post(scene.recorder, "/v1/runs", make_run(model_versions=versions)).status_code == 201
    client = signed_in(scene, "rob", "reader")
    for path, count in (("/models", 5), ("/models/m1", 5)):
        seen = list[str]()
        while path:
            page = client.get(path).text
            seen += re.findall(r'<th scope="row"><a href="([^"]+)"', page)
            following = re.search(r'href="([^"]+)" rel="next"', page)
            path = following[1].replace("&amp;", "&") if following else ""
        assert len(seen) == len(set(seen)) == count
    with counted_statements(scene) as statements:
        client.get("/models")
    asked = [each for each in selects(statements) if "api_key" not in each and "ended_session" not in each]
    assert len(asked) <= 4


def test_no_model_says_what_to_do_next(scene: PromotionScene) -> None:
    said = text_of(signed_in(scene, "rob", "reader").get("/models").text)
    assert "No version of a model is registered yet." in said
    assert "run.model_version(model, version)" in said
    other = PromotionScene(scene.service, "team-b")
    assert "No version of a model" in signed_in(other, "eve", "reader").get("/models").text
