"""What a record adds to the sums of windows by SLO and month."""

from collections import Counter, defaultdict
from typing import Final

from models.bulk import Row
from models.ledger.workspace import Workspace
from models.slo import tables

_COUNTED: Final = ("pending", "met", "met_in_grace", "breached", "unknown", "excluded")
_WEIGHTS: Final = ("predicted", "good", "bad", "unsure")


class MonthSums:
    """What one record adds to the sums of months: gathered, since its windows are of few months."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._added: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def move(self, workspace: Workspace, before: Row | None, after: Row) -> None:
        """Puts a window's row and takes its counts from where it stood to where it stands."""
        workspace.put(tables.SloWindow, after)
        if before is not None:
            self._count(before, -1)
        self._count(after, +1)

    def _count(self, window: Row, sign: int) -> None:
        added = self._added[window["slo"], window["day"][:7]]
        if window["status"] in _COUNTED:
            added[window["status"]] += sign
        for name in _WEIGHTS:
            if window[name]:
                added[name] += sign * window[name]

    def write(self, workspace: Workspace) -> None:
        for (slo, month), added in self._added.items():
            id = f"{slo}/{month}"
            own = {"namespace": self._namespace, "id": id, "slo": slo, "month": month}
            known = workspace.get(tables.SloMonth, self._namespace, id) or {}
            sums = {name: known.get(name, 0) + added[name] for name in (*_COUNTED, *_WEIGHTS)}
            workspace.put(tables.SloMonth, own | sums)
