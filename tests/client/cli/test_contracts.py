"""`shipworthy contract` and `shipworthy baseline` as authors and CI use them."""

import json
from pathlib import Path

import httpx
import pytest

from tests.client.cli.conftest import Shipworthy
from tests.client.cli.contracts import working
from tests.support.bodies import Body
from tests.support.contracts import (
    claim,
    complete,
    give_up,
    make_contract,
    make_result,
    publish,
    result_of,
)
from tests.support.service import RunningService

DATA = ("--root", "lake", "--path", "orders")
BROKEN = "apiVersion: v3.1.0\nkind: DataContract\nid: orders\nschema:\n  - name: orders\n    properties: 7\n"


def written(text: str, name: str = "orders.yaml") -> str:
    Path(name).write_text(text)
    return name


def test_contract_is_published_shown_and_given_back_as_it_was(
    author: httpx.Client, shipworthy: Shipworthy
) -> None:
    file = written(make_contract())
    first = shipworthy("contract", "publish", "orders", file)
    assert first.code == 0
    assert first.out.startswith("orders version 1  sha256:")
    again = shipworthy("contract", "publish", "orders", file)
    assert (again.code, again.out) == (0, first.out)
    assert "there is no new one" in again.err
    assert shipworthy("contract", "publish", "orders", written(make_contract(minimum=3))).out.startswith(
        "orders version 2"
    )
    shown = shipworthy("contract", "show", "orders")
    assert shown.out.startswith("orders version 2")
    assert "  orders: " in shown.out
    assert " blocking" in shown.out
    assert shipworthy("contract", "show", "orders", "--version", "1", "--source").out == make_contract()
    told = json.loads(shipworthy("contract", "show", "orders", "--json").out)
    assert (told["version"], [each["name"] for each in told["compiled"]["objects"]]) == (2, ["orders"])


def test_lint_names_lines_and_stores_nothing(author: httpx.Client, shipworthy: Shipworthy) -> None:
    sound = shipworthy("contract", "lint", written(make_contract()))
    assert sound.code == 0
    assert "  orders: " in sound.out
    assert sound.out.endswith("✓ can be published\n")
    bad = make_contract().replace("logicalType: integer", "logicalType: integre")
    unsound = shipworthy("contract", "lint", written(bad))
    assert unsound.code == 1
    line = 1 + bad.splitlines().index("        logicalType: integre")
    assert f"orders.yaml:{line}: error: " in unsound.out
    told = shipworthy("contract", "lint", "orders.yaml", "--json")
    assert (told.code, json.loads(told.out)["ok"]) == (1, False)
    assert author.get("/v1/contracts").json()["items"] == []


def test_bytes_that_are_no_contract_are_not_published(author: httpx.Client, shipworthy: Shipworthy) -> None:
    refused = shipworthy("contract", "publish", "orders", written(BROKEN))
    assert (refused.code, refused.out) == (1, "")
    assert "orders.yaml:6: error: /schema/0/properties: " in refused.err
    assert shipworthy("contract", "show", "orders").code == 1


