"""One MLflow run as the lines that `POST /v1/records:batch` takes: pure, without its metrics' histories.

MLflow says nothing of uncommitted changes, packages, machines and seeds as such: what it doesn't say stays unknown.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from shipworthy.capture.config import capture_config
from shipworthy.capture.environment import find_image
from shipworthy.capture.redaction import is_secret_name, redact_text
from shipworthy.capture.secret_looks import MASK
from shipworthy.capture.texts import LINE, free_text, label, one_line
from shipworthy.formats.jcs import MAX_SAFE_INTEGER
from shipworthy.importing.mlflow.answers import MlflowRun
from shipworthy.importing.mlflow.datasets import NAMESPACE, inputs_of
from shipworthy.importing.mlflow.metrics import evaluations_of, instant, not_finite
from shipworthy.importing.run_ids import run_id_of
from shipworthy.values import Body, Json

# Where MLflow cuts in silence (mlflow/utils/validation.py): a value of just this length was probably longer.
PARAMETER_LENGTH: Final = 6000
TAG_LENGTH: Final = 8000
MAX_TAGS: Final = 400
MAX_TAG_BYTES: Final = 48 * 1024
"""Of all tags: a record of the service may have 256 KiB, and the config half of them."""
INPUTS_A_RECORD: Final = 25
MAX_JOB: Final = 512
# Bookkeeping that grows while a run goes on, and the person, whom `initiated_by` names so that it can be erased.
_DROPPED: Final = frozenset({
    "mlflow.log-model.history", "mlflow.loggedArtifacts", "mlflow.loggedImages", "mlflow.user",
    "mlflow.source.git.diff",
})  # fmt: skip
_ENDS: Final = {"FINISHED": "completed", "FAILED": "failed", "KILLED": "aborted"}
_UNDER_WAY: Final = {"RUNNING": "running", "SCHEDULED": "queued"}
_NOBODY: Final = frozenset({"", "unknown"})


@dataclass(frozen=True, slots=True)
class RunLines:
    """`first` are the registration, then evaluations and the note on what is odd; `last` says how the run ended, and
    is sent when all else is recorded: a run with an end is one that was imported whole."""

    run_id: str
    job: str
    state: str
    first: tuple[Body, ...]
    last: tuple[Body, ...]
    remarks: tuple[str, ...]


def imported_id(registry: str, mlflow_id: str, started: int | None) -> str:
    """The run's id here. `registry` names the server, whose address may change; MLflow's ids are 128 random bits."""
    return run_id_of(started or 0, json.dumps(["mlflow", registry, mlflow_id]).encode())


def lines_of(run: MlflowRun, experiment: str, registry: str, parent: str | None = None) -> RunLines:
    """`parent` is the id, here, of the run that this one is nested in."""
    run_id = imported_id(registry, run.id, run.started)
    job: Body = {"namespace": NAMESPACE, "name": one_line(experiment, MAX_JOB) or "unnamed"}
    remarks: list[str] = []
    registration: Body = {
        "run_id": run_id,
        "job": job,
        "heartbeat": {"expected": False},
    }
    registration |= _ingredients(run, remarks)
    cut = _cut(run)
    registration["tags"] = _tags(run, registry, cut, remarks)
    if cut:
        remarks.append(f"of exactly the length at which MLflow cuts, so probably cut: {', '.join(cut)}")
    if run.started is not None:
        registration["started_at"] = instant(run.started)
    if (user := label(run.user or "")) not in _NOBODY:
        registration["initiated_by"] = user
    if parent is not None:
        registration["parent_run_id"] = parent
    if odd := not_finite(run):
        remarks.append(f"no finite numbers, so in the log lines and in no evaluation: {', '.join(odd[:20])}")
    inputs = inputs_of(run.datasets)
    first = [
        line("run.registered", {**registration, "inputs": inputs[:INPUTS_A_RECORD]}),
        # A later registration may add, and a record has room for so many.
        *(
            line(
                "run.registered", {"run_id": run_id, "job": job, "inputs": inputs[at : at + INPUTS_A_RECORD]}
            )
            for at in range(INPUTS_A_RECORD, len(inputs), INPUTS_A_RECORD)
        ),
    ]
    first += [line("evaluation.completed", body) for body in evaluations_of(run, run_id)]
    if remarks:
        at = instant(run.started or 0)
        text = free_text(f"Imported from MLflow: {'; '.join(remarks)}")
        first.append(line("run.event", {"run_id": run_id, "type": "note", "at": at, "text": text}))
    if (event := _state(run, run_id, _UNDER_WAY, run.started)) is not None:
        first.append(event)
    end = _state(run, run_id, _ENDS, run.ended or run.started)
    return RunLines(
        run_id=run_id,
        job=f"{NAMESPACE}/{job['name']}",
        state=_ENDS.get(run.status, "unknown"),
        first=tuple(first),
        last=() if end is None else (end,),
        remarks=tuple(remarks),
    )


def line(kind: str, body: Body, key: str | None = None) -> Body:
    """Without a key, a record's own content is its identity."""
    return {"kind": kind, "body": body} if key is None else {"kind": kind, "key": key, "body": body}


