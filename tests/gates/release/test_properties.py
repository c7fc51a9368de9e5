"""What holds for facts that nobody thought of."""

import copy
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gates.release.evaluate import Decision, evaluate
from shipworthy.formats.decision_rule import verdict
from shipworthy.formats.jcs import canonicalize
from tests.gates.release.passing import NOW, Body, make_facts
from tests.gates.release.policies import make_policy
from tests.gates.release.scenes import make_review, make_waiver

POLICY = make_policy()
MILD = make_policy(
    auc_floor="kind: threshold, metric: roc_auc, min: 0.918, onInconclusive: warn, severity: review",
    latency=(
        "kind: comparison, metric: p95_latency_ms, better: lower, test: relative, maxRegression: 0.03, severity: warn"
    ),
)
FACTS = make_facts(POLICY)
OPTIONAL = {("dataset", "row_count")}
"""Not every snapshot says it. Where it is said it only ever refuses."""
ORDER = {"passed": 0, "review_required": 1, "blocked": 2}

unusable = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=12),
    st.sampled_from([math.nan, math.inf, -math.inf, 10**400, -(10**400)]),
    st.lists(st.floats(0, 1), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.integers(-(2**60), 2**60), st.floats(-1, 1)
)


def numeric_places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [place for name, member in value.items() for place in numeric_places(member, (*path, name))]
    if isinstance(value, list):
        return [place for at, item in enumerate(value) for place in numeric_places(item, (*path, at))]
    return [path] if isinstance(value, int | float) and not isinstance(value, bool) else []


def required_places() -> list[tuple[Any, ...]]:
    """Sections and members that criteria of the scene need, whose loss must never help."""
    return [
        *(
            (name,)
            for name in ("artifact", "policy", "attempt", "attempts", "statistics", "dataset", "incumbent")
        ),
        *((name,) for name in ("training_run", "family", "repeats", "evidence", "reviews", "waivers")),
        *(
            ("statistics", name)
            for name in FACTS["statistics"]
            if name not in ("engine", "repeats", "positives")
        ),
        *(("attempt", name) for name in FACTS["attempt"]),
        *(("training_run", name) for name in FACTS["training_run"]),
        *(("artifact", name) for name in FACTS["artifact"]),
        *(("dataset", name) for name in FACTS["dataset"]),
        *(("statistics", "slices", at) for at in range(3)),
        *(("statistics", "metrics", name) for name in FACTS["statistics"]["metrics"]),
        *(("statistics", "differences", name) for name in FACTS["statistics"]["differences"]),
        *(("evidence", at) for at in range(4)),
        *(("family", at) for at in range(5)),
    ]


def at(facts: Body, place: tuple[Any, ...]) -> tuple[Any, Any]:
    holder: Any = facts
    for part in place[:-1]:
        holder = holder[part]
    return holder, place[-1]


def scene(policy: Any, reviewed: bool, waived: bool) -> Body:
    facts = make_facts(policy)
    if reviewed:
        facts["reviews"] = [make_review(policy, "alan"), make_review(policy, "grace")]
    if waived:
        facts["waivers"] = [make_waiver(policy, owner, "bias") for owner in ("joan", "edsger")]
    return facts


def rank(decision: Decision) -> int:
    return ORDER[decision.verdict]


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from([POLICY, MILD]),
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(numeric_places(FACTS)), numbers), max_size=3),
    st.sampled_from([each for each in (*required_places(), *numeric_places(FACTS)) if each not in OPTIONAL]),
    st.one_of(st.just("absent"), unusable),
)
def test_losing_or_corrupting_a_fact_never_improves_the_verdict(
    policy: Any,
    reviewed: bool,
    waived: bool,
    measured: list[tuple[tuple[Any, ...], Any]],
    place: tuple[Any, ...],
    bad: Any,
) -> None:
    facts = scene(policy, reviewed, waived)
    for other, number in measured:
        holder, name = at(facts, other)
        holder[name] = number
    before = evaluate(policy, facts, NOW)
    worse = copy.deepcopy(facts)
    holder, name = at(worse, place)
    if bad == "absent":
        del holder[name]
    else:
        holder[name] = bad
    after = evaluate(policy, worse, NOW)
    assert rank(after) >= rank(before)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(numeric_places(FACTS)), numbers | unusable), max_size=6))
def test_every_decision_can_be_recorded_and_judged_again(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    facts = scene(MILD, True, True)
    for place, value in changes:
        holder, name = at(facts, place)
        holder[name] = value
    first = evaluate(MILD, facts, NOW).as_json()
    again = evaluate(MILD, copy.deepcopy(facts), NOW).as_json()
    assert canonicalize(first) == canonicalize(again)  # type: ignore[arg-type]
    assert verdict(first["criteria"]) == first["verdict"]  # type: ignore[arg-type]
    assert [each["id"] for each in first["criteria"]] == [each.id for each in MILD.criteria]  # type: ignore[attr-defined]
    assert sum(first["counts"].values()) == len(MILD.criteria)  # type: ignore[attr-defined]


def test_an_approval_changes_no_decision_made_before_it() -> None:
    facts = make_facts(MILD)
    before = canonicalize(evaluate(MILD, facts, NOW).as_json())  # type: ignore[arg-type]
    later = facts | {"reviews": [make_review(MILD, "alan"), make_review(MILD, "grace")]}
    assert evaluate(MILD, facts, NOW).verdict == "review_required"
    assert evaluate(MILD, later, NOW).verdict == "passed"
    assert canonicalize(evaluate(MILD, facts, NOW).as_json()) == before  # type: ignore[arg-type]
