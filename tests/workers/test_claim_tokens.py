"""The token under which a slot claims: kept until a claim was answered, and never used for two pieces of work."""

from pathlib import Path

from tests.workers.scripted import Reply, scripted, work
from tests.workers.test_loop import RENEWED, TAKEN, slot


def test_claim_without_an_answer_is_sent_again_under_its_token(tmp_path: Path) -> None:
    away = Reply(503, {"detail": "starting", "code": "unavailable"}, {"Retry-After": "0"})
    with (
        scripted(
            claim=[Reply(0), Reply(0), away, Reply(body=work("none.csv")), Reply(204)],
            renew=RENEWED,
            complete=TAKEN,
        ) as service,
        slot(service, tmp_path),
    ):
        service.wait_for(":claim", 5)
    tokens = [body["lease"] for body in service.bodies(":claim")]
    assert len(set(tokens[:4])) == 1
    assert tokens[4] != tokens[0]
    assert all(len(token) == 32 for token in tokens)
