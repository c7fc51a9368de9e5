"""The part of `make demo` about promises: two weeks of nightly training that were recorded afterwards, with one night
late, one that never ran, one left out and one of which nobody knows, and a live run whose checkpoint grows old.

The nights are made up, as of now; all else about them is what a scheduler would send.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote
from urllib.request import Request, urlopen
from uuid import UUID

from demo_commands import call, tell

NIGHTS: Final = 14
OPENS: Final = 22
"""Hour, UTC."""
LASTS: Final = timedelta(hours=8)
GRACE: Final = timedelta(minutes=30)
ON_TIME: Final = timedelta(hours=5, minutes=20)
TRAINING, EXPORT, AGE = "nightly-training", "nightly-export", "checkpoint-age"
PROGRESS_SECONDS: Final = 300
JUDGED_SECONDS: Final = 180

# Nights are counted back from the last one that is over.
IN_GRACE, LATE, EXCLUDED, NEVER, SILENT = 2, 4, 6, 9, 3
TOOK: Final = {IN_GRACE: LASTS + timedelta(minutes=12), LATE: LASTS + timedelta(minutes=31)}


@dataclass(frozen=True)
class Live:
    """A run that goes on as long as the demo does, and the night to ask about."""

    url: str
    run: str
    began: datetime
    late: str

    def go_on(self) -> None:
        step = int((datetime.now(UTC) - self.began).total_seconds() / 6)
        post(self.url, f"/v1/runs/{self.run}/progress", {"step": step, "phase": "train"})
        beat(self.url)


def promise(url: str, approver: str) -> Live:
    """Publishes three promises and records what they are about, in one call for all of the runs. `approver`: the token
    of who leaves a night out."""
    now = datetime.now(UTC)
    nights = past_nights(now)
    live = Live(url, run_id(now - timedelta(minutes=50)), now - timedelta(minutes=50), window(nights[LATE]))
    for document in definitions(nights[-1]):
        post(url, f"/v1/slos/{document['metadata']['name']}", document, "PUT")
    beat(url)
    # As they began, so that the newest is the first of a list.
    past = sorted(histories(nights), key=lambda line: str(line[1]["started_at"]))
    lines = [*past, *checkpoints_of(live)]
    text = "\n".join(json.dumps({"kind": kind, "body": body}) for kind, body in lines)
    answered = send(
        Request(f"{url}/v1/records:batch", text.encode(), {"Content-Type": "application/x-ndjson"})
    )
    assert answered.count(b'"status":201') == len(lines), answered.decode()
    span = {"from": text_of(nights[EXCLUDED]), "to": text_of(nights[EXCLUDED] + LASTS)}
    reason = "the data centre was moved, announced on the 1st"
    body = {**span, "reason": reason, "retroactive": True}
    post(url, f"/v1/slos/{TRAINING}/exclusions", body, token=approver)
    live.go_on()
    return live


def report(live: Live, environ: Mapping[str, str]) -> None:
    tell(
        "Are promises kept? One night late, one never ran, one left out, one unknown, a checkpoint that grows old"
    )
    wait_until_judged(live.url)
    call(["shipworthy", "slo", "report"], environ, expected=1)
    call(["shipworthy", "slo", "explain", live.late], environ, expected=1)


def definitions(first: datetime) -> Iterator[dict[str, Any]]:
    expect = {
        "schedule": "cron",
        "cron": f"0 {OPENS} * * *",
        "timeZone": "Etc/UTC",
        "within": "PT8H",
        "covers": "P1D",
    }
    past = {"starts": first.date().isoformat(), "backfilled": True}
    night = {"objective": "deadline", "expect": expect, "grace": "PT30M", **past}
    training = {"event": "run.completed", "boundBy": "data-interval", "job": "screening/nightly"}
    yield slo(
        TRAINING,
        "Nightly training completes by 06:00",
        "screening",
        {**night, "evidence": training, "onMissing": "breach", "maxMisses": 1},
    )
    yield slo(
        EXPORT,
        "The wards' images are exported by 06:00",
        "wards",
        {
            **night,
            "evidence": {**training, "job": "wards/export"},
            "onMissing": "unknown",
            "settle": "P14D",
            "source": "ward-scheduler",
        },
    )
    age = {"event": "checkpoint.verified", "checkpointLevel": "checksummed", "job": "screening/large"}
    yield slo(
        AGE,
        "A live run could lose at most 20 minutes",
        "screening",
        {
            "objective": "freshness",
            "evidence": age,
            "limits": {"maxAge": "PT20M"},
            "onMissing": "unknown",
            **past,
        },
    )


def slo(name: str, title: str, team: str, source: dict[str, Any]) -> dict[str, Any]:
    """An OpenSLO document about the last two weeks."""
    slices = source["objective"] == "freshness"
    counted = {"rawType": "success", "raw": {"metricSource": {"type": "training-windows", "spec": source}}}
    objective = {"target": 0.9, **({"timeSliceTarget": 1, "timeSliceWindow": "5m"} if slices else {})}
    return {
        "apiVersion": "openslo/v1",
        "kind": "SLO",
        "metadata": {"name": name, "displayName": title, "labels": {"team": team}},
        "spec": {
            "service": "tumour-screening",
            "indicator": {"spec": {"ratioMetric": counted}},
            "timeWindow": [{"duration": f"{NIGHTS}d", "isRolling": True}],
            "budgetingMethod": "Timeslices" if slices else "Occurrences",
            "objectives": [objective],
        },
    }


def histories(nights: list[datetime]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A run for each night of both jobs, where there was one."""
    for job, missing in ((("screening", "nightly"), NEVER), (("wards", "export"), SILENT)):
        for back, opens in enumerate(nights):
            if back == missing:
                continue
            is_training = job[0] == "screening"
            took = ON_TIME + timedelta(minutes=(back * 37) % 50)
            took = TOOK.get(back, took) if is_training else took / 4
            end = "failed" if is_training and back == EXCLUDED else "completed"
            started = opens + timedelta(minutes=5)
            yield (
                "run.registered",
                {
                    "run_id": run_id(started, *job),
                    "job": {"namespace": job[0], "name": job[1]},
                    "team": job[0],
                    "started_at": text_of(started),
                    "data_interval": {"start": text_of(opens - timedelta(days=1)), "end": text_of(opens)},
                    "events": [{"type": "state", "state": end, "at": text_of(opens + took)}],
                },
            )


