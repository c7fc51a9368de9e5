"""The last look before a session commits: nothing that is protected changed without a plan that permits it.

The methods of the store plan what they do; this holds also for a method that nobody planned for.
"""

from collections.abc import Iterable

from shipworthy.mlflow.plans import Change, Plan
from shipworthy.mlflow.protections import Protections, Standing


def unguarded(changes: Iterable[Change], protections: Protections, plan: Plan | None) -> Change | None:
    """The first change that needs a decision and has none."""
    permits = frozenset() if plan is None else plan.permits
    return next((each for each in changes if each not in permits and _is_guarded(each, protections)), None)


def _is_guarded(change: Change, protections: Protections) -> bool:
    match change.what:
        case "alias":
            standing = protections.standing(change.key)
            return standing is Standing.PROTECTED or (
                standing is Standing.LOOKALIKE and change.value is not None
            )
        case "stage":
            touched = (change.before, change.value)
            return None in touched or any(protections.protects_stage(stage) for stage in touched if stage)
        case "registered":
            return protections.gates_registration(change.model)
        case _:
            return True  # Deleting, renaming and rewriting go by a plan of their own or not at all.
