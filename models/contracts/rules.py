"""What is read ahead and refused under the log lock for records about contracts."""

import json
from collections.abc import Iterable
from typing import cast

from models.contracts import tables
from models.errors import ContractMoved, InvalidInput, NotFound, SeparationOfDuties
from models.errors import FieldProblem as Problem
from models.kinds import contracts as kinds
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage.tables import Run

_BASELINES = "SELECT digest FROM baseline WHERE namespace = :namespace AND digest IN :keys"


def load_publications(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    named = [(draft.namespace, cast(kinds.ContractPublished, draft.fact)) for draft in drafts]
    workspace.load(tables.Contract, "name", [(namespace, fact.name) for namespace, fact in named])
    pinned = [(namespace, fact.baseline) for namespace, fact in named if fact.baseline is not None]
    workspace.load_flags("baseline", _BASELINES, pinned)


def check_publication(workspace: Workspace, entry: Entry) -> None:
    """Raises ContractMoved when somebody published a version meanwhile, InvalidInput for a baseline that is not
    there."""
    fact = cast(kinds.ContractPublished, entry.fact)
    current = workspace.get(tables.Contract, entry.namespace, fact.name)
    following = 1 if current is None else current["version"] + 1
    if fact.version != following:
        raise ContractMoved(
            f"contract {fact.name} has version {following - 1} by now, this would be {fact.version}; publish again"
        )
    if fact.baseline is not None and ("baseline", entry.namespace, fact.baseline) not in workspace.flags:
        message = f"pins baseline {fact.baseline}, which this namespace does not have; make it with POST /v1/baselines"
        raise InvalidInput(f"the contract {message}", problems=[Problem("", message)])


def load_approvals(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    workspace.load(
        tables.Baseline,
        "digest",
        [(draft.namespace, cast(kinds.BaselineApproved, draft.fact).baseline) for draft in drafts],
    )


def check_approval(workspace: Workspace, entry: Entry) -> None:
    """Separation of duties compares owning persons; who is not known satisfies nothing."""
    digest = cast(kinds.BaselineApproved, entry.fact).baseline
    baseline = workspace.get(tables.Baseline, entry.namespace, digest)
    if baseline is None:
        raise NotFound("no baseline with this digest in this namespace; make one with POST /v1/baselines")
    if baseline["owner"] is None:
        raise SeparationOfDuties(
            "the baseline was asked for by a key that names no person, so nobody can be shown to be another one; "
            "make it again with a key that has an owner (keys create --role author --owner ADDRESS)"
        )
    if entry.owner is None or entry.owner == baseline["owner"]:
        raise SeparationOfDuties(
            "the baseline was asked for by the person who would approve it; somebody else has to"
        )


def load_results(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    drafts = list(drafts)
    workspace.load(
        tables.Contract,
        "name",
        [(draft.namespace, cast(kinds.ContractChecked, draft.fact).contract.name) for draft in drafts],
    )
    workspace.load(Run, "run_id", [(draft.namespace, draft.run_id) for draft in drafts if draft.run_id])


def check_result(workspace: Workspace, entry: Entry) -> None:
    """Raises NotFound for a contract that is not there, ContractMoved when the result is about another suite or
    baseline than the contract has now, InvalidInput when it leaves checks out."""
    fact = cast(kinds.ContractChecked, entry.fact)
    named = fact.contract
    current = workspace.get(tables.Contract, entry.namespace, named.name)
    if current is None:
        raise NotFound(f"no contract {named.name} in this namespace; publish it with PUT /v1/contracts")
    for what, found, wanted in (
        ("version", named.version, current["version"]),
        ("digest", named.digest, current["digest"]),
        ("suite_digest", named.suite_digest, current["suite_digest"]),
        ("baseline", fact.baseline, current["baseline"]),
    ):
        if found != wanted:
            raise ContractMoved(
                f"the result is about {what} {found} of contract {named.name}, which has {wanted} now; "
                "check the data again"
            )
    counted = [each for each in json.loads(current["objects"]) if each["name"] == fact.object]
    if not counted:
        raise InvalidInput(
            f"contract {named.name} version {named.version} has no object of this name",
            problems=[Problem("/object", "is no object of the contract")],
        )
    if fact.outcome is not kinds.Outcome.ERROR and fact.counts.total < counted[0]["checks"]:
        message = f"counts {fact.counts.total} checks, the suite has {counted[0]['checks']}; give every one"
        raise InvalidInput(f"the result {message}", problems=[Problem("/counts", message)])
    needed = max(1, counted[0]["blocking"])
    if fact.outcome is kinds.Outcome.PASSED and fact.counts.passed < needed:
        message = f"says passed, but only {fact.counts.passed} checks did, and {needed} of the suite's block"
        raise InvalidInput(f"the result {message}", problems=[Problem("/outcome", message)])
    if fact.outcome is kinds.Outcome.PASSED and counted[0].get("unjudged", 0):
        message = (
            f"says passed, but {counted[0]['unjudged']} blocking rules of the contract are not evaluated; "
            "GET /v1/contracts/{name}/compiled lists them"
        )
        raise InvalidInput(f"the result {message}", problems=[Problem("/outcome", message)])
