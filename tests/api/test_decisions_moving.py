"""What comes between gathering and the log: a decision is about what stands in the log when it is written."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from api.deciding import Prepared, prepare
from api.recording import Recorder
from api.schemas.gates import DecisionRequest
from models.errors import DecisionMoved
from models.keys.administration import prepare_end, retire_key, revoke_key
from models.ledger.commit import Outcome
from models.ledger.drafts import Item
from models.ledger.fsck import fsck
from models.ledger.rebuild import rebuild
from tests.support.actors import actor_of
from tests.support.attempts import opened
from tests.support.bodies import digest_of, make_verification
from tests.support.calls import post
from tests.support.facts import get
from tests.support.gates import ARTIFACT, EVALUATION, GATE, MODEL, TO, TRAIN, GateScene, ahead, make_policy
from tests.support.service import RunningService

ASKED = DecisionRequest(model=MODEL, artifact=ARTIFACT, to=TO)


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    found = GateScene(service)
    found.ready()
    return found


def gathered(scene: GateScene) -> Prepared:
    return prepare(scene.service.services, actor_of(scene, "evaluator"), GATE, ASKED)


def _revoke_evidence(scene: GateScene) -> None:
    made = get(scene.reader, "/v1/evidence", subject=ARTIFACT)
    scene.revoke(made["items"][0]["record"])


def _contest_training_data(scene: GateScene) -> None:
    scene.revoke(get(scene.reader, f"/v1/snapshots/{TRAIN}")["record"], "contested")


def _open_attempt_of_another_model(scene: GateScene) -> None:
    opened(scene.evaluator, candidate=digest_of("another"), model="another", dataset=EVALUATION)


def _attest_failure(scene: GateScene) -> None:
    scene.attest(outcome="failed")


def _publish_next_version(scene: GateScene) -> None:
    scene.published(make_policy(version=2))


def _decide(scene: GateScene) -> None:
    scene.decided()


def _deny(scene: GateScene) -> None:
    assert scene.review(scene.approver("grace"), scene.decided(mode="shadow"), "deny").status_code == 201


def _revoke_key(scene: GateScene) -> None:
    key = scene.evaluator.headers["X-Key"]
    revoke_key(scene.service.services.ledger, key, namespace="team-a", reason="stolen")


def _record_another_maker(scene: GateScene) -> None:
    scene.train(recorder=scene.person("grace", "recorder"))


@pytest.mark.parametrize(
    "change",
    [
        _revoke_evidence,
        _contest_training_data,
        _open_attempt_of_another_model,
        _attest_failure,
        _publish_next_version,
        _decide,
        _deny,
        _revoke_key,
        _record_another_maker,
    ],
)
def test_decision_is_not_written_when_what_it_rests_on_changed_meanwhile(
    scene: GateScene, change: Callable[[GateScene], None]
) -> None:
    prepared = gathered(scene)
    assert prepared.predicate["verdict"] == "passed"
    change(scene)
    with pytest.raises(DecisionMoved):
        scene.service.services.ledger.append(prepared.item).result(30)


def test_decision_is_written_when_what_changed_has_nothing_to_do_with_it(scene: GateScene) -> None:
    prepared = gathered(scene)
    scene.train(digest_of("another"))
    scene.attest(subject=digest_of("another"), outcome="failed")
    opened(scene.evaluator, dataset=digest_of("another data set"))
    theirs = GateScene(scene.service, namespace="team-b")
    theirs.record_data()
    theirs.attest(outcome="failed")
    (stored,) = scene.service.services.ledger.append(prepared.item).result(30)
    assert scene.in_force()["decision"]["decision"] == stored.digest


def together(scene: GateScene, *items: Item) -> list[Outcome]:
    """Written by one commit, in this order."""

    async def append() -> list[Outcome]:
        return await scene.service.services.ledger.append_all(items)

    return asyncio.run(append())


def test_revocation_of_the_same_commit_stops_the_decision_behind_it(scene: GateScene) -> None:
    prepared = gathered(scene)
    record = get(scene.reader, "/v1/evidence", subject=ARTIFACT)["items"][0]["record"]
    author = actor_of(scene, "author")
    body = {"record": record, "effect": "revoked", "reason": "wrong"}
    recorder = Recorder(scene.service.services.ring.pepper)
    revocation = recorder.item("revocation", author, body, None)
    first, second = together(scene, revocation, prepared.item)
    assert isinstance(first, tuple)
    assert isinstance(second, DecisionMoved)


def test_key_that_is_revoked_in_the_same_commit_stops_the_decision_behind_it(scene: GateScene) -> None:
    prepared = gathered(scene)
    revocation = prepare_end(scene.evaluator.headers["X-Key"], namespace="team-a", reason="stolen")
    first, second = together(scene, revocation, prepared.item)
    assert isinstance(first, tuple)
    assert isinstance(second, DecisionMoved)


def test_no_pass_follows_the_revocation_of_its_evidence_however_the_two_race(scene: GateScene) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            record = scene.attest()
            deciding = pool.submit(scene.ask)
            body = {"record": record, "effect": "revoked", "reason": "raced"}
            revoking = pool.submit(post, scene.author, "/v1/revocations", body)
            made, revoked = deciding.result().json(), revoking.result().json()
            rests = record in {each["record"] for each in made.get("inputs", ())}
            if made.get("verdict") == "passed" and rests:
                assert made["position"] < revoked["position"]
                assert record in scene.in_force()["why"]


@contextmanager
def statements(scene: GateScene) -> Iterator[list[str]]:
    seen: list[str] = []
    engine = scene.service.services.database.engine

    def note(_: object, __: object, statement: str, *___: object) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_a_decision_asks_as_many_statements_however_much_was_recorded(scene: GateScene) -> None:
    scene.decided()
    with statements(scene) as few:
        gathered(scene)
    for number in range(8):
        scene.attest(f"check-{number}")
        scene.train(f"{ARTIFACT[:-2]}{number:02}")
    scene.train(recorder=scene.person("grace", "recorder"))
    scene.evaluate(retry=1)
    with statements(scene) as many:
        gathered(scene)
    assert len(many) == len(few)
    assert len(few) < 60
    with statements(scene) as asked:
        scene.standing_at(ahead(minutes=1))
    assert len(asked) <= 10


def test_decisions_are_the_same_when_they_are_made_again_from_the_records(scene: GateScene) -> None:
    scene.decided()
    scene.decided(mode="shadow")
    scene.attest(outcome="failed")
    scene.decided()
    services = scene.service.services
    before = scene.in_force()
    rebuild(services.database)
    assert scene.in_force() | {"asked_at": None} == before | {"asked_at": None}
    assert fsck(services.database, services.ring.log_key).problems == ()


def test_failed_restore_of_the_checkpoint_ends_the_pass(scene: GateScene) -> None:
    """Re-verification: what a gate once believed of a checkpoint is looked at again."""
    checkpoint = digest_of("checkpoint")
    made = {"digest": digest_of("third"), "role": "model", "checkpoint": checkpoint}
    scene.train(artifacts=[made])
    restore = "kind: evidence, evidence: checkpoint-restore, maxAge: P7D, severity: block"
    scene.published(make_policy(version=2, auc="", bias="", restore=restore))
    path = f"/v1/checkpoints/{checkpoint}/verifications"
    at = get(scene.reader, f"/v1/gates/{GATE}")["at"]
    passed = make_verification(level="restore_tested", checked_at=at)
    assert post(scene.worker, path, passed).status_code == 201
    assert scene.decided(artifact=digest_of("third"))["verdict"] == "passed"
    assert scene.in_force(digest_of("third"))["active"]
    failed = make_verification(level="loaded", outcome="failed", checked_at=at)
    assert post(scene.worker, path, failed).status_code == 201
    assert "checkpoint verification" in scene.in_force(digest_of("third"))["why"]
    assert scene.decided(artifact=digest_of("third"))["verdict"] == "blocked"


def test_a_retired_key_leaves_what_it_wrote_standing_until_it_is_revoked(scene: GateScene) -> None:
    scene.decided()
    services, key = scene.service.services, scene.worker.headers["X-Key"]
    retire_key(services.ledger, key, namespace="team-a", reason="replaced")
    services.authenticator.forget(key)
    assert scene.worker.get("/v1/decisions").status_code == 401
    assert scene.in_force()["active"]
    revoke_key(services.ledger, key, namespace="team-a", reason="was stolen before")
    assert not scene.in_force()["active"]
