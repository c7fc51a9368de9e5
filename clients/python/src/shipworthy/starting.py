"""`shipworthy.run`: from its arguments and what the machine tells to the first lines of a journal."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from shipworthy import intervals
from shipworthy.capture.collect import collect
from shipworthy.capture.config import capture_config
from shipworthy.errors import UsageError
from shipworthy.folders import make_folder
from shipworthy.formats.times import format_instant
from shipworthy.identity import new_run_id
from shipworthy.intervals import VARIABLE, Interval
from shipworthy.notices import warn_once
from shipworthy.placing import Place, find_place
from shipworthy.process import PROCESS
from shipworthy.runs import Run
from shipworthy.settings import Settings, read_settings
from shipworthy.snapshots import describe_input, job_of, name_of
from shipworthy.values import Body, Json, encode, first_line, plain

if TYPE_CHECKING:
    from shipworthy.signals import Preemption

HEARTBEAT_SECONDS: Final = 600
MAX_NOTE: Final = 16_000
"""Characters of a note; the service takes 16,384."""
SPLIT_BYTES: Final = 200 * 2**10
"""A registration of more bytes goes as one record for each part: the service takes 256 KiB a record."""


def run(
    job: str,
    *,
    config: object = None,
    seeds: Mapping[str, int] | None = None,
    data: Mapping[str, object] | None = None,
    team: str | None = None,
    tags: Mapping[str, object] | None = None,
    pipeline: str | None = None,
    experiment: str | None = None,
    priority: str | None = None,
    initiated_by: str | None = None,
    data_interval: Interval | None = None,
    parent_run_id: str | None = None,
    run_id: str | None = None,
    resume_from: str | os.PathLike[str] | None = None,
    capture: bool = True,
    on_sigterm: "Preemption | None" = None,
    url: str | None = None,
    token: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    strict: bool = False,
) -> Run:
    """Starts to record a run; use it in a `with`, or end it with `finish()`.

    `job` is "namespace/name". `data` says by role what is read: a path (hashed in the background), a URI, a
    digest or `shipworthy.snapshot(…)`. `data_interval` is the time that the data is of, as "START/END" or two aware
    datetimes: by it the run counts for a promise. `resume_from` is a checkpoint of an earlier attempt: the run goes on
    under its id. `on_sigterm` "preempted" or "aborted" records that state when the process is told to end;
    without it no signal handler is set. Only a `strict` run raises.
    """
    try:
        settings = read_settings(url, token, dir, strict)
    except Exception as error:
        if strict:
            raise
        warn_once("settings", f"{first_line(str(error))}; records stay in the journal")
        folder = dir if isinstance(dir, str | os.PathLike) else None
        settings = read_settings("", None, folder, strict, {**os.environ, "SHIPWORTHY_URL": ""})
    try:
        return _start(
            settings,
            job,
            described={
                "team": team,
                "pipeline": pipeline,
                "experiment": experiment,
                "priority": priority,
                "initiated_by": initiated_by,
                "parent_run_id": parent_run_id,
                "tags": None if tags is None else {str(name): str(value) for name, value in tags.items()},
            },
            run_id=run_id,
            config=config,
            seeds=seeds,
            data=data or {},
            data_interval=data_interval,
            resume_from=resume_from,
            capture=capture,
            on_sigterm=on_sigterm,
        )
    except Exception as error:
        if strict:
            raise
        warn_once("use:run", f"shipworthy.run: {first_line(str(error))}; the run is not recorded")
        return _Unrecorded(Place(new_run_id()), None, settings, None)


def _start(
    settings: Settings,
    job: str,
    *,
    described: Mapping[str, Json],
    run_id: str | None,
    config: object,
    seeds: Mapping[str, int] | None,
    data: Mapping[str, object],
    data_interval: Interval | None,
    resume_from: str | os.PathLike[str] | None,
    capture: bool,
    on_sigterm: "Preemption | None",
) -> Run:
    name: Json = job_of(job)
    place = find_place(settings.folder, run_id, resume_from, PROCESS.begun)
    PROCESS.begun += 1
    began = format_instant(datetime.now(UTC))
    registered: Json = name if place.joined is None else name_of(place.joined.job)
    run = Run(place, registered, settings, make_folder(settings.folder, place.run_id))
    lines: list[tuple[str, Body]] = []
    later: dict[str, object] = {}
    missing: str | None = None
    stated: str | None = None
    interval = _interval(data_interval, settings.strict)
    if place.joined is not None:
        inputs, later = _inputs(data, settings.strict)
        if inputs:
            lines.append(("run.registered", {"run_id": run.id, "job": registered, "inputs": inputs}))
        # `exec` passes on what it was told itself, and has registered that.
        if interval is not None and not os.environ.get(VARIABLE):
            lines.append(("run.registered", {"run_id": run.id, "job": registered, "data_interval": interval}))
        stated = _stated(name, described, config, seeds)
    elif place.leads:
        identity: Body = {"run_id": place.run_id, "job": name}
        heartbeat: Json = {"expected": True, "limit_seconds": HEARTBEAT_SECONDS}
        # Alone, so that nothing that is wrong with the rest can keep a run from being known.
        lines.append(("run.registered", {**identity, "started_at": began, "heartbeat": heartbeat}))
        body: Body = {key: value for key, value in described.items() if value is not None}
        if interval is not None:
            body["data_interval"] = interval
        if place.parent is not None:
            body.setdefault("parent_run_id", place.parent)
        inputs, later = _inputs(data, settings.strict)
        if inputs:
            body["inputs"] = inputs
        # What a run is made of was recorded by its first attempt, and a later record may not differ.
        if capture and place.attempt == 1:
            parts, missing = _ingredients(run, config, seeds)
            body |= parts
        lines += _registrations(identity, body)
    PROCESS.runs.append(run)
    run.start(lines)
    if stated is not None:
        run.note(stated)
    if missing is not None:
        run.note(f"Not known at the start: {missing}")
    if place.ancestor is not None:
        run.resume(place.ancestor)
    for role, source in later.items():
        run.snapshot(source, role=role)
    if on_sigterm is not None:
        from shipworthy.signals import watch_for_preemption

        run.on_end(watch_for_preemption(run, on_sigterm))
    return run


def _interval(given: Interval | None, strict: bool) -> Json:
    try:
        return intervals.data_interval(given, os.environ)
    except UsageError as error:
        if strict:
            raise
        warn_once("data_interval", f"{error}; it is not recorded")
        return None


def _inputs(data: Mapping[str, object], strict: bool) -> tuple[list[Json], dict[str, object]]:
    """What is known of the data already, and what has to be hashed first."""
    known: list[Json] = []
    later: dict[str, object] = {}
    for role, source in data.items():
        try:
            given, path = describe_input(role, source)
        except (UsageError, OSError) as error:
            if strict:
                raise
            warn_once(f"input:{role}", f"{error}; it is not recorded")
            continue
        if path is None:
            known.append(given)
        else:
            later[role] = source
    return known, later


def _stated(job: Json, described: Mapping[str, Json], config: object, seeds: Mapping[str, int] | None) -> str:
    """What a run that joins that of `shipworthy exec` says about itself: `exec` has registered other words, and a
    later record may not differ."""
    stated: dict[str, Json] = {"job": job}
    stated |= {name: value for name, value in described.items() if value is not None}
    captured = None if config is None else capture_config(config).document
    if captured is not None:
        stated["config"] = captured
    if seeds:
        stated["seeds"] = plain(seeds)
    return f"The program says of itself: {encode(stated).decode()}"[:MAX_NOTE]


def _registrations(identity: Body, body: Body) -> list[tuple[str, Body]]:
    """One record, or one for each field where together they would be too large for one."""
    if len(encode(body)) <= SPLIT_BYTES:
        return [("run.registered", {**identity, **body})] if body else []
    return [("run.registered", {**identity, key: value}) for key, value in body.items()]


def _ingredients(run: Run, config: object, seeds: Mapping[str, int] | None) -> tuple[Body, str | None]:
    """Code, environment, config, hardware and seeds, and a sentence about what is not known of them."""
    captured = collect(config, seeds=seeds)
    parts: Body = {"code": captured.code, "seeds": captured.seeds}
    found = (
        ("environment", captured.environment),
        ("config", captured.config),
        ("hardware", captured.hardware),
    )
    parts |= {name: document for name, document in found if document is not None}
    reasons = list(captured.reasons)
    if captured.diff is not None and run.keep_blob(captured.diff) is None:
        parts["code"] = {name: value for name, value in captured.code.items() if name != "diff"}
        reasons.append("the uncommitted change could not be kept: no disk takes it")
    return parts, "; ".join(reasons)[:8000] or None


class _Unrecorded(Run):
    """Stands in for a run whose arguments can't be recorded: training goes on, every call does nothing."""

    def _append(self, line: bytes) -> None:
        return
