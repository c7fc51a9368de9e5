"""Facts about what was run on the artifact, its checkpoint and its data: attestations, contract checks, restores."""

import json
from collections.abc import Collection, Iterable
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import select_among
from models.gates.asking import JsonObject, time_text

MAX_EVIDENCE: Final = 500
_DATA_CONTRACT: Final = "data-contract"
# A key of a weak level must not be able to hide what a stronger one found, nor what was said before to win over what
# was said since: the latest of each kind, subject and level counts. What was revoked was never said.
_UNREVOKED: Final = (
    "NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = :namespace AND said.revoked = {}.record "
    "AND said.effect = 'revoked')"
)
_ATTESTED: Final = (
    "SELECT record, subject, kind, outcome, evidence_level, recorded_at, position, document FROM ("
    "SELECT evidence.*, row_number() OVER (PARTITION BY subject, kind, evidence_level ORDER BY position DESC) "
    "AS place FROM evidence WHERE namespace = :namespace AND subject IN :keys "
    f"AND {_UNREVOKED.format('evidence')}) AS latest WHERE place = 1 "
    f"ORDER BY position DESC LIMIT {MAX_EVIDENCE}"
)
_CHECKED: Final = (
    "SELECT latest.record, manifest, contract, version, object, outcome, evidence_level, recorded_at, document FROM ("
    "SELECT contract_check.*, row_number() OVER ("
    "PARTITION BY manifest, contract, object, evidence_level ORDER BY position DESC) AS place FROM contract_check "
    f"WHERE namespace = :namespace AND manifest IN :keys AND {_UNREVOKED.format('contract_check')}) AS latest "
    "JOIN record ON record.position = latest.position WHERE place = 1 "
    f"ORDER BY latest.position DESC LIMIT {MAX_EVIDENCE}"
)
_RESTORED: Final = (
    "SELECT latest.record, checkpoint, latest.level, outcome, evidence_level, checked_at, recorded_at FROM ("
    "SELECT checkpoint_verification.*, row_number() OVER ("
    "PARTITION BY checkpoint, evidence_level ORDER BY position DESC) AS place FROM checkpoint_verification "
    "WHERE namespace = :namespace AND checkpoint IN :keys AND (level = 'restore_tested' OR outcome = 'failed') "
    f"AND {_UNREVOKED.format('checkpoint_verification')}) AS latest "
    "JOIN record ON record.position = latest.position WHERE place = 1 "
    f"ORDER BY latest.position DESC LIMIT {MAX_EVIDENCE}"
)


def gather_evidence(connection: Connection, namespace: str, subjects: Collection[str]) -> list[JsonObject]:
    """At most 3 × MAX_EVIDENCE entries. A contract check of a snapshot is evidence of the kind `data-contract`, a
    restore of a checkpoint, or any check of it that failed, of the kind `checkpoint-restore`."""
    wanted = sorted(set(subjects))
    checks = select_among(connection, _CHECKED, namespace, wanted)
    bad = _data_with_a_bad_check(checks)
    attested = select_among(connection, _ATTESTED, namespace, wanted)
    found = [
        _attested(connection, row)
        for row in attested
        # Nor does a word about no contract in particular outweigh a check of one.
        if row.kind != _DATA_CONTRACT or row.subject not in bad or row.outcome != "passed"
    ]
    found += [
        _checked(connection, row) for row in checks if row.manifest not in bad or row.outcome != "passed"
    ]
    found += [_restored(connection, row) for row in select_among(connection, _RESTORED, namespace, wanted)]
    return found


def _data_with_a_bad_check(checks: Iterable[Any]) -> set[str]:
    """Data that some contract's latest check did not pass; one contract passing later does not outweigh another."""
    latest: dict[tuple[str, str, str], Any] = {}
    for row in checks:  # the newest first
        latest.setdefault((row.manifest, row.contract, row.object), row)
    return {row.manifest for row in latest.values() if row.outcome != "passed"}


def _attested(connection: Connection, row: Any) -> JsonObject:  # noqa: ANN401 - a row of _ATTESTED
    said = json.loads(row.document)
    return {
        "kind": row.kind,
        "subject": row.subject,
        "outcome": row.outcome,
        "level": row.evidence_level,
        "produced_at": said["produced_at"],
        "received_at": time_text(connection, row.recorded_at),
        "expires_at": said.get("expires_at"),
        "checks": said.get("checks"),
        "rows": said.get("rows"),
        "producer": said["producer"],
        "record": row.record,
        "revoked": False,
    }


def _checked(connection: Connection, row: Any) -> JsonObject:  # noqa: ANN401 - a row of _CHECKED
    said = json.loads(row.document)
    counts = said["counts"]
    return {
        "kind": _DATA_CONTRACT,
        "subject": row.manifest,
        # What nobody could evaluate is not known, and what is not known is an error here.
        "outcome": row.outcome if row.outcome in ("passed", "failed") else "error",
        "level": row.evidence_level,
        "produced_at": said["completed_at"],
        "received_at": time_text(connection, row.recorded_at),
        "expires_at": None,
        "checks": counts.get("passed", 0) + counts.get("failed", 0),
        "rows": said["data"].get("rows"),
        "producer": f"{row.contract}@{row.version}",
        "record": row.record,
        "revoked": False,
    }


def _restored(connection: Connection, row: Any) -> JsonObject:  # noqa: ANN401 - a row of _RESTORED
    return {
        "kind": "checkpoint-restore",
        "subject": row.checkpoint,
        "outcome": row.outcome,
        "level": row.evidence_level,
        "produced_at": time_text(connection, row.checked_at),
        "received_at": time_text(connection, row.recorded_at),
        "expires_at": None,
        "checks": None,
        "rows": None,
        "producer": f"checkpoint verification, level {row.level}",
        "record": row.record,
        "revoked": False,
    }
