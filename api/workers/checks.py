"""From claimed work to the result that is posted: data opened and hashed, checked in a child, hashed again."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from api.workers.children import Watch, run_child
from api.workers.client import Claim
from api.workers.data import Data, opened_data
from api.workers.failures import DATA_CHANGED, ENDED_BY_ITS_DATA, WorkFailed
from api.workers.folders import private_folder
from api.workers.limits import limits_of
from api.workers.settings import WorkerSettings
from models.work.states import WorkKind
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.times import format_instant

_SEEN_BY_ENGINE: Final = ("rows", "schema_digest", "footer_digest")
_ENGINE: Final = {"name": "duckdb", "versions": {}}

Json = Any
Result = dict[str, Json]


def perform(claim: Claim, settings: WorkerSettings, base: Path, watch: Watch) -> Result:
    """The result of the work. Raises WorkFailed when there is none, and what `watch` raises."""
    request = claim.request
    with (
        private_folder(base) as folder,
        opened_data(settings, str(request["root"]), str(request["path"]), folder, watch) as data,
    ):
        _require_snapshot(request, data)
        if claim.kind == WorkKind.BASELINE:
            return _baseline(claim, settings, data, folder, watch)
        return _contract_check(claim, settings, data, folder, watch)


def _require_snapshot(request: Mapping[str, Json], data: Data) -> None:
    """WorkFailed when the data is not what was asked for by its digest: then no check need run."""
    wanted = request.get("snapshot")
    found = data.manifest
    if wanted is not None and wanted != found:
        raise WorkFailed(
            DATA_CHANGED,
            f"the data under root {data.root} at {data.path} is not the snapshot that was asked for: it has digest "
            f"{found}, not {wanted}. Record it as a new snapshot, or put the old data back.",
        )


def _contract_check(claim: Claim, settings: WorkerSettings, data: Data, folder: Path, watch: Watch) -> Result:
    request, inputs = claim.request, claim.inputs
    baseline = inputs.get("baseline")
    started = format_instant(datetime.now(UTC))
    task = _task("contract_check", data) | {
        "suite": inputs["suite"],
        "object": request["object"],
        "baseline": baseline,
        "parameters": request.get("parameters") or {},
        "as_of": request["as_of"],
        "allow_sql": settings.allow_sql,
    }
    answer, reason = _run(task, settings, data, folder, watch)
    seen = answer.get("data", {})
    result: Result = {
        "check": claim.id,
        "contract": inputs["contract"],
        "object": request["object"],
        "baseline": None if baseline is None else sha256_digest(canonicalize(baseline)),
        "parameters": request.get("parameters") or {},
        "as_of": request["as_of"],
        "data": data.described() | {name: seen.get(name) for name in _SEEN_BY_ENGINE},
        "engine": answer.get("engine", _ENGINE),
        "started_at": started,
        "completed_at": format_instant(datetime.now(UTC)),
        "outcome": answer.get("outcome", "error"),
        "counts": answer.get("counts", {"passed": 0, "failed": 0, "error": 0, "not_evaluated": 0}),
        "checks": answer.get("checks", []),
    }
    if reason is not None:
        result["reason"] = reason
    for name in ("run_id", "transformation"):
        if request.get(name) is not None:
            result[name] = request[name]
    return result


def _run(
    task: Mapping[str, Json], settings: WorkerSettings, data: Data, folder: Path, watch: Watch
) -> tuple[Mapping[str, Json], str | None]:
    """The engine's answer, or nothing and the reason why its process was ended."""
    try:
        return _child(task, settings, data, folder, watch), None
    except WorkFailed as error:
        if error.code not in ENDED_BY_ITS_DATA:
            raise
        return {}, error.message


def _baseline(claim: Claim, settings: WorkerSettings, data: Data, folder: Path, watch: Watch) -> Result:
    request = claim.request
    task = _task("baseline", data) | {
        "numbers": request["numbers"],
        "labels": request["labels"],
        "bins": request["bins"],
    }
    made = dict(_child(task, settings, data, folder, watch))
    made["data"] = {**made["data"], "manifest": data.manifest, "files": len(data.files)}
    return made


def _child(
    task: Mapping[str, Json], settings: WorkerSettings, data: Data, folder: Path, watch: Watch
) -> Mapping[str, Json]:
    descriptors = [hashed.file.fd for hashed in data.read]
    return run_child(task, descriptors, limits_of(settings, folder), folder, watch)


def _task(kind: str, data: Data) -> dict[str, Json]:
    files = [
        {"path": hashed.file.path, "size": hashed.file.state.size, "sha256": hashed.sha256}
        for hashed in data.read
    ]
    return {"kind": kind, "format": data.format, "files": files}
