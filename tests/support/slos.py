"""SLOs as tests publish them, and a clock for the tick: windows are judged at any time that a test says."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from api.ticks.settling import WindowTick
from models.fields import instant_text
from tests.support.bodies import make_event, make_start
from tests.support.service import RunningService

NAME = "nightly"
PAST = 10
JSON = {"Content-Type": "application/json"}
# At any time of day a window is open since three or four hours, and for eight hours and more.
OPENS = (datetime.now(UTC).hour - 3) % 24
DAILY = f"0 {OPENS} * * *"
_DAYS = {"schedule": "cron", "cron": DAILY, "timeZone": "Etc/UTC", "within": "PT12H", "covers": "P1D"}


def make_slo(
    name: str = NAME,
    *,
    target: float = 0.9,
    team: str = "risk",
    rolling: str | None = None,
    slices: bool = False,
    **source: object,
) -> bytes:
    """Trained within half a day, every day, on the day before; `source` replaces and adds, None leaves a member out."""
    spec: dict[str, Any] = {
        "objective": "deadline",
        "expect": _DAYS,
        "evidence": {"event": "run.completed", "boundBy": "data-interval", "job": "train"},
        "onMissing": "breach",
    }
    spec = {key: value for key, value in (spec | source).items() if value is not None}
    period = (
        {"duration": rolling, "isRolling": True}
        if rolling
        else {"duration": "1M", "calendar": {"startTime": "2026-01-01 00:00:00", "timeZone": "Etc/UTC"}}
    )
    document = {
        "apiVersion": "openslo/v1",
        "kind": "SLO",
        "metadata": {"name": name, "labels": {"team": team}},
        "spec": {
            "service": "fraud",
            "indicator": {
                "spec": {
                    "ratioMetric": {
                        "rawType": "success",
                        "raw": {"metricSource": {"type": "training-windows", "spec": spec}},
                    }
                }
            },
            "timeWindow": [period],
            "budgetingMethod": "Timeslices" if slices else "Occurrences",
            "objectives": [{"target": target}],
        },
    }
    return json.dumps(document).encode()


def make_freshness(max_age: str = "PT3H", **source: Any) -> bytes:
    """A live run has a checkpoint that was loaded and is not older than that."""
    given: dict[str, Any] = {
        "objective": "freshness",
        "expect": None,
        "evidence": {"event": "checkpoint.verified", "checkpointLevel": "loaded"},
        "limits": {"maxAge": max_age},
        "onMissing": "unknown",
    }
    return make_slo(slices=True, **(given | source))


def make_invariant(name: str = "validated", **evidence: str) -> bytes:
    """No model version is registered before a decision let its artifact pass."""
    spec = {
        "objective": "ratio",
        "evidence": {"event": "model.registered", **evidence},
        "onMissing": "breach",
    }
    document = {
        "apiVersion": "shipworthy/v1",
        "kind": "Invariant",
        "metadata": {"name": name, "labels": {"team": "ml"}},
        "spec": {
            "service": "registry",
            "metricSource": {"type": "training-windows", "spec": spec},
            "timeWindow": [
                {"duration": "1M", "calendar": {"startTime": "2026-01-01 00:00:00", "timeZone": "Etc/UTC"}}
            ],
        },
    }
    return json.dumps(document).encode()


@dataclass
class SloScene:
    """A service with an author, a recorder, a worker, a reader and an approver, and its tick. The
    deadlines of windows 0 to `PAST` - 1 are over, `PAST` is open, and those after it open in days to come."""

    service: RunningService
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.author = self.service.client("author", owner="ada@example.org")
        self.recorder = self.service.client("recorder", owner="lin@example.org")
        self.worker = self.service.client("worker")
        self.approver = self.service.client("approver", owner="grace@example.org")
        self.reader = self.service.client("reader")
        services = self.service.services
        self.tick = WindowTick(services.database, services.ledger, services.blobs)

    @property
    def day(self) -> datetime:
        """When window 0 opens."""
        today = self.began.replace(hour=OPENS, minute=0, second=0, microsecond=0)
        return today - timedelta(days=PAST if today <= self.began else PAST + 1)

    @property
    def past(self) -> dict[str, Any]:
        """Members of a definition whose windows begin with window 0."""
        return {"starts": self.day.date().isoformat(), "backfilled": True}

    def publish(self, document: bytes, name: str = NAME) -> httpx.Response:
        return self.author.put(f"/v1/slos/{name}", content=document, headers=JSON)

    def published(self, document: bytes, name: str = NAME) -> dict[str, Any]:
        """Published, and not ticked."""
        answer = self.publish(document, name)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def run(
        self, number: int, end: str | None = "completed", at: timedelta | None = None, **fields: Any
    ) -> str:
        """A run for the data of the day before window `number` (0: the first one); it ends `at` after the window opens,
        an hour by default."""
        opens = self.at(number)
        interval = {"start": instant_text(opens - timedelta(days=1)), "end": instant_text(opens)}
        body = make_start(data_interval=interval, started_at=instant_text(opens), **fields)
        if end is not None:
            ended = opens + (at if at is not None else timedelta(hours=1))
            body["events"] = [{"type": "state", "state": end, "at": instant_text(ended)}]
        self.record("/v1/runs", body)
        return str(body["run_id"])

    def record(self, path: str, body: object, client: httpx.Client | None = None) -> dict[str, Any]:
        answer = (client or self.recorder).post(path, json=body)
        assert answer.status_code in (200, 201), answer.text
        made: dict[str, Any] = answer.json()
        return made

    def at(self, days: float, hours: float = 0) -> datetime:
        """So long after the first window opens."""
        return self.day + timedelta(days=days, hours=hours)

    def judged(self, when: datetime | None = None) -> int:
        """How many outcomes a tick at that time recorded; now for None."""
        return self.tick(when or datetime.now(UTC))

    def window(self, number: int, name: str = NAME) -> dict[str, Any]:
        """Window `number` as it is explained."""
        opens = self.at(number)
        return self.explained(f"{opens:%Y-%m-%dT%H:%M}+00:00", name)

    def explained(self, id: str, name: str = NAME) -> dict[str, Any]:
        answer = self.reader.get(f"/v1/slos/{name}/windows/{id}")
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def listed(self, name: str = NAME) -> list[dict[str, Any]]:
        answer = self.reader.get(f"/v1/slos/{name}/windows", params={"limit": 500})
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    def report(self, **parameters: str) -> dict[str, Any]:
        answer = self.reader.get("/v1/slo-report", params=parameters)
        assert answer.status_code == 200, answer.text
        report: dict[str, Any] = answer.json()
        return report


def ended(at: datetime, state: str = "completed") -> list[dict[str, Any]]:
    """The events of a run that ends then."""
    return [make_event(state=state, at=instant_text(at))]


def span(start: datetime, end: datetime) -> dict[str, str]:
    return {"start": instant_text(start), "end": instant_text(end)}