@pytest.mark.parametrize(("failed", "code"), [(0, 0), (1, 1)])
def test_check_ends_with_the_outcome(
    failed: int, code: int, author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    published = publish(author)

    def do(worker: httpx.Client, work: Body) -> None:
        answer = complete(worker, work, result_of(work, published, failed=failed))
        assert answer.status_code == 200, answer.text

    with working(worker, do):
        done = shipworthy("contract", "check", "orders", *DATA, "--wait")
    assert done.code == code
    assert done.out.splitlines()[0].startswith(
        ("✓ passed  orders version 1 on lake/orders (1,000 rows, 4.0 KiB", "✗ failed  orders version 1")[
            failed
        ]
    )
    assert ("a quarter of the rows has no id" in done.out) is bool(failed)
    assert max(map(len, done.out.splitlines())) < 160
    (listed,) = author.get("/v1/contract-checks").json()["items"]
    told = shipworthy("contract", "check", "orders", *DATA, "--json")
    assert told.code == 0
    assert json.loads(told.out)["state"] == "queued"
    assert listed["outcome"] == ("failed" if failed else "passed")


def test_check_says_which_of_its_checks_the_contract_does_not_state(
    author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    said = "When data is checked, unless waived, also: at least one row, no NaN in a float column."
    assert said in shipworthy("contract", "lint", written(make_contract())).out
    published = publish(author)

    def do(worker: httpx.Client, work: Body) -> None:
        result = result_of(work, published)
        (first, *_) = result["checks"]
        added = ["row_count_at_least_one", "no_nan:fare", "no_nan:tip"]
        stated = len(result["checks"])
        result["checks"] += [first | {"id": each, "rule": None} for each in added]
        open_rule = {"id": "not_evaluated:/a", "type": "rule", "rule": "/a", "outcome": "not_evaluated"}
        result["checks"].append(first | open_rule | {"blocking": False, "reason": "text alone"})
        result["counts"] |= {"passed": stated + 3, "not_evaluated": 1}
        answer = complete(worker, work, result)
        assert answer.status_code == 200, answer.text

    with working(worker, do):
        done = shipworthy("contract", "check", "orders", *DATA, "--wait")
    assert done.code == 0, done.err
    assert (
        "of the contract; row_count_at_least_one, no_nan of 2 columns of every contract\n"
        in done.out.splitlines(keepends=True)[1]
    )
    assert " and 1 rule not evaluated of the contract" in done.out


@pytest.mark.parametrize("outcome", ["error", "not_evaluated"])
def test_check_that_judged_nothing_is_exit_4(
    outcome: str, author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    published = publish(author)

    def do(worker: httpx.Client, work: Body) -> None:
        result = result_of(work, published)
        checks = len(result["checks"])
        for each in result["checks"]:
            each |= {"outcome": outcome, "reason": "the reader ran out of memory"}
        result |= {"outcome": outcome}
        result["counts"] = {"passed": 0, "failed": 0, "error": 0, "not_evaluated": 0, outcome: checks}
        answer = complete(worker, work, result)
        assert answer.status_code == 200, answer.text

    with working(worker, do):
        done = shipworthy("contract", "check", "orders", *DATA, "--wait", "--json")
    assert done.code == 4
    assert json.loads(done.out)["result"]["outcome"] == outcome


def test_check_that_no_worker_could_do_is_exit_4_with_the_reason(
    author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    publish(author)
    with working(worker, lambda worker, work: give_up(worker, work, retry=False)):
        done = shipworthy("contract", "check", "orders", *DATA, "--wait")
    assert done.code == 4
    assert "memory limit" in done.out


def test_check_without_a_worker_is_not_waited_for_for_ever(
    author: httpx.Client, shipworthy: Shipworthy
) -> None:
    publish(author)
    done = shipworthy("contract", "check", "orders", *DATA, "--wait", "--timeout", "0.5")
    assert (done.code, done.out) == (4, "queued\n")
    start = f"shipworthy-server worker --url {author.base_url} --root lake=PATH".replace("/ ", " ")
    alone = f"no worker for root 'lake' has been seen; start one where the data lies: {start}\n"
    page = f"{author.base_url}".rstrip("/") + "/contract-checks/"
    assert done.err.startswith(f"{alone}queued after 0.5 s; it goes on: {page}")
    queued = shipworthy("contract", "check", "orders", *DATA)
    assert queued.err == f"queued; see {page}{queued.out}{alone}"
    doctor = shipworthy("doctor").out
    assert (
        f"2 contract checks queued, and no worker for root 'lake' has been seen\n           → {start}\n"
        in doctor
    )


def test_worker_that_was_seen_is_waited_for_in_silence(
    author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    publish(author)
    assert claim(worker, kinds=["checkpoint_verification"], roots=["lake"]) is None
    done = shipworthy("contract", "check", "orders", *DATA, "--wait", "--timeout", "0.5")
    assert done.err.count("\n") == 1
    assert done.err.startswith("queued after 0.5 s; it goes on: ")
    assert "queued" not in shipworthy("doctor").out


def test_check_sends_what_it_was_given(
    author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    published = publish(author)
    asked: list[Body] = []

    def do(worker: httpx.Client, work: Body) -> None:
        asked.append(work["request"])
        complete(worker, work, make_result(published, check=work["id"], asked=work["request"]))

    given = ["--as-of", "2026-05-02T00:00:00Z", "--parameter", "day=2026-05-01", "--parameter", "rows=3"]
    done = shipworthy("contract", "check", "orders", *DATA, *given, "--table", "orders")
    assert done.code == 0
    with working(worker, do):
        pass
    assert asked[0]["as_of"] == "2026-05-02T00:00:00.000000Z"
    assert asked[0]["parameters"] == {"day": "2026-05-01", "rows": 3}
    assert asked[0]["object"] == "orders"


def test_snapshot_recorded_with_its_location_is_checked_by_its_digest(
    author: httpx.Client,
    worker: httpx.Client,
    service: RunningService,
    shipworthy: Shipworthy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    published = publish(author)
    Path("orders.csv").write_text("id,amount\n1,2\n")
    with monkeypatch.context() as recorder:
        token = service.client("recorder").headers["authorization"].removeprefix("Bearer ")
        recorder.setenv("SHIPWORTHY_TOKEN", token)
        assert shipworthy("snapshot", "orders.csv", "--location", "lake").code == 2
        taken = shipworthy("snapshot", "orders.csv", "--location", "lake/orders/orders.csv")
    digest = taken.out.strip()
    asked: list[Body] = []

    def do(worker: httpx.Client, work: Body) -> None:
        asked.append(work["request"])
        answer = complete(worker, work, result_of(work, published, manifest=digest))
        assert answer.status_code == 200, answer.text

    with working(worker, do):
        done = shipworthy("contract", "check", "orders", "--snapshot", digest, "--wait")
    assert done.code == 0
    assert (asked[0]["root"], asked[0]["path"], asked[0]["snapshot"]) == ("lake", "orders/orders.csv", digest)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["check", "orders"], 2, "name the data"),
        (["check", "orders", "--root", "lake"], 2, "name the data"),
        (["check", "orders", *DATA, "--parameter", "day"], 2, "write NAME=VALUE"),
        (["check", "orders", *DATA, "--as-of", "yesterday"], 2, "write a time with a zone"),
        (["check", "nothing", *DATA], 1, "no contract"),
        (["show", "nothing"], 1, "no contract"),
        (["lint", "missing.yaml"], 2, "can't be read"),
        (["check", "orders", "--snapshot", "sha256:short"], 2, "snapshot"),
    ],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], code: int, sentence: str, author: httpx.Client, shipworthy: Shipworthy
) -> None:
    done = shipworthy("contract", *arguments)
    assert (done.code, done.out) == (code, "")
    assert sentence in done.err
    assert "Traceback" not in done.err


def test_unreachable_service_and_refused_key_are_told_apart(
    author: httpx.Client, shipworthy: Shipworthy, monkeypatch: pytest.MonkeyPatch, service: RunningService
) -> None:
    file = written(make_contract())
    assert shipworthy("contract", "lint", file, "--url", "http://127.0.0.1:9").code == 5
    reader = service.client("reader").headers["authorization"].removeprefix("Bearer ")
    monkeypatch.setenv("SHIPWORTHY_TOKEN", reader)
    assert shipworthy("contract", "publish", "orders", file).code == 6
    monkeypatch.setenv("SHIPWORTHY_TOKEN", "sw_wrong")
    assert shipworthy("contract", "check", "orders", *DATA, "--wait").code == 6
