"""The work that an attempt sets off: what is asked of a worker, and what the worker's result must agree with."""

import json
from collections.abc import Mapping
from typing import Any, Final

from models.errors import FieldProblem, InvalidInput
from models.kinds.statistics import Statistics
from models.work.states import WorkItem

_SEED_HEX: Final = 8


def work_key(attempt: str) -> str:
    """Under which key the work that closed an attempt is found. It has a space, which no client's key can have."""
    return f"statistics {attempt}"


def work_request(
    attempt: str, incumbent: str | None, rests_on: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    """What is asked. Which evaluations that is, `rests_on`, is found out at each claim, so that an incumbent which was
    measured meanwhile is compared with."""
    return {"attempt": attempt, "incumbent": incumbent, "rests_on": rests_on}


def seed_of(attempt: str) -> int:
    """The seed of whatever is drawn at random: 32 bits of the attempt's id, which nobody chooses."""
    return int(attempt.removeprefix("sha256:")[:_SEED_HEX], 16)


def check_answers(item: WorkItem, fact: Statistics) -> None:
    """Raises InvalidInput when a result is not about what was claimed: another attempt, incumbent, seed or other
    evaluations."""
    asked = json.loads(item.request)
    rests_on = asked["rests_on"] or {}
    wanted: dict[str, Any] = {
        "attempt": asked["attempt"],
        "incumbent": asked["incumbent"],
        "evaluations": rests_on.get("evaluations"),
        "incumbent_evaluations": rests_on.get("incumbent_evaluations"),
        "seed": seed_of(asked["attempt"]),
    }
    problems = [
        FieldProblem(f"/result/{name}", "must be that of the work that was claimed")
        for name, value in wanted.items()
        if getattr(fact, name) != value
    ]
    if problems:
        raise InvalidInput(f"{problems[0].field} {problems[0].message}", problems=problems)
