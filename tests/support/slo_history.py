"""SLOs, their windows and what became of them, written through the ledger as the service writes them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from models.actor import SYSTEM
from models.fields import instant_text
from models.ledger.drafts import Stored
from tests.support.histories import NAMESPACE, History, digest, run_id

SLO = "nightly"


def write_slos(history: History) -> None:
    """Two versions of an SLO; windows met, missed, judged anew, foretold, withdrawn and left out; a run with a
    data interval and a queue, a snapshot of a time, and a report that is kept."""
    author = history.actor("author", owner="ada@example.org")
    approver = history.actor("approver", owner="grace@example.org")
    recorder = history.actor("recorder", owner="ola@example.org")
    service = replace(SYSTEM, namespace=NAMESPACE)
    history.add(author, "slo.published", _published(1))
    history.add(service, "windows.expected", _expected(1, "first", range(6)))
    history.add(recorder, "run.registered", _run())
    extraction = {"start": "2026-05-01T00:00:00+02:00", "end": "2026-05-02T00:00:00Z"}
    snapshot = {"dataset": {"namespace": "s3", "name": "clicks"}, "grade": "manifest", "digest": digest(901)}
    history.add(recorder, "snapshot", snapshot | {"extraction": extraction})
    report = {"digest": digest(902), "retain_until": "2099-01-01T00:00:00Z"}
    evaluation = {"subject": digest(201), "metrics": {"auc": 0.5}, "report": report}
    history.add(recorder, "evaluation.completed", evaluation)
    _settled(history, 0, 1, status="met", lateness_seconds=0.0, evidence=[digest(1)], run_ids=[run_id(9)])
    _settled(history, 1, 1, status="breached", reason="never", cause="source_not_proven", layer="training")
    _settled(history, 1, 2, status="met", cause="late_evidence", lateness_seconds=1e-07, restatement=True)
    _settled(history, 2, 1, status="pending", predicted=True, look_again="2026-05-03T12:00:00+02:00")
    _settled(
        history, 3, 1, status="unknown", look_again="2026-05-09T12:00:00Z", measured={"jobs": 1.0, "ü": 1e16}
    )
    slices = {"good": 280, "bad": 7, "unknown": 1}
    _settled(history, 4, 1, status="breached", reason="late", slices=slices)
    left_out = {"slo": SLO, "windows": [f"{SLO}/0"], "reason": "flyttet — 移動", "by": approver.owner}
    history.add(approver, "slo.excluded", left_out | {"retroactive": True})
    span = {"from": "2026-05-01T00:00:00+02:00", "to": "2026-05-02T00:00:00.5Z"}
    history.add(approver, "slo.excluded", {"slo": SLO, "reason": "brann", "by": approver.owner} | span)
    _settled(history, 0, 2, status="excluded", cause="exclusion:x")
    history.add(author, "slo.published", _published(2))
    withdrawn = _expected(2, "withdrawn 0", range(0)) | {"withdrawn": [f"{SLO}/5"]}
    history.add(service, "windows.expected", withdrawn)
    history.add(service, "windows.expected", _expected(2, "second", range(5, 7)))


def _settled(history: History, window: int, revision: int, **outcome: Any) -> Stored:
    body = {
        "slo": SLO,
        "version": 1,
        "window": f"{SLO}/{window}",
        "revision": revision,
        "judged_at": instant_text(datetime.now(UTC)),
    }
    return history.add(replace(SYSTEM, namespace=NAMESPACE), "window.settled", {"windows": [body | outcome]})


def _published(version: int) -> dict[str, Any]:
    return {
        "version": version,
        "name": SLO,
        "media_type": "application/yaml",
        "digest": digest(910 + version),
        "document_digest": digest(920 + version),
        "size_bytes": 900,
        "kind": "SLO",
        "objective": "deadline",
        "service": "betrugserkennung",
        "team": "größe",
        "target": "0.95",
        "max_misses": 1,
        "definition": {"zone": 1.0, "a": {"ü": 1e-07, "large": 1e16}},
    }


def _expected(version: int, chunk: str, windows: range) -> dict[str, Any]:
    began = datetime(2026, 4, 29, tzinfo=UTC)
    listed = []
    for number in windows:
        opens = began + timedelta(days=number)
        deadline = opens + timedelta(hours=12)
        listed.append(
            {
                "id": f"{SLO}/{number}",
                "opens_at": instant_text(opens),
                "deadline": deadline.isoformat(),
                "due": instant_text(deadline),
                "deadline_local": deadline.isoformat(),
                "day": deadline.date().isoformat(),
                "data_interval": {"start": instant_text(opens), "end": instant_text(deadline)},
                "holidays": "0.109",
                "tzdata": "2026f",
                "backfilled": number < 2,
                "run_id": run_id(9),
                "about": digest(3),
            }
        )
    body = {"slo": SLO, "version": version, "chunk": chunk, "windows": listed}
    return body | ({"until": "2026-05-09T00:00:00+02:00"} if listed else {})


def _run() -> dict[str, Any]:
    return {
        "run_id": run_id(9),
        "job": {"namespace": "ci", "name": "train"},
        "parent_run_id": run_id(1),
        "priority": "høy",
        "data_interval": {"start": "2026-05-01T00:00:00+02:00", "end": "2026-05-02T00:00:00Z"},
        "events": [
            {"type": "state", "state": "queued", "at": "2026-05-02T00:00:00.5Z"},
            {"type": "state", "state": "completed", "at": "2026-05-02T03:00:00+02:00"},
        ],
    }
