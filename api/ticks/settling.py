"""What became of windows: a round that looks at what came since the last one, and at what is due.

One process does it for all, under a lease in the database. What it expects has a natural key, and an outcome says
which revision it is, so that two processes that both believe to hold the lease make one history all the same.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from sqlalchemy import Connection

from api.keeping import is_kept
from api.ticks.appending import append_bodies, append_outcomes
from api.ticks.noticing import Named, days_of, seen_windows
from api.ticks.windows import write_ahead
from models.blobs import BlobStore
from models.database import Database
from models.ledger.head import read_head
from models.ledger.writer import Ledger
from models.lineage.question import position_at
from models.slo.current import current_slos
from models.slo.definitions import Published, slo_at
from models.slo.evidence_reports import reports_due
from models.slo.expecting import looked_back
from models.slo.judging import judge_windows
from models.slo.leases import acquire, lease_state, release, renew
from models.slo.left_out import exclusions_of
from models.slo.stored import StoredWindow, due_windows
from models.slo.touched import Touched, read_touched, with_revoked
from models.slo.touching import touched_windows

LEASE: Final = "windows"
LASTS: Final = timedelta(seconds=60)
"""After so long another process takes over from one that was killed; a round renews it as it goes on."""
MAX_RECORDS: Final = 2_000
"""New records that are looked at together."""
MAX_WINDOWS: Final = 2_000
"""Windows that are judged together: what is held in memory, however many there are."""

log = structlog.get_logger("shipworthy.ticks")


class LeaseLost(Exception):
    """Another process goes on with the round."""


@dataclass(frozen=True)
class WindowTick:
    """To be called every so often with the time, in any number of processes."""

    database: Database
    ledger: Ledger
    blobs: BlobStore
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)
    lasts: timedelta = LASTS

    def __call__(self, now: datetime) -> int:
        """How many outcomes this call recorded; 0 as well when another process has the lease."""
        with self.database.connection() as connection:
            if not acquire(connection, LEASE, self.holder, now, self.lasts):
                return 0
        try:
            write_ahead(self.database, self.ledger, now)
            self._look_back(now)
            self._watch_live_runs(now)
            return self._follow_log(now) + self._judge_due(now)
        except LeaseLost:
            log.info("tick.lease_lost", holder=self.holder)
            return 0

    def close(self) -> None:
        """Lets another process go on at once."""
        with self.database.connection() as connection:
            release(connection, LEASE, self.holder)

    def _keep(self, now: datetime, *, cursor: int | None = None, done: bool = False) -> None:
        with self.database.connection() as connection:
            if not renew(connection, LEASE, self.holder, now, self.lasts, cursor=cursor, done=done):
                raise LeaseLost

    def _follow_log(self, now: datetime) -> int:
        """Events, evidence and exclusions among the records that came since the last round."""
        settled = 0
        while True:
            with self.database.read() as session:
                connection = session.connection()
                cursor, upto = lease_state(connection, LEASE).cursor, _last_position(connection)
                slos = _by_namespace(current_slos(connection))
                touched = read_touched(connection, cursor, upto, MAX_RECORDS, list(slos)) if slos else []
            reached = touched[-1].position if len(touched) == MAX_RECORDS else upto
            for namespace, records in _by_namespace(touched).items():
                settled += self._follow(namespace, slos[namespace], records, now)
            self._keep(now, cursor=reached)
            if reached >= upto:
                return settled

    def _follow(
        self, namespace: str, slos: Sequence[Published], records: Sequence[Touched], now: datetime
    ) -> int:
        with self.database.read() as session:
            connection = session.connection()
            records = with_revoked(connection, namespace, records)
            expected = seen_windows(connection, slos, records, now)
        append_bodies(self.ledger, "windows.expected", expected)
        with self.database.read() as session:
            windows = touched_windows(session.connection(), namespace, slos, records)
        return self._judge(windows, now)

    def _look_back(self, now: datetime) -> None:
        """Events from before an SLO was published that count for it, once."""
        with self.database.read() as session:
            new = [
                each
                for each in current_slos(session.connection())
                if each.definition.expect is None and each.expected_until is None
            ]
        for published in new:
            if published.since < published.first_at:
                self._backfill(published, now)
            append_bodies(self.ledger, "windows.expected", [(published.namespace, looked_back(published))])

    def _backfill(self, published: Published, now: datetime) -> None:
        with self.database.read() as session:
            after = position_at(session.connection(), published.since)
            upto = _last_position(session.connection())
        while True:
            with self.database.read() as session:
                connection = session.connection()
                records = read_touched(connection, after, upto, MAX_RECORDS, [published.namespace])
                expected = seen_windows(connection, [published], records, now)
            append_bodies(self.ledger, "windows.expected", expected)
            if len(records) < MAX_RECORDS:
                return
            after = records[-1].position
            self._keep(now)

    def _watch_live_runs(self, now: datetime) -> None:
        """A day of a live run begins without anybody's saying so."""
        with self.database.read() as session:
            connection = session.connection()
            bodies: Named = []
            for published in current_slos(connection):
                if published.definition.objective == "freshness":
                    bodies += days_of(connection, published, None, now)
        append_bodies(self.ledger, "windows.expected", bodies)

    def _judge_due(self, now: datetime) -> int:
        settled, after = 0, None
        while True:
            with self.database.read() as session:
                windows = due_windows(session.connection(), now, after, MAX_WINDOWS)
            settled += self._judge(windows, now)
            self._keep(now, done=len(windows) < MAX_WINDOWS)
            if len(windows) < MAX_WINDOWS:
                return settled
            after = (windows[-1].namespace, windows[-1].slo, windows[-1].id)

    def _judge(self, windows: Sequence[StoredWindow], now: datetime) -> int:
        """Outcomes that are others than before, recorded: of all SLOs together, since each commit waits for a disk."""
        settled = 0
        for start in range(0, len(windows), MAX_WINDOWS):
            by_version: dict[tuple[str, str, int], list[StoredWindow]] = defaultdict(list)
            for window in windows[start : start + MAX_WINDOWS]:
                by_version[window.namespace, window.slo, window.version].append(window)
            with self.database.read() as session:
                published = _versions(session.connection(), by_version)
            kept = {key: self._kept(published[key], group) for key, group in by_version.items()}
            with self.database.read() as session:
                connection = session.connection()
                left_out = {
                    namespace: exclusions_of(connection, namespace, sorted({each.slo for each in listed}))
                    for namespace, listed in _by_namespace(windows[start : start + MAX_WINDOWS]).items()
                }
                bodies = [
                    (namespace, body)
                    for (namespace, slo, version), group in by_version.items()
                    for body in judge_windows(
                        connection,
                        published[namespace, slo, version],
                        group,
                        kept[namespace, slo, version],
                        left_out[namespace].get(slo, ()),
                        now,
                    )
                ]
            settled += append_outcomes(self.ledger, bodies)
        return settled

    def _kept(self, published: Published, windows: Sequence[StoredWindow]) -> frozenset[str]:
        """Reports that are there, whole: read outside of any transaction, since that takes as long as it takes."""
        if published.definition.objective != "retention":
            return frozenset()
        with self.database.read() as session:
            due = reports_due(session.connection(), published, windows)
        return frozenset(digest for digest in due if is_kept(self.blobs, published.namespace, digest))


def _versions(
    connection: Connection, wanted: Iterable[tuple[str, str, int]]
) -> dict[tuple[str, str, int], Published]:
    """Those of these versions, most of which are the current ones: read together."""
    keys = list(wanted)
    found = {
        (each.namespace, each.name, each.version): each
        for namespace in sorted({namespace for namespace, _, _ in keys})
        for each in current_slos(connection, namespace)
    }
    return {key: found[key] if key in found else slo_at(connection, *key) for key in keys}


def _by_namespace(each: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for one in each:
        found[one.namespace].append(one)
    return found


def _last_position(connection: Connection) -> int:
    head = read_head(connection)
    return -1 if head is None else head.size - 1
