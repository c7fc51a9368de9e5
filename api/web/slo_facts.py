"""What is promised, and what is left of its budget, as a page lists it. Pure."""

from fractions import Fraction
from typing import Final

from api.web.words import plural
from gates.slo.sentences import percent
from models.slo.reporting import Reported

_ON_MISSING: Final = {
    "breach": "a window counts as missed",
    "unknown": "a window is unknown until it settles, then missed",
    "exclude": "a window is left out of count",
}


def _misses(count: Fraction) -> str:
    return f"{float(count):.4g} {'miss' if count == 1 else 'misses'}"


def facts_of(reported: Reported) -> list[tuple[str, str]]:
    """Label and text; figures as the JSON report has them, rounded for reading."""
    slo, bounds, judged_at = reported.slo, reported.bounds, reported.last_evaluated_at
    definition, status, budget = slo.definition, slo.status, slo.status.budget
    facts = [
        ("Owner", f"team {definition.team}, service {definition.service}"),
        ("Objective", f"{definition.objective}, target {percent(definition.target)}"),
        (
            "Period",
            f"{bounds.start:%Y-%m-%d %H:%M} to {bounds.end:%Y-%m-%d %H:%M} UTC, "
            f"by {bounds.time_zone}{', over' if slo.closed else ''}",
        ),
        (
            "Budget",
            f"{_misses(budget.total)} allowed, {budget.used:,} used, "
            + (
                f"{_misses(-budget.remaining)} too many"
                if budget.remaining < 0
                else f"{float(budget.remaining):.4g} left"
            ),
        ),
        ("Without evidence", _ON_MISSING[definition.on_missing]),
    ]
    if status.low is not None and status.high is not None:
        facts.append(
            (
                "Kept",
                f"{float(status.low):.2%} to {float(status.high):.2%}, by what is unknown or pending".replace(
                    "%", " %"
                ),
            )
        )
    if status.coverage is not None:
        facts.append(("Known", f"{float(status.coverage):.2%} of what was judged".replace("%", " %")))
    facts += [
        (
            "Source",
            f"{source.name}, {'alive' if source.alive else 'silent'}"
            + (
                f", last seen {source.last_seen:%Y-%m-%d %H:%M:%S} UTC"
                if source.last_seen
                else ", never seen"
            )
            + (f", {plural(len(source.gaps), 'gap')} in the period" if source.gaps else ""),
        )
        for source in reported.sources
    ]
    if judged_at is not None:
        facts.append(("Judged", f"{judged_at:%Y-%m-%d %H:%M:%S} UTC"))
    return facts
