"""What is read ahead and refused under the log lock for records about SLOs."""

import json
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Final, cast

from sqlalchemy import select
from sqlmodel import col

from models.bulk import Row, sql_table
from models.errors import Conflict, FieldProblem, InvalidInput, NotFound, SloMoved
from models.fields import instant_text
from models.kinds import slos as kinds
from models.ledger.drafts import Draft
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.slo import tables
from models.slo.revoked import not_revoked

SLO_NOT_FOUND: Final = "no SLO of this name in this namespace; list them with GET /v1/slos"
MAX_EXCLUSIONS: Final = 1_000
"""Of one SLO; what is left out that often is no promise."""
_NAMED: Final = ("namespace", "slo", "starts_at", "ends_at", "windows", "record")


def load_publications(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    facts = [(draft.namespace, cast(kinds.SloPublished, draft.fact).name) for draft in drafts]
    workspace.load(tables.Slo, "name", facts)


def check_publication(workspace: Workspace, entry: Entry) -> None:
    """Raises SloMoved when somebody published a version meanwhile."""
    fact = cast(kinds.SloPublished, entry.fact)
    current = workspace.get(tables.Slo, entry.namespace, fact.name)
    wanted = 1 if current is None else current["version"] + 1
    if fact.version != wanted:
        raise SloMoved(f"SLO {fact.name} was published by somebody else at the same moment; send it again")


def load_expected(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    facts = [(draft.namespace, cast(kinds.WindowsExpected, draft.fact)) for draft in drafts]
    workspace.load(tables.Slo, "name", [(namespace, fact.slo) for namespace, fact in facts])
    workspace.load(
        tables.SloWindow,
        "id",
        [
            (namespace, id)
            for namespace, fact in facts
            for id in (*fact.withdrawn, *(window.id for window in fact.windows))
        ],
    )
    months = [
        (namespace, f"{fact.slo}/{window.day[:7]}") for namespace, fact in facts for window in fact.windows
    ]
    workspace.load(tables.SloMonth, "id", months)


def check_expected(workspace: Workspace, entry: Entry) -> None:
    """Raises SloMoved when the definition has a later version by now."""
    fact = cast(kinds.WindowsExpected, entry.fact)
    current = workspace.get(tables.Slo, entry.namespace, fact.slo)
    if current is None or current["version"] != fact.version:
        raise SloMoved(f"SLO {fact.slo} has another version than {fact.version} by now")


def load_settled(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    facts = [(draft.namespace, cast(kinds.WindowsSettled, draft.fact)) for draft in drafts]
    named = [(namespace, each.window) for namespace, fact in facts for each in fact.windows]
    workspace.load(tables.SloWindow, "id", named)
    workspace.afterwards(partial(_load_months, workspace, named))


def _load_months(workspace: Workspace, windows: Iterable[tuple[str, str]]) -> None:
    found = {(namespace, id): workspace.get(tables.SloWindow, namespace, id) for namespace, id in windows}
    months = {(key[0], f"{row['slo']}/{row['day'][:7]}") for key, row in found.items() if row is not None}
    workspace.load(tables.SloMonth, "id", months)


def check_settled(workspace: Workspace, entry: Entry) -> None:
    """Raises Conflict unless each is the next revision of a window that is expected."""
    for each in cast(kinds.WindowsSettled, entry.fact).windows:
        row = workspace.get(tables.SloWindow, entry.namespace, each.window)
        if row is None or row["revision"] + 1 != each.revision or row["version"] != each.version:
            raise Conflict(f"window {each.window} was judged by another process, or is expected no longer")


def load_exclusions(workspace: Workspace, drafts: Iterable[Draft]) -> None:
    facts = [(draft.namespace, cast(kinds.SloExcluded, draft.fact)) for draft in drafts]
    workspace.load(tables.Slo, "name", [(namespace, fact.slo) for namespace, fact in facts])
    named = [(namespace, id) for namespace, fact in facts for id in fact.windows or ()]
    workspace.load(tables.SloWindow, "id", named)


def check_exclusion(workspace: Workspace, entry: Entry) -> None:
    """Raises NotFound for an unknown SLO, InvalidInput for unknown windows, for what is left out already, and for too
    many exclusions."""
    fact = cast(kinds.SloExcluded, entry.fact)
    if workspace.get(tables.Slo, entry.namespace, fact.slo) is None:
        raise NotFound(SLO_NOT_FOUND)
    for index, id in enumerate(fact.windows or ()):
        row = workspace.get(tables.SloWindow, entry.namespace, id)
        if row is None or row["slo"] != fact.slo:
            raise _refused(
                f"/windows/{index}", "is no window of this SLO; GET /v1/slos/{name}/windows lists them"
            )
    others = _exclusions(workspace, entry.namespace, fact.slo)
    if len(others) >= MAX_EXCLUSIONS:
        raise _refused(
            "/slo",
            f"has {MAX_EXCLUSIONS} exclusions; publish a definition that does not expect these windows",
        )
    for other in others:
        _check_apart(workspace, fact, other)


def _exclusions(workspace: Workspace, namespace: str, slo: str) -> list[Row]:
    """Those in force: one that was taken back leaves its windows free for another."""
    columns = sql_table(tables.SloExclusion).columns
    query = (
        select(*(columns[name] for name in _NAMED))
        .where(
            col(tables.SloExclusion.namespace) == namespace,
            col(tables.SloExclusion.slo) == slo,
            not_revoked(namespace, col(tables.SloExclusion.record)),
        )
        .limit(MAX_EXCLUSIONS + 1)
    )
    found: list[Row] = [dict(row) for row in workspace.connection.execute(query).mappings()]
    found += [
        row
        for row in workspace.pending(tables.SloExclusion)
        if (row["namespace"], row["slo"]) == (namespace, slo)
    ]
    return found


def _check_apart(workspace: Workspace, fact: kinds.SloExcluded, other: Row) -> None:
    """Raises InvalidInput where both leave out the same: one window has one reason."""
    record, starts, ends = other["record"], other["starts_at"], other["ends_at"]
    named = [] if other["windows"] is None else json.loads(other["windows"])
    for index, id in enumerate(fact.windows or ()):
        if id in named or (starts is not None and _overlaps(workspace, other["namespace"], id, starts, ends)):
            raise _refused(f"/windows/{index}", f"is left out already by exclusion {record}")
    if fact.from_ is None or fact.to is None:
        return
    if starts is not None and fact.from_ < ends and starts < fact.to:
        raise _refused(
            "/from",
            f"overlaps exclusion {record}, which lasts from {instant_text(starts)} to {instant_text(ends)}; leave that "
            "time out of this one",
        )
    for id in named:
        if _overlaps(workspace, other["namespace"], id, fact.from_, fact.to):
            raise _refused("/from", f"holds window {id}, which exclusion {record} leaves out already")


def _overlaps(workspace: Workspace, namespace: str, id: str, starts: datetime, ends: datetime) -> bool:
    """Whether a window lies in a time, as exclusions are judged: any part of it from its opening to its deadline."""
    row = workspace.get(tables.SloWindow, namespace, id)
    return row is not None and row["opens_at"] < ends and starts < row["deadline_at"]


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(f"{field} {message}", problems=[FieldProblem(field, message)])
