"""The files behind model versions while one of them is being released: where they lie, what they are, that they stay.

What was hashed before is looked up while the registry's rows are locked; what was not is hashed without that, and the
call made anew.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mlflow.exceptions import MlflowException

from shipworthy.mlflow.hashing import Digests
from shipworthy.mlflow.locating import Place, RegistryStore, Unreadable, digest_of, follow
from shipworthy.mlflow.marks import Mark, Marks
from shipworthy.mlflow.plans import VersionRow
from shipworthy.mlflow.refusals import denied

_CHANGED: Final = "The artifact changed while the gates were asked, so nothing was moved"


class Unhashed(MlflowException):  # type: ignore[misc]  # MLflow has no types.
    """Files that have to be hashed first. One of MLflow's own exceptions: of others it makes an error 500."""

    def __init__(self, place: Place) -> None:
        super().__init__(f"{place.text} was not hashed yet")
        self.place = place


@dataclass(slots=True)
class Found:
    """What one call found out: digests of files that are not of this machine, and what can't be read. `until` ends when
    the registry has committed."""

    until: ExitStack
    known: dict[Place, str | Unreadable] = field(default_factory=dict)
    marked: set[Mark] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a version's files were when the service was asked about them."""

    row: VersionRow
    place: Place
    digest: str


class Artifacts:
    """Of one registry; used by all threads of a server."""

    def __init__(self, store: RegistryStore, marks: Marks) -> None:
        self._store = store
        self._marks = marks
        self._digests = Digests()

    def released(self, row: VersionRow, found: Found) -> Artifact:
        """Nobody writes to the files through this server from now on, until `found` is over. Raises Unreadable, OSError
        when that can't be told to anybody, and Unhashed."""
        place = self._place(row)
        mark = Mark(place.text, str(row.location))
        if mark not in found.marked:
            found.until.enter_context(self._marks.put(mark))
            found.marked.add(mark)
        return Artifact(row, place, self._digest(place, found))

    def present(self, row: VersionRow, found: Found) -> str | None:
        """The digest of what a name holds, None when it can't be read. Raises Unhashed."""
        try:
            return self._digest(self._place(row), found)
        except Unreadable:
            return None

    def hash(self, place: Place, found: Found) -> None:
        """Reads files for as long as it takes; afterwards the two above know them."""
        try:
            digest = digest_of(self._digests, place)
        except Unreadable as error:
            found.known[place] = error
            return
        if not place.is_local:
            found.known[place] = digest

    def require_same(self, artifact: Artifact) -> None:
        """The last look, which also finds whoever began to write before the mark was put. MlflowException when the
        files are others now."""
        try:
            # What a run's artifacts are can change by a logged model of the same name, see locating.py.
            may_move = (artifact.row.location or "").startswith("runs:")
            place = self._place(artifact.row) if may_move else artifact.place
            digest = digest_of(self._digests, place) if place.is_local else artifact.digest
        except Unreadable as error:
            raise denied(f"{_CHANGED}: {error}.") from error
        if (place, digest) != (artifact.place, artifact.digest):
            raise denied(f"{_CHANGED}.")

    def _digest(self, place: Place, found: Found) -> str:
        known = found.known.get(place)
        if isinstance(known, Unreadable):
            raise known
        if known is None and place.is_local:
            known = self._digests.remembered(Path(place.text))
        if known is None:
            raise Unhashed(place)
        return known

    def _place(self, row: VersionRow) -> Place:
        if not row.location:
            raise Unreadable("it has no location")
        return follow(self._store, row.location)