def checkpoints_of(live: Live) -> Iterator[tuple[str, dict[str, Any]]]:
    """A run of the last 50 minutes that saved every ten, and stopped saving 30 minutes ago."""
    yield (
        "run.registered",
        {
            "run_id": live.run,
            "job": {"namespace": "screening", "name": "large"},
            "team": "screening",
            "started_at": text_of(live.began),
            "heartbeat": {"expected": True, "limit_seconds": PROGRESS_SECONDS},
        },
    )
    for minute in (10, 20):
        digest = f"sha256:{sha256(f'{live.run} {minute}'.encode()).hexdigest()}"
        until = text_of(live.began + timedelta(minutes=minute))
        body = {"run_id": live.run, "digest": digest, "step": minute * 10, "trained_until": until}
        yield "checkpoint.saved", {**body, "level": "checksummed"}


def wait_until_judged(url: str) -> None:
    """The service looks at windows every half a minute: mostly it has done so by now."""
    deadline = time.monotonic() + JUDGED_SECONDS
    while time.monotonic() < deadline:
        told = json.loads(send(Request(f"{url}/v1/slo-report")))["slos"]
        counts = {each["definition"]["id"]: each["counts"] for each in told}
        if counts[TRAINING]["excluded"] and counts[AGE]["expected"]:
            return
        time.sleep(0.5)
    raise SystemExit("the service did not judge its windows; build/demo/service.log says why")


def past_nights(now: datetime) -> list[datetime]:
    """When the last nights that are over opened, newest first."""
    over = now - LASTS - GRACE
    last = over.replace(hour=OPENS, minute=0, second=0, microsecond=0)
    if last > over:
        last -= timedelta(days=1)
    return [last - timedelta(days=back) for back in range(NIGHTS)]


def window(opens: datetime) -> str:
    return f"{TRAINING}/{opens:%Y-%m-%dT%H:%M}+00:00"


def run_id(at: datetime, *seed: str) -> str:
    """A UUIDv7 of that time, the same for the same job."""
    made = sha256("/".join(seed).encode()).digest()
    value = int(at.timestamp() * 1000) << 80 | int.from_bytes(made[:10])
    return str(UUID(int=value & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62))


def beat(url: str) -> None:
    """The scheduler of the wards says that it lives; over the nights it was not heard."""
    post(url, "/v1/sources/ward-scheduler/heartbeats", {"interval_seconds": PROGRESS_SECONDS})


def post(
    url: str, path: str, body: Mapping[str, Any], method: str = "POST", *, token: str | None = None
) -> None:
    headers = {"Content-Type": "application/json"}
    headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
    send(Request(url + quote(path), json.dumps(body).encode(), headers, method=method))


def send(request: Request) -> bytes:
    with urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def text_of(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
