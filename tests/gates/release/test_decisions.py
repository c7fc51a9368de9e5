"""What a decision says as a whole."""

from types import MappingProxyType
from typing import Any

import pytest

from gates.release.evaluate import evaluate
from gates.release.facts import Facts, Malformed, read_facts
from shipworthy.formats.decision_rule import verdict
from tests.gates.release.passing import NOW, Body, make_facts
from tests.gates.release.policies import CRITERIA, digest, make_policy
from tests.gates.release.scenes import decide, drop, make_review, put

POLICY = make_policy()
FAILED = put("evidence/2/outcome", "failed")
MISSING = put("repeats", [])
UNCERTAIN = put("statistics/differences/roc_auc/standard_error", 0.01)


def test_a_release_that_keeps_everything_may_ship() -> None:
    decision = decide(POLICY)
    said = decision.as_json()
    assert decision.sentence == "May ship as champion until 2026-12-05 12:00 UTC: 13 of 13 passed."
    assert said["counts"] == {"passed": 13, "failed": 0, "inconclusive": 0, "error": 0, "waived": 0}
    assert (said["verdict"], said["warnings"], said["unblocks"]) == ("passed", [], [])
    assert said["valid_until"] == "2026-12-05T12:00:00.000Z"
    assert said["protocol_digest"] == POLICY.protocol_digest
    assert said["alpha"] == pytest.approx(0.030396355 / 4)
    assert verdict(said["criteria"]) == "passed"  # type: ignore[arg-type]
    assert set(said["criteria"][0]) == {  # type: ignore[index]
        *("id", "kind", "outcome", "effect", "severity", "on", "state", "observed", "interval", "bound", "n"),
        *(
            "needed_n",
            "method",
            "alpha",
            "seed",
            "evidence",
            "code",
            "sentence",
            "parts",
            "waiver",
            "cleared_by",
        ),
    }
    assert said["criteria"][4]["parts"][0].keys() == {  # type: ignore[index]
        *("name", "outcome", "state", "observed", "interval", "bound", "n", "sentence")
    }


def test_a_decision_names_all_records_it_read_each_once() -> None:
    decision = decide(POLICY)
    assert list(decision.inputs) == sorted(set(decision.inputs))
    assert {role for role, _ in decision.inputs} == {
        *("artifact", "attempt", "checksum", "dataset", "evaluation", "evidence", "family", "incumbent"),
        *("incumbent_evaluation", "policy", "repeat", "snapshot", "statistics", "training_run"),
    }


def test_a_decision_says_how_many_of_what_are_against_it() -> None:
    decision = decide(POLICY, FAILED, MISSING, UNCERTAIN)
    assert decision.sentence == (
        "May not ship as champion: 1 failed, 1 without a value, 1 inconclusive and 1 waiting for review."
    )
    only_review = decide(POLICY, UNCERTAIN)
    assert (
        only_review.sentence == "May ship after review as champion: 1 inconclusive and 1 waiting for review."
    )


def test_warnings_are_listed_and_pass() -> None:
    policy = make_policy("auc-floor", latency=CRITERIA["latency"].replace("review", "warn"))
    decision = decide(policy, drop("statistics/differences/p95_latency_ms"))
    assert (decision.verdict, decision.warnings) == ("passed", ("latency",))
    assert decision.sentence.endswith("1 of 2 passed, 1 with a warning.")
    assert decision.unblocks == ()