def _state(run: MlflowRun, run_id: str, states: Mapping[str, str], at: int | None) -> Body | None:
    state = states.get(run.status)
    if state is None or at is None:
        return None
    return line("run.event", {"run_id": run_id, "type": "state", "at": instant(at), "state": state})


def _ingredients(run: MlflowRun, remarks: list[str]) -> Body:
    found: Body = {}
    if run.params:
        captured = capture_config(dict(run.params))
        remarks += captured.reasons
        found["config"] = captured.document
        if seeds := _seeds(run.params, captured.document["seed_keys"]):
            found["seeds"] = seeds
    if (code := _code(run.tags)) is not None:
        found["code"] = code
    # Nothing of the machine that imports may be taken for the run's: no file of its own is looked at.
    image = find_image(
        {"SHIPWORTHY_IMAGE": run.tags.get("mlflow.docker.image.uri", "")}, Path("/nonexistent")
    )
    if image is not None:
        found["environment"] = {"image": image}
    return found


def _seeds(params: Mapping[str, str], pointers: Json) -> Body | None:
    """MLflow keeps parameters as text: those that look like a seed and are an integer."""
    values: Body = {}
    for pointer in pointers if isinstance(pointers, list) else []:
        name = str(pointer)[1:].replace("~1", "/").replace("~0", "~")
        text = params.get(name, "").strip()
        if re.fullmatch(r"-?\d{1,16}", text, re.ASCII) and abs(int(text)) <= MAX_SAFE_INTEGER:
            values[label(f"config{pointer}")] = int(text)
    if not values:
        return None
    return {
        "values": dict(list(values.items())[:50]),
        "derivation": "taken from parameters that look like seeds; whether they were used is not known",
    }


def _code(tags: Mapping[str, str]) -> Body | None:
    commit = tags.get("mlflow.source.git.commit", "").strip().lower()
    if re.fullmatch("[0-9a-f]{7,64}", commit) is None:
        return None
    dirty = {"true": True, "false": False}.get(tags.get("mlflow.source.git.dirty", ""))
    code: Body = {"commit": commit, "dirty": dirty}
    if dirty is None:
        code["reason"] = "MLflow does not say whether there were uncommitted changes"
    if repository := one_line(redact_text(tags.get("mlflow.source.git.repoURL", "")), LINE):
        code["repository"] = repository
    source = one_line(tags.get("mlflow.source.name", ""), LINE)
    if source and "://" not in source and not PurePosixPath(source).is_absolute():
        code["path"] = source
    return code


def _cut(run: MlflowRun) -> list[str]:
    parameters = [
        f"parameter {label(name)}" for name, value in run.params.items() if len(value) == PARAMETER_LENGTH
    ]
    return parameters + [f"tag {label(name)}" for name, value in run.tags.items() if len(value) == TAG_LENGTH]


def _tags(run: MlflowRun, registry: str, cut: list[str], remarks: list[str]) -> Body:
    """MLflow's own under their names, and ours under `shipworthy.`: which run it was, and what MLflow has cut."""
    tags: Body = {"shipworthy.mlflow_run": run.id, "shipworthy.mlflow_registry": registry}
    if cut:
        tags["shipworthy.mlflow_cut"] = free_text(", ".join(cut))
    if run.is_deleted:
        tags["shipworthy.mlflow_lifecycle"] = "deleted"
    return tags | plain_tags(run.tags, remarks)


def plain_tags(given: Mapping[str, str], remarks: list[str]) -> Body:
    """Tags as the service takes them, with secrets masked; those beyond what a record has room for are told."""
    tags: Body = {}
    left = MAX_TAG_BYTES
    dropped = 0
    for name, value in sorted(given.items(), key=lambda each: len(each[1])):
        if name in _DROPPED or name.startswith("shipworthy.") or not label(name):
            continue
        text = MASK if is_secret_name(name) and value else free_text(redact_text(value))
        left -= len(name) + len(text.encode())
        if left < 0 or len(tags) >= MAX_TAGS:
            dropped += 1
            continue
        tags[label(name)] = text
    if dropped:
        remarks.append(f"{dropped} of the longest tags were left out: a record has no room for them")
    return tags
