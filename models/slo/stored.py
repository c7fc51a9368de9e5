"""Windows as they are stored, and as the judging code takes them."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, select
from sqlmodel import col

from gates.slo.revisions import Settled
from gates.slo.schedules import ExpectedWindow, Interval
from gates.slo.windows import WindowOutcome
from models.bulk import as_asked, sql_table
from models.columns import UTCDateTime, instant
from models.errors import NotFound
from models.slo.tables import SloWindow
from shipworthy.formats.times import parse_instant

WINDOW_NOT_FOUND: Final = (
    "no window of this SLO has this id in this namespace; list them with GET /v1/slos/{name}/windows"
)
_NAMES: Final = (
    "namespace",
    "id",
    "slo",
    "version",
    "opens_at",
    "deadline_at",
    "due_at",
    "deadline_local",
    "interval_start",
    "interval_end",
    "holidays",
    "tzdata",
    "run_id",
    "about",
    "status",
    "predicted",
    "revision",
    "good",
    "bad",
    "unsure",
    "look_at",
    "expected",
    "expected_position",
    "document",
)
_COLUMNS: Final = tuple(sql_table(SloWindow).columns[name] for name in _NAMES)
_INSTANTS: Final = frozenset(each.name for each in _COLUMNS if isinstance(each.type, UTCDateTime))
_KEY: Final = ("namespace", "slo", "id")
# As text: ten thousand windows that fall due together are read through no type's converter.
_READ: Final = ", ".join((*_NAMES[:-1], "CASE WHEN status = 'pending' THEN '' ELSE document END"))
_DUE_WHERE: Final = f"SELECT {_READ} FROM slo_window WHERE look_at <= :now"
_IN_ORDER: Final = f" ORDER BY {', '.join(_KEY)} LIMIT :most"
_DUE: Final = _DUE_WHERE + _IN_ORDER
_DUE_AFTER: Final = (
    f"{_DUE_WHERE} AND ({', '.join(_KEY)}) > ({', '.join(f':{name}' for name in _KEY)}){_IN_ORDER}"
)


@dataclass(frozen=True)
class StoredWindow:
    """One row; the fields are its columns."""

    namespace: str
    id: str
    slo: str
    version: int
    opens_at: datetime
    deadline_at: datetime
    due_at: datetime
    deadline_local: str
    interval_start: datetime | None
    interval_end: datetime | None
    holidays: str | None
    tzdata: str | None
    run_id: str | None
    about: str | None
    status: str
    predicted: int
    revision: int
    good: int
    bad: int
    unsure: int
    look_at: datetime | None
    expected: str
    expected_position: int
    document: str

    @cached_property
    def interval(self) -> Interval:
        """The data that it is about; of a window without any, the time that it lasts."""
        if self.interval_start is None or self.interval_end is None:
            return Interval(self.opens_at, self.deadline_at)
        return Interval(self.interval_start, self.interval_end)

    @property
    def window(self) -> ExpectedWindow:
        return ExpectedWindow(
            id=self.id,
            opens_at=self.opens_at,
            deadline_utc=self.deadline_at,
            deadline_local=self.deadline_local,
            data_interval=self.interval,
            holidays_version=self.holidays or "",
            tzdata_version=self.tzdata or "",
        )

    @cached_property
    def shown(self) -> Mapping[str, Any]:
        """The window as reports show it."""
        document: dict[str, Any] = json.loads(self.document)
        return document

    @property
    def settled(self) -> Settled | None:
        """Its last revision; None as long as it is pending, even when a breach is foreseen."""
        if self.status == "pending":
            return None
        shown = self.shown
        outcome = WindowOutcome(
            status=shown["status"],
            reason=shown["reason"],
            lateness_s=shown["lateness_s"],
            cause=shown["cause"],
            evidence=tuple(shown["evidence"]),
            run_ids=tuple(shown["run_ids"]),
            predicted=shown["predicted"],
        )
        return Settled(self.revision, outcome, parse_instant(shown["judged_at"]), shown["restated"])


def windows_where(
    connection: Connection, *conditions: ColumnElement[bool], limit: int, newest_first: bool = False
) -> list[StoredWindow]:
    """Windows in the order of their deadlines."""
    deadline, id = col(SloWindow.deadline_at), col(SloWindow.id)
    order = (deadline.desc(), id.desc()) if newest_first else (deadline, id)
    query = select(*_COLUMNS).where(*conditions).order_by(*order).limit(limit)
    return [StoredWindow(*row) for row in connection.execute(query)]


def due_windows(
    connection: Connection, now: datetime, after: tuple[str, str, str] | None, limit: int
) -> list[StoredWindow]:
    """What time alone may change by now, those of one SLO together; behind the one with namespace, SLO and id `after`:
    what could not be judged is not asked for again in the same round. Of one that is pending no document is read: it
    says nothing yet."""
    given: dict[str, Any] = {
        "now": UTCDateTime().process_bind_param(now, connection.dialect),
        "most": limit,
    }
    if after is not None:
        given |= dict(zip(_KEY, after, strict=True))
    query = as_asked(_DUE_AFTER if after is not None else _DUE, connection.dialect.name)
    rows = connection.exec_driver_sql(query, given).all()
    if connection.dialect.name == "sqlite":
        return [StoredWindow(*map(_read, _NAMES, row)) for row in rows]
    return [StoredWindow(*row) for row in rows]


def _read(name: str, value: Any) -> Any:  # noqa: ANN401 - a column's value as the driver gives it, and as it is meant
    return instant(value) if name in _INSTANTS else value


def known_ids(connection: Connection, namespace: str, ids: Collection[str]) -> frozenset[str]:
    """Those of these ids that windows have."""
    query = select(col(SloWindow.id)).where(col(SloWindow.namespace) == namespace, col(SloWindow.id).in_(ids))
    return frozenset(connection.execute(query).scalars()) if ids else frozenset()


def windows_named(connection: Connection, namespace: str, ids: Collection[str]) -> list[StoredWindow]:
    """Those of these ids that are stored."""
    query = select(*_COLUMNS).where(col(SloWindow.namespace) == namespace, col(SloWindow.id).in_(ids))
    return [StoredWindow(*row) for row in connection.execute(query)] if ids else []


def get_window(connection: Connection, namespace: str, slo: str, id: str) -> StoredWindow:
    """By its whole id, or by what follows the SLO's name in it. Raises NotFound."""
    for candidate in (id, f"{slo}/{id}"):
        for found in windows_named(connection, namespace, [candidate]):
            if found.slo == slo:
                return found
    raise NotFound(WINDOW_NOT_FOUND)