def test_a_gate_before_registration_needs_no_protocol() -> None:
    head = (
        "apiVersion: shipworthy/v1\nkind: ReleaseGate\n"
        "metadata: {name: entry, version: 1, owner: team, reason: first}\n"
        "appliesTo: {model: fraud-classifier, to: registration, validFor: P1D}\n"
    )
    policy = make_policy("artifact", head=head, waivers="")
    facts = make_facts(policy) | {"to": "registration", "attempt": None, "statistics": None, "dataset": None}
    decision = decide(policy, facts=facts)
    assert decision.sentence.startswith("May ship as a new version until 2026-11-30 12:00 UTC")
    assert (decision.alpha, decision.protocol_digest) == (None, None)
    assert decision.triggers == ()
    # What belongs to another policy of the same model changes nothing.
    everything = make_facts(policy) | {"to": "registration"}
    again = decide(policy, put("dataset/contested", True), facts=everything)
    assert (again.verdict, again.alpha, again.triggers) == ("passed", None, ())
    assert again.valid_until == decision.valid_until


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (put("model", "another-model"), "model"),
        (put("to", "staging"), "target"),
        (put("policy/name", "another-gate"), "policy"),
        (put("policy/version", 6), "policy version"),
        (put("policy/digest", digest("other")), "policy"),
        (put("policy/document_digest", digest("other")), "policy"),
    ],
)
def test_facts_about_something_else_block_whatever_the_severities(change: Any, word: str) -> None:
    mild = make_policy(
        "auc-floor",
        auc_floor=CRITERIA["auc-floor"].replace("block", "review"),
        latency=CRITERIA["latency"].replace("review", "warn"),
    )
    decision = decide(mild, change)
    assert decision.verdict == "blocked"
    assert {(each.finding.code, each.effect) for each in decision.criteria} == {("wrong_subject", "block")}
    assert decision.criteria[0].finding.sentence == f"The facts are about another {word} than the policy."
    assert decision.unblocks == (
        "The facts of this release have to be gathered again; nobody can supply a criterion alone.",
    )
    assert (decision.inputs, decision.alpha) == ((), None)


def test_a_revoked_policy_decides_nothing() -> None:
    decision = decide(POLICY, put("policy/revoked", True))
    assert decision.verdict == "blocked"
    assert {(each.finding.code, each.effect) for each in decision.criteria} == {("policy_revoked", "block")}
    assert decision.criteria[0].finding.sentence == (
        "The policy was revoked, and decides nothing until its next version is published."
    )
    assert decision.unblocks == ("An author publishes the next version of the policy: PUT /v1/gates/{name}.",)


def test_facts_that_can_not_be_read_say_where() -> None:
    decision = decide(POLICY, put("artifact/digest", "latest"))
    assert decision.criteria[0].finding.sentence.startswith("The facts can't be read: artifact/digest ")
    late = decide(POLICY, put("attempt/opened_at", 1_764_331_200)).criteria[0].finding.sentence
    assert late.startswith("The facts can't be read: attempt/opened_at ")
    assert late.endswith("must be a time such as 2026-05-01T12:00:00Z.")
    found = read_facts([])  # type: ignore[arg-type]
    assert isinstance(found, Malformed)
    assert evaluate(POLICY, found, NOW).verdict == "blocked"


def test_facts_may_be_read_once_and_judged_often() -> None:
    facts = read_facts(make_facts(POLICY))
    assert isinstance(facts, Facts)
    assert evaluate(POLICY, facts, NOW) == decide(POLICY)
    assert evaluate(POLICY, MappingProxyType(make_facts(POLICY)), NOW) == decide(POLICY)


def test_a_decision_for_another_artifact_is_another_decision() -> None:
    assert decide(POLICY, put("artifact/digest", digest("another"))).verdict == "blocked"


