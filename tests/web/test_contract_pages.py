"""Contracts as a person reads them: what is checked, and what nobody checks."""

import re

from tests.support.contracts import publish
from tests.web.scenes import Scene, make_checks, make_suite


def test_rules_that_are_not_evaluated_come_first_with_their_reason(scene: Scene) -> None:
    rules = [
        {"rule": "/schema/0/quality/1", "reason": "a text rule is for people", "blocking": False},
        {"rule": "/schema/0/quality/2", "reason": "SQL rules are off", "blocking": True},
    ]
    scene.publish(suite=make_suite(make_checks(), not_evaluated=rules))
    page = scene.browser().get("/contracts/taxi-trips/versions/1").text
    assert "<h1>1 blocking rule of this contract is not evaluated; 18 checks compiled.</h1>" in page
    assert (
        page.index("SQL rules are off")
        < page.index("a text rule is for people")
        < page.index("no duplicate keys")
    )
    for check in make_checks():
        assert check["id"] in page


def test_older_version_names_the_current_one(scene: Scene) -> None:
    scene.publish()
    scene.publish(suite=make_suite(make_checks()[:5]), version=2)
    client = scene.browser()
    assert (
        "This is not the current version: that is version 2."
        in client.get("/contracts/taxi-trips/versions/1").text
    )
    current = client.get("/contracts/taxi-trips").text
    assert "Every rule of this contract is checked: 5 checks compiled." in current


def test_list_shows_contracts_with_open_rules_first(scene: Scene) -> None:
    rules = [{"rule": "/x", "reason": "a text rule is for people", "blocking": False}]
    scene.publish("partly", make_suite(make_checks(), not_evaluated=rules))
    scene.publish("whole", make_suite(make_checks()))
    page = scene.browser().get("/contracts").text
    assert "1 of 2 contracts has rules that are not evaluated." in page
    assert page.index("/contracts/partly/versions/1") < page.index("/contracts/whole/versions/1")


def test_contract_compiled_from_a_document_has_a_page(scene: Scene) -> None:
    publish(scene.service.client("author"))
    page = scene.browser().get("/contracts/orders/versions/1").text
    assert re.search(r"<code>amount</code> range of values", page)
    assert "range of values" in page
    assert "When data is checked, also: at least one row, no NaN in a float column." in page
