"""A run's view is a fold that no order and no repetition of its facts can change."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from models.fields import instant_text
from models.kinds.registry import KINDS
from models.ledger.canonical import canonical_body
from models.ledger.entries import Entry
from models.lineage.history import fold
from models.lineage.made_of import document_digest
from models.lineage.run_view import ended_at, reported_state

RUN = "01900000-0000-7000-8000-000000000001"
START = datetime(2026, 5, 1, 12, tzinfo=UTC)


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def at(minutes: int) -> str:
    return instant_text(START + timedelta(minutes=minutes))


def fact(kind: str, body: dict[str, Any], position: int = 0) -> Entry:
    return Entry(
        kind=kind,
        namespace="default",
        digest=digest(position),
        content=digest(position),
        position=position,
        recorded_at=START + timedelta(seconds=position),
        fact=KINDS[kind].body.model_validate(body),
        body=body,
        canonical=canonical_body(body),
        run_id=RUN,
        level="self_reported",
        owner="owner",
    )


def registration(**more: Any) -> dict[str, Any]:
    return {"run_id": RUN, "job": {"namespace": "fraud", "name": "train"}, **more}


def event(state: str, minutes: int, attempt: int = 1) -> dict[str, Any]:
    return {"run_id": RUN, "type": "state", "state": state, "at": at(minutes), "attempt": attempt}


minutes = st.integers(0, 6)
attempts = st.integers(1, 3)
inputs = st.lists(
    st.builds(
        lambda role, number: {"role": role, "digest": digest(number)},
        st.sampled_from(["train", "test"]),
        minutes,
    ),
    max_size=3,
)
registrations = st.builds(
    lambda chosen: registration(**{name: value for name, value in chosen.items() if value is not None}),
    st.fixed_dictionaries(
        {
            "team": st.sampled_from([None, "risk", "ads"]),
            "started_at": st.one_of(st.none(), st.builds(at, minutes)),
            "tags": st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]), max_size=2),
            "inputs": inputs,
            "code": st.sampled_from([None, {"commit": "abcdef1", "dirty": False}, {"dirty": None}]),
            "environment": st.sampled_from([None, {"python": "3.11"}]),
            "config": st.sampled_from([None, {"values": {"lr": 0.1}}, {"values": {"lr": 0.2}}]),
            "seeds": st.sampled_from([None, {"values": {"torch": 1}}, {"values": {"torch": 2}}]),
            "initiated_by": st.sampled_from(
                [
                    None,
                    {"owner": "a", "who": {"$redactable": digest(1)}},
                    {"owner": "b", "who": {"$redactable": digest(2)}},
                ]
            ),
        }
    ),
)
events = st.one_of(
    st.builds(
        event,
        st.sampled_from(
            ["queued", "running", "evaluating", "preempted", "resumed", "completed", "failed", "aborted"]
        ),
        minutes,
        attempts,
    ),
    st.builds(
        lambda n, m: {"run_id": RUN, "type": "attempt.started", "attempt": n, "at": at(m)}, attempts, minutes
    ),
    st.builds(lambda m: {"run_id": RUN, "type": "phase", "phase": "warmup", "at": at(m)}, minutes),
)
checkpoints = st.builds(
    lambda number, step, m: {"run_id": RUN, "digest": digest(number), "step": step, "trained_until": at(m)},
    minutes,
    minutes,
    minutes,
)
artifacts = st.builds(lambda number: {"run_id": RUN, "digest": digest(number), "role": "model"}, minutes)


def nested(made: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    without_run = made.map(lambda body: {name: value for name, value in body.items() if name != "run_id"})
    return st.lists(without_run, max_size=3)


whole_registrations = st.builds(
    lambda body, kept: body | kept,
    registrations,
    st.fixed_dictionaries(
        {"events": nested(events), "checkpoints": nested(checkpoints), "artifacts": nested(artifacts)}
    ),
)
bodies = st.one_of(
    st.tuples(st.just("run.registered"), st.one_of(registrations, whole_registrations)),
    st.tuples(st.just("run.event"), events),
    st.tuples(st.just("checkpoint.saved"), checkpoints),
    st.tuples(st.just("artifact"), artifacts),
)


@given(st.lists(bodies, min_size=1, max_size=12), st.data())
@settings(max_examples=400, deadline=None)
def test_fold_any_order_and_repetition_gives_the_same_view(
    recorded: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    facts = [fact(kind, body, position) for position, (kind, body) in enumerate(recorded)]
    repeated = facts + data.draw(st.lists(st.sampled_from(facts), max_size=6))
    shuffled = data.draw(st.permutations(repeated))
    assert fold(RUN, shuffled) == fold(RUN, facts)


def test_fold_empty_list_in_a_later_post_never_removes_an_input() -> None:
    named = {"role": "train", "digest": digest(1)}
    view = fold(
        RUN,
        [
            fact("run.registered", registration(inputs=[named]), 0),
            fact("run.registered", registration(inputs=[]), 1),
        ],
    )
    assert [given["digest"] for given in view["inputs"]] == [digest(1)]


def test_fold_late_start_moves_started_at_to_the_earliest() -> None:
    view = fold(
        RUN,
        [
            fact("run.registered", registration(started_at=at(5)), 0),
            fact("run.event", event("running", 2), 1),
        ],
    )
    assert view["started_at"] == at(2)


def test_fold_second_attempt_reopens_a_failed_run_without_a_conflict() -> None:
    failed = [fact("run.registered", registration(), 0), fact("run.event", event("failed", 3), 1)]
    again = {"run_id": RUN, "type": "attempt.started", "attempt": 2, "at": at(4)}
    view = fold(RUN, [*failed, fact("run.event", again, 2)])
    assert (reported_state(view), ended_at(view), view["conflicts"]) == ("running", None, [])
    done = fold(RUN, [*failed, fact("run.event", again, 2), fact("run.event", event("completed", 9, 2), 3)])
    assert (reported_state(done), ended_at(done)) == ("completed", at(9))


def test_fold_two_ends_of_one_attempt_take_the_later_and_flag_the_conflict() -> None:
    view = fold(
        RUN,
        [
            fact("run.registered", registration(), 0),
            fact("run.event", event("completed", 5), 1),
            fact("run.event", event("failed", 4), 2),
        ],
    )
    assert reported_state(view) == "completed"
    assert view["conflicts"] == ["state of attempt 1"]


def test_fold_late_running_event_does_not_reopen_an_ended_attempt() -> None:
    view = fold(
        RUN,
        [
            fact("run.registered", registration(), 0),
            fact("run.event", event("completed", 5), 1),
            fact("run.event", event("evaluating", 6), 2),
        ],
    )
    assert reported_state(view) == "completed"


PINNED: dict[str, Any] = {
    "inputs": [{"role": "train", "digest": digest(1)}],
    "code": {"commit": "abcdef1", "dirty": False},
    "environment": {"python": "3.11"},
    "config": {"values": {"lr": 0.1, "seed": 1}, "seed_keys": ["/seed"]},
    "seeds": {"values": {"torch": 1}, "deterministic": {"cudnn": True}},
}


def view_of(**changes: Any) -> dict[str, Any]:
    return fold(RUN, [fact("run.registered", registration(**{**PINNED, **changes}))])


def test_recipe_of_equal_ingredients_is_equal_and_of_any_other_is_not() -> None:
    recipe = view_of()["recipe_digest"]
    assert recipe == view_of(team="other", tags={"a": "b"})["recipe_digest"]
    others = [
        view_of(inputs=[{"role": "test", "digest": digest(1)}]),
        view_of(code={"commit": "abcdef2", "dirty": False}),
        view_of(environment={"python": "3.12"}),
        view_of(config={"values": {"lr": 0.2, "seed": 1}, "seed_keys": ["/seed"]}),
        view_of(seeds={"values": {"torch": 2}}),
        view_of(transformations=[{"name": "clean", "version": "1"}]),
        view_of(resumed_from={"checkpoint": digest(9)}),
    ]
    assert recipe not in {other["recipe_digest"] for other in others}


def test_family_of_runs_that_differ_in_seeds_only_is_one() -> None:
    other = view_of(
        config={"values": {"lr": 0.1, "seed": 2}, "seed_keys": ["/seed"]},
        seeds={"values": {"torch": 2}, "deterministic": {"cudnn": True}},
    )
    assert other["family_digest"] == view_of()["family_digest"]
    assert other["recipe_digest"] != view_of()["recipe_digest"]
    unlike = view_of(seeds={"values": {"torch": 1}, "deterministic": {"cudnn": False}})
    assert unlike["family_digest"] != view_of()["family_digest"]


def test_recipe_of_a_run_with_uncommitted_changes_is_none_until_the_diff_is_kept() -> None:
    assert view_of(code={"commit": "abcdef1", "dirty": True})["recipe_digest"] is None
    assert view_of(code={"commit": "abcdef1", "dirty": None})["recipe_digest"] is None
    assert view_of(code={"commit": "abcdef1", "dirty": True, "diff": digest(5)})["recipe_digest"] is not None


def test_recipe_with_an_unresolved_input_is_none() -> None:
    unresolved = {"role": "train", "snapshot": {"dataset": {"namespace": "w", "name": "t"}, "grade": "none"}}
    assert view_of(inputs=[unresolved])["recipe_digest"] is None


def test_nested_seed_keys_are_taken_out_of_the_family() -> None:
    first: dict[str, Any] = {
        "values": {"model": {"init~/seed": 1, "depth": 2}},
        "seed_keys": ["/model/init~0~1seed"],
    }
    second = {"values": {"model": {"init~/seed": 2, "depth": 2}}, "seed_keys": ["/model/init~0~1seed"]}
    assert view_of(config=first)["family_digest"] == view_of(config=second)["family_digest"]
    assert view_of(config=first)["ingredients"]["config"] == document_digest(first)