def unblocks(*changes: Any) -> tuple[str, ...]:
    return decide(POLICY, *changes).unblocks


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            [put("attempt", None), put("evaluations", [])],
            "An evaluator opens an attempt for this artifact by the protocol of the policy",
        ),
        ([put("attempt/state", "open")], "sends the results that the open attempt still waits for"),
        ([put("statistics", None)], "A worker computes the statistics of the attempt"),
        ([put("incumbent/artifact", digest("newer"))], "asks for statistics against the present incumbent"),
        ([put("attempt/number", 11), put("attempts/count", 11)], "two approvers extend the attempts"),
        ([put("statistics/disjointness/status", "unknown")], "with a key sketch or a declared split"),
        (
            [put("incumbent", {"artifact": None, "how": "none", "record": None})],
            "An approver decides by a review, or the registry's present target is imported first.",
        ),
        (
            [put("incumbent", {"artifact": None, "how": "decision", "record": None})],
            "A registry guard records what the target holds now.",
        ),
        (
            [put("statistics/disjointness/overlap", 1)],
            "whose evaluation snapshot shares nothing with training data",
        ),
        ([put("statistics/reported/0/agrees", False)], "The evaluator mends what computes the metric"),
        ([FAILED], "bias: What the report found is mended, and a new report that passes is attested"),
        ([put("evidence/2/revoked", True)], "bias: An evaluator attests a report that passed"),
        ([put("artifact/size_bytes", 10**12)], "artifact: The artifact is made again"),
        ([put("artifact/size_bytes", None)], "artifact: The recorder or a worker supplies"),
        ([put("training_run/git/dirty", True)], "provenance: The model is trained again"),
        ([put("training_run/git", None)], "provenance: The recorder supplies"),
        ([MISSING], "reproduced: The recipe is run again and measured"),
        (
            [put("repeats/0/metrics/roc_auc", 0.5)],
            "reproduced: The recipe is run again until it is known why its repeats differ; then the model is trained "
            "anew. Or approvers decide by a review.",
        ),
        ([drop("family/4")], "stable: Runs of the same family with seeds of their own"),
        ([put("statistics/metrics/roc_auc/estimate", 0.5)], "auc-floor: A better artifact is needed."),
        ([UNCERTAIN], "auc-not-worse: A larger evaluation snapshot of about"),
        ([UNCERTAIN], "examples is needed, or approvers decide by a review."),
        ([UNCERTAIN], "sign-off: Approvers who neither trained, waived nor wrote the policy approve it"),
        (
            [put("statistics/slices/1/positives", 3)],
            "recall-by-country: An evaluation snapshot with enough examples of the small slices is needed, or",
        ),
        (
            [put("statistics/metrics/log_loss/standard_error", 0.1)],
            "loss: A larger evaluation snapshot of about",
        ),
        ([put("statistics/metrics/log_loss", None)], "have to be gathered again"),
        (
            [drop("statistics/metrics/log_loss")],
            "loss: What is missing has to be supplied: The attempt has no log_loss.",
        ),
        ([FAILED], "bias: may be waived by approvers, POST /v1/waivers."),
        ([put("reviews", [make_review(POLICY, "joan", "deny")])], "sign-off: The artifact is changed"),
    ],
)
def test_a_blocked_release_is_told_what_would_unblock_it(changes: list[Any], sentence: str) -> None:
    assert any(sentence in each for each in unblocks(*changes)), unblocks(*changes)


def test_criteria_that_lack_the_same_are_told_together() -> None:
    found = unblocks(put("attempt", None), put("evaluations", []))
    together = (
        "auc-floor, loss, auc-not-worse, latency, recall-by-country, stable, reproduced: An evaluator opens"
    )
    assert found[0].startswith(together)
    assert found[-1] == "latency: may be waived by approvers, POST /v1/waivers."


def test_without_a_review_criterion_nobody_is_sent_to_one() -> None:
    policy = make_policy("auc-not-worse", waivers="")
    (sentence,) = decide(policy, UNCERTAIN).unblocks
    assert sentence.endswith("examples is needed.")


def test_every_code_of_a_criterion_has_words_of_its_own() -> None:
    """What a person reads first is a sentence, not a code."""
    changes = [drop(f"evidence/{at}") for at in (3, 2, 1, 0)]
    decision = decide(POLICY, *changes, put("attempt", None), put("artifact/checksum", None))
    for each in decision.criteria:
        assert each.finding.sentence.endswith(".")
        assert "_" not in each.finding.sentence.replace("roc_auc", "").replace("log_loss", "")


def scene_without(name: str) -> Body:
    facts = make_facts(POLICY)
    del facts[name]
    return facts


@pytest.mark.parametrize(
    "name", ["reviews", "waivers", "evidence", "flags", "incumbent", "artifact", "attempts"]
)
def test_a_part_that_is_not_there_is_no_empty_part(name: str) -> None:
    assert decide(POLICY, facts=scene_without(name)).verdict == "blocked"
