"""Kinds of SLOs: definitions, the windows that they expect, and what is left out."""

from typing import Final

from models.actor import Role
from models.kinds import slos
from models.kinds.kind import SERVER_ONLY, Kind


def _slo_subject(fact: slos.WindowsExpected | slos.Exclusion, run_id: str | None) -> str:
    return f"slo:{fact.slo}"


def _slo_named(fact: slos.SloPublished, run_id: str | None) -> str:
    return f"slo:{fact.name}"


SLOS: Final = (
    Kind(
        "slo.published",
        slos.SloPublished,
        frozenset({Role.AUTHOR}),
        _slo_named,
        key=lambda fact, _: f"{fact.name}|{fact.version}",
        own_call="PUT /v1/slos/{name}",
    ),
    Kind(
        "windows.expected",
        slos.WindowsExpected,
        SERVER_ONLY,
        _slo_subject,
        key=lambda fact, _: f"{fact.slo}|{fact.version}|{fact.chunk}",
    ),
    Kind(
        "window.settled",
        slos.WindowsSettled,
        SERVER_ONLY,
        lambda fact, _: f"window:{fact.windows[0].window}",
    ),
    Kind(
        "slo.excluded",
        slos.SloExcluded,
        frozenset({Role.APPROVER}),
        _slo_subject,
        own_call="POST /v1/slos/{name}/exclusions",
        personal=True,
    ),
)
