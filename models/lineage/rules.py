"""For each kind of record: what is read ahead, what is refused under the log lock, and what it projects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from models.contracts import projections as contract_projections
from models.contracts import rules as contract_rules
from models.errors import NotFound, RunConflict, RunNotFound
from models.evaluations import projections as evaluation_projections
from models.evaluations import rules as evaluation_rules
from models.gates import projections as gate_projections
from models.gates import rules as gate_rules
from models.gates.registration import check_registration, load_registrations
from models.kinds import facts
from models.kinds.runs import KEPT
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage import projections
from models.lineage.identities import (
    IDENTITIES,
    check_unchanged,
    check_unlike,
    flag_identity,
    load_identities,
)
from models.lineage.made_of import changed_identity
from models.lineage.manifest import check_may_change, check_may_seal
from models.lineage.run_rows import view_of
from models.lineage.snapshot_rows import load_snapshots
from models.lineage.tables import Run
from models.promotions import projections as promotion_projections
from models.promotions import rules as promotion_rules
from models.slo import projections as slo_projections
from models.slo import rules as slo_rules
from models.work.verifications import load_roots, queue_verification


def _load_nothing(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    return None


def _check_nothing(workspace: Workspace, entry: Entry) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Rule:
    """`check` raises a ShipworthyError that a caller may be told; `project` changes the workspace. `follow` is what the
    record sets off besides: done once, when it is appended, and not again when projections are made again."""

    project: Callable[[Workspace, Entry], None]
    load: Callable[[Workspace, Iterable[Draft]], None] = _load_nothing
    check: Callable[[Workspace, Entry], None] = _check_nothing
    follow: Callable[[Workspace, Entry], None] = _check_nothing


def _load_runs(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load(Run, "run_id", [(draft.namespace, draft.run_id) for draft in drafts if draft.run_id])


def _load_registrations(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    drafts = list(drafts)
    _load_runs(workspace, drafts)
    load_snapshots(workspace, drafts)
    for name, kind in KEPT.items():
        if kind in IDENTITIES:
            load_identities(
                workspace,
                kind,
                [
                    (draft.namespace, draft.run_id, fact)
                    for draft in drafts
                    for fact in getattr(draft.fact, name)
                ],
            )


def _load_checkpoints(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load_flags(
        "checkpoint",
        "SELECT digest FROM checkpoint WHERE namespace = :namespace AND digest IN :keys",
        [(draft.namespace, cast(facts.CheckpointVerified, draft.fact).checkpoint) for draft in drafts],
    )


def _load_records(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load_flags(
        "record",
        "SELECT digest FROM record WHERE namespace = :namespace AND digest IN :keys",
        [(draft.namespace, cast(facts.Revocation, draft.fact).record) for draft in drafts],
    )


def _registration_only_adds(workspace: Workspace, entry: Entry) -> None:
    assert entry.run_id is not None
    view = view_of(workspace, entry.namespace, entry.run_id)
    kept = [each for each in entry.kept if each.kind in IDENTITIES]
    check_unlike(kept)
    if view is None:
        for each in kept:
            flag_identity(workspace, each)
        return
    changed = changed_identity(view, entry)
    if changed:
        raise RunConflict(
            f"run {entry.run_id} was registered with other values of: {', '.join(changed)}; "
            "a later post may only add, a changed run is a new run with an id of its own"
        )
    check_may_change(view)
    for each in kept:
        check_unchanged(workspace, each)


def _run_exists(workspace: Workspace, entry: Entry) -> None:
    if entry.run_id is not None and view_of(workspace, entry.namespace, entry.run_id) is None:
        raise RunNotFound(f"no run {entry.run_id} in this namespace; register it first with POST /v1/runs")


def _result_fits(workspace: Workspace, entry: Entry) -> None:
    _run_exists(workspace, entry)
    contract_rules.check_result(workspace, entry)


def _load_evaluations(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    drafts = list(drafts)
    _load_runs(workspace, drafts)
    evaluation_rules.load_results(workspace, drafts)


def _evaluation_fits(workspace: Workspace, entry: Entry) -> None:
    _run_exists(workspace, entry)
    evaluation_rules.check_result(workspace, entry)


def _checkpoint_exists(workspace: Workspace, entry: Entry) -> None:
    digest = cast(facts.CheckpointVerified, entry.fact).checkpoint
    if ("checkpoint", entry.namespace, digest) not in workspace.flags:
        raise NotFound(f"no checkpoint {digest} in this namespace; record it first on its run")


def _record_exists(workspace: Workspace, entry: Entry) -> None:
    digest = cast(facts.Revocation, entry.fact).record
    if ("record", entry.namespace, digest) not in workspace.flags:
        raise NotFound(f"no record {digest} in this namespace; name the record as answers give it")


def _run_exists_and_content_stays(workspace: Workspace, entry: Entry) -> None:
    _run_exists(workspace, entry)
    check_unchanged(workspace, entry)


def _version_may_be_sealed(workspace: Workspace, entry: Entry) -> None:
    _run_exists_and_content_stays(workspace, entry)
    assert entry.run_id is not None
    view = view_of(workspace, entry.namespace, entry.run_id)
    if view is not None:
        check_may_seal(view)
    check_registration(workspace, entry)


def _load_versions(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    drafts = list(drafts)
    _VERSIONS.load(workspace, drafts)
    load_registrations(workspace, drafts)


def _artifact_may_be_added(workspace: Workspace, entry: Entry) -> None:
    _run_exists_and_content_stays(workspace, entry)
    assert entry.run_id is not None
    view = view_of(workspace, entry.namespace, entry.run_id)
    if view is not None:
        check_may_change(view)


def _of_run(project: Callable[[Workspace, Entry], None]) -> Rule:
    return Rule(project, _load_runs, _run_exists)


def _with_identity(
    kind: str, project: Callable[[Workspace, Entry], None], check: Callable[[Workspace, Entry], None]
) -> Rule:
    def load(workspace: Workspace, drafts: Iterable[Draft]) -> None:
        drafts = list(drafts)
        _load_runs(workspace, drafts)
        load_identities(workspace, kind, [(draft.namespace, draft.run_id, draft.fact) for draft in drafts])

    return Rule(project, load, check)


def _load_saved_checkpoints(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    drafts = list(drafts)
    _CHECKPOINTS.load(workspace, drafts)
    load_roots(workspace, drafts)


_CHECKPOINTS: Final = _with_identity("checkpoint.saved", projections.of_run, _run_exists_and_content_stays)
_VERSIONS: Final = _with_identity("model_version", projections.model_version, _version_may_be_sealed)
_REVIEWED: Final = Rule(gate_projections.reviewed, gate_rules.load_reviews, gate_rules.check_review)
RULES: Final[Mapping[str, Rule]] = {
    "run.registered": Rule(projections.run_registered, _load_registrations, _registration_only_adds),
    "run.event": _of_run(projections.of_run),
    "snapshot": Rule(projections.snapshot, load_snapshots),
    "checkpoint.saved": Rule(
        _CHECKPOINTS.project, _load_saved_checkpoints, _CHECKPOINTS.check, queue_verification
    ),
    "checkpoint.verified": Rule(projections.checkpoint_verified, _load_checkpoints, _checkpoint_exists),
    "artifact": _with_identity("artifact", projections.of_run, _artifact_may_be_added),
    "evaluation.completed": Rule(
        evaluation_projections.evaluation_completed,
        _load_evaluations,
        _evaluation_fits,
        evaluation_rules.queue_statistics,
    ),
    "evaluation.attempted": Rule(evaluation_projections.evaluation_attempted, evaluation_rules.load_attempts),
    "evaluation.abandoned": Rule(
        evaluation_projections.evaluation_abandoned,
        evaluation_rules.load_abandonments,
        evaluation_rules.check_abandonment,
    ),
    "attempts.extended": Rule(
        evaluation_projections.attempts_extended, check=evaluation_rules.check_extension
    ),
    "statistics": Rule(
        evaluation_projections.statistics, evaluation_rules.load_statistics, evaluation_rules.check_statistics
    ),
    "evidence.attested": Rule(evaluation_projections.evidence_attested),
    "model_version": Rule(projections.model_version, _load_versions, _version_may_be_sealed),
    "revocation": Rule(projections.revocation, _load_records, _record_exists),
    "contract.published": Rule(
        contract_projections.contract_published,
        contract_rules.load_publications,
        contract_rules.check_publication,
    ),
    "baseline.published": Rule(contract_projections.baseline_published),
    "baseline.approved": Rule(
        contract_projections.baseline_approved, contract_rules.load_approvals, contract_rules.check_approval
    ),
    "contract.checked": Rule(
        contract_projections.contract_checked, contract_rules.load_results, _result_fits
    ),
    "gate.published": Rule(
        gate_projections.gate_published, gate_rules.load_publications, gate_rules.check_publication
    ),
    "review.requested": _REVIEWED,
    "review.approved": _REVIEWED,
    "review.denied": _REVIEWED,
    "waiver": Rule(gate_projections.waived, gate_rules.load_waivers, gate_rules.check_waiver),
    "break_glass.asked": Rule(gate_projections.break_glass_asked, check=gate_rules.check_break_glass),
    "decision": Rule(gate_projections.decision_made),
    "slo.published": Rule(
        slo_projections.slo_published, slo_rules.load_publications, slo_rules.check_publication
    ),
    "windows.expected": Rule(
        slo_projections.windows_expected, slo_rules.load_expected, slo_rules.check_expected
    ),
    "window.settled": Rule(slo_projections.window_settled, slo_rules.load_settled, slo_rules.check_settled),
    "slo.excluded": Rule(slo_projections.slo_excluded, slo_rules.load_exclusions, slo_rules.check_exclusion),
    "promotion.granted": Rule(promotion_projections.granted, check=promotion_rules.check_grant),
    "promotion": Rule(
        promotion_projections.promoted, promotion_rules.load_promotions, promotion_rules.check_promotion
    ),
    "promotion.failed": Rule(promotion_projections.failed, check=promotion_rules.check_failure),
    "promotion.refused": Rule(promotion_projections.refused),
    "promotion.observed": Rule(promotion_projections.observed),
    "demotion.allowed": Rule(promotion_projections.demotion_allowed),
    "registry.reconciled": Rule(promotion_projections.reconciled),
    "key.created": Rule(projections.nothing),
    "key.revoked": Rule(projections.key_revoked),
    "key.retired": Rule(projections.nothing),
    "log.restored": Rule(projections.nothing),
}
