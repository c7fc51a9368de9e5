"""What the database holds of many SLOs over one span, asked in one statement.

Each fact is a text that the database put together: a report compares it with what it made an entry of before, where
rows would have to be taken apart first. `sums.py`, `listed.py` and `left_out.py` say what is asked and read the texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection

from gates.slo.zones import zone
from models.bulk import select_among
from models.columns import UTCDateTime, read_instant
from models.slo.left_out import EXCLUDED
from models.slo.listed import CORRECTED, MAX_CORRECTIONS, MAX_MISSES, MAX_SHOWN, MISSED, SHOWN
from models.slo.rules import MAX_EXCLUSIONS
from models.slo.sums import OF_MONTHS, Span, of_windows

LEASE: Final = "windows"
_DONE: Final = "SELECT '' AS slo, CAST(done_at AS text) AS said FROM tick_lease WHERE name = :lease"
_INSTANT: Final = UTCDateTime()
_PARTS: Final = {"missed": MISSED, "corrected": CORRECTED, "excluded": EXCLUDED, "shown": SHOWN}
_Edges = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Texts by the name of the SLO; one of which there is nothing is left out. `sums` are figures to be added up,
    `shown` the inside of a JSON list of windows. `done_at`: when windows were judged last, whoever did it."""

    sums: Mapping[str, str]
    missed: Mapping[str, str]
    corrected: Mapping[str, str]
    excluded: Mapping[str, str]
    shown: Mapping[str, str]
    done_at: datetime | None


def held_over(
    connection: Connection, namespace: str, names: Sequence[str], span: Span, *, with_windows: bool
) -> Held:
    """`with_windows`: also the documents of the latest windows, most of what there is to read."""
    times = {"start": span.start, "end": span.end}
    given: dict[str, Any] = {"lease": LEASE, "missed": MAX_MISSES, "corrected": MAX_CORRECTIONS}
    given |= {"excluded": MAX_EXCLUSIONS * len(names), "shown": MAX_SHOWN}
    edges: _Edges = (("start", "end"),)
    if span.months is not None and span.time_zone is not None:
        first, last = span.months
        times |= {"first": first, "last": last}
        where = zone(span.time_zone)
        given["month"] = first.astimezone(where).strftime("%Y-%m")
        given["until_month"] = last.astimezone(where).strftime("%Y-%m")
        edges = tuple(
            (one, other) for one, other in (("start", "first"), ("last", "end")) if times[one] < times[other]
        )
    given |= {name: _INSTANT.process_bind_param(when, connection.dialect) for name, when in times.items()}
    query = _statement(connection.dialect.name, "month" in given, edges, with_windows)
    texts: dict[str, dict[str, str]] = {part: {} for part in ("sums", *_PARTS, "done")}
    for part, slo, said in select_among(connection, query, namespace, names, **given):
        if said is not None:
            of_part = texts[part]
            # SQLite gives a row for each thing, PostgreSQL all of one SLO at once.
            of_part[slo] = f"{of_part[slo]},{said}" if slo in of_part else said
    done_at = texts.pop("done").get("")
    return Held(**texts, done_at=None if done_at is None else read_instant(done_at))


@cache
def _statement(dialect: str, has_months: bool, edges: _Edges, with_windows: bool) -> str:
    """Rows (what, SLO, text)."""
    parts = [("sums", OF_MONTHS)] if has_months else []
    parts += [("sums", of_windows(start, end)) for start, end in edges]
    parts += [(what, each[dialect]) for what, each in _PARTS.items() if what != "shown" or with_windows]
    parts.append(("done", _DONE))
    return " UNION ALL ".join(
        f"SELECT '{what}' AS part, slo, said FROM ({query}) AS part_{number}"
        for number, (what, query) in enumerate(parts)
    )
