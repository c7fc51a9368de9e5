"""The worker's calls in bad weather: what is worth another try, and what is not."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from api.workers.answers import Refused, ServiceAway
from api.workers.client import Claim, Progress, ServiceClient
from tests.workers.scripted import Reply, Script, scripted, work

KINDS = ("contract_check",)
LEASE = "1" * 32


def claim(service: Script, seconds: int) -> Claim | None:
    with closing(ServiceClient(service.url, "sw_key")) as client:
        return client.claim(KINDS, ["here"], seconds, LEASE)


def test_claim_gives_work_with_its_request_and_inputs() -> None:
    with scripted(claim=[Reply(body=work())]) as service:
        found = claim(service, 1)
    assert found is not None
    assert (found.kind, found.attempt, found.request["path"]) == ("contract_check", 1, "data.csv")
    assert service.asked[0].token == "sw_key"
    said = {"kinds": ["contract_check"], "roots": ["here"], "wait_seconds": 1, "lease": LEASE}
    assert service.asked[0].body == said


def test_no_work_is_no_claim() -> None:
    with scripted(claim=[Reply(204)]) as service:
        assert claim(service, 0) is None


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_busy_service_is_away_and_says_for_how_long(status: int) -> None:
    reply = Reply(status, {"detail": "busy", "code": "unavailable"}, {"Retry-After": "7"})
    with scripted(claim=[reply]) as service, pytest.raises(ServiceAway, match="busy") as caught:
        claim(service, 0)
    assert caught.value.retry_after == 7


def test_retry_after_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    reply = Reply(503, None, {"Retry-After": later})
    with scripted(claim=[reply]) as service, pytest.raises(ServiceAway) as caught:
        claim(service, 0)
    assert caught.value.retry_after is not None
    assert 60 < caught.value.retry_after <= 90


@pytest.mark.parametrize(
    ("status", "is_about_the_key"), [(401, True), (403, True), (409, False), (422, False)]
)
def test_refusal_is_no_weather(status: int, is_about_the_key: bool) -> None:
    reply = Reply(status, {"detail": "no", "code": "some_code"})
    with scripted(claim=[reply]) as service, pytest.raises(Refused, match="no") as caught:
        claim(service, 0)
    assert (caught.value.code, caught.value.is_about_the_key) == ("some_code", is_about_the_key)


def test_redirect_is_not_followed_with_the_key() -> None:
    reply = Reply(307, None, {"Location": "http://elsewhere.example/v1/work:claim"})
    with scripted(claim=[reply]) as service, pytest.raises(Refused, match="another address"):
        claim(service, 0)


def test_answer_that_is_cut_is_weather() -> None:
    with scripted(claim=[Reply(raw=b'{"id": "5c')]) as service, pytest.raises(ServiceAway, match="cut"):
        claim(service, 0)


def test_service_that_is_not_there_is_weather() -> None:
    with scripted(claim=[Reply(204)]) as service:
        pass
    with pytest.raises(ServiceAway, match="can't be reached"):
        claim(service, 0)


def test_kept_connection_that_was_closed_is_opened_again() -> None:
    with scripted(claim=[Reply(204), Reply(0), Reply(204)]) as service:
        client = ServiceClient(service.url, "sw_key")
        client.claim(KINDS, ["here"], 0, LEASE)
        assert client.claim(KINDS, ["here"], 0, LEASE) is None
        client.close()
    assert len(service.asked) == 3


def test_renewal_carries_progress_and_tells_of_a_cancellation() -> None:
    renewals = [Reply(body={"cancelled": False, "lease_seconds": 60}), Reply(body={"cancelled": True})]
    with scripted(claim=[Reply(body=work())], renew=renewals) as service:
        client = ServiceClient(service.url, "sw_key")
        found = client.claim(KINDS, ["here"], 0, LEASE)
        assert found is not None
        assert not client.renew(found, Progress(3, 7, "hashing")).cancelled
        assert client.renew(found, None).cancelled
        client.close()
    assert service.bodies(":renew")[0] == {
        "lease": "0" * 32,
        "progress": {"done": 3, "total": 7, "text": "hashing"},
    }
