"""Expected windows, written down ahead of time: a miss has no event of its own."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from api.ticks.appending import append_bodies
from gates.slo.definition import WINDOWED
from models.database import Database
from models.ledger.writer import Ledger
from models.slo.current import current_slos
from models.slo.definitions import Current
from models.slo.expecting import calendar_bodies, withdrawal_bodies


def write_ahead(database: Database, ledger: Ledger, now: datetime) -> int:
    """How many records of expected windows this call made: of each SLO from where it is written down to its horizon."""
    with database.read() as session:
        slos = [each for each in current_slos(session.connection()) if _has_calendar(each)]
        withdrawn = [
            (each.namespace, body) for each in slos for body in withdrawal_bodies(session.connection(), each)
        ]
    # First, so that what the new version expects again under the same id comes after.
    made = append_bodies(ledger, "windows.expected", withdrawn)
    return made + append_bodies(ledger, "windows.expected", _coming(slos, now))


def _has_calendar(published: Current) -> bool:
    return published.definition.objective in WINDOWED


def _coming(slos: Sequence[Current], now: datetime) -> Iterator[tuple[str, dict[str, Any]]]:
    for published in slos:
        for body in calendar_bodies(published, now):
            yield published.namespace, body
