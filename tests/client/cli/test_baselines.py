"""`shipworthy baseline`: distributions that a worker measured, and their approval."""

import json

import httpx
import pytest

from tests.client.cli.conftest import Shipworthy
from tests.client.cli.contracts import working
from tests.support.bodies import digest_of
from tests.support.contracts import complete, give_up, make_baseline
from tests.support.service import RunningService

DATA = ("--root", "lake", "--path", "orders")


def test_baseline_is_made_shown_and_approved_by_somebody_else(
    author: httpx.Client,
    worker: httpx.Client,
    service: RunningService,
    shipworthy: Shipworthy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with working(worker, lambda worker, work: complete(worker, work, make_baseline())):
        made = shipworthy("baseline", "make", *DATA, "--number", "amount", "--label", "country")
    assert made.code == 0
    digest = made.out.strip()
    shown = shipworthy("baseline", "show", digest)
    assert shown.out.startswith(f"{digest}\n  10 rows of {digest_of('orders')[:19]}")
    assert "amount: " in shown.out
    assert "not approved" in shown.out
    assert shipworthy("baseline", "approve", digest, "--reason", "mine").code == 6
    other = service.client("approver", owner="grace@example.org")
    monkeypatch.setenv("SHIPWORTHY_TOKEN", other.headers["authorization"].removeprefix("Bearer "))
    approved = shipworthy("baseline", "approve", digest, "--reason", "looked at the histograms")
    assert approved.code == 0
    assert shipworthy("baseline", "show", digest).out.splitlines()[-1].endswith(": looked at the histograms")
    told = json.loads(shipworthy("baseline", "show", digest, "--json").out)
    assert [each["reason"] for each in told["approvals"]] == ["looked at the histograms"]


def test_baseline_that_could_not_be_made_is_exit_4(
    author: httpx.Client, worker: httpx.Client, shipworthy: Shipworthy
) -> None:
    with working(worker, lambda worker, work: give_up(worker, work, retry=False)):
        made = shipworthy("baseline", "make", *DATA, "--number", "amount")
    assert (made.code, made.out) == (4, "")
    assert "memory limit" in made.err
    assert shipworthy("baseline", "make", *DATA).code == 2
