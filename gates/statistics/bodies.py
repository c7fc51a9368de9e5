"""The members of a `statistics` record that are known before anything is measured, and the blobs that measuring needs.

Standard library only: the worker's own process reads it, which never loads numpy.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from shipworthy.formats.key_sketch import KEY_BYTES

SCHEMA: Final = "shipworthy.statistics/1"
RESAMPLES: Final = 2000
MAX_EXAMPLES_BYTES: Final = 256 * 2**20
"""Of one blob of per-example results."""

DEFAULT_THRESHOLD: Final = 0.5
"""Of an attempt that names none."""

Json = Any


def head(inputs: Mapping[str, Json], resamples: int = RESAMPLES) -> dict[str, Json]:
    """What the record is about: the attempt of the claim, its evaluations, and those of the incumbent."""
    attempt, incumbent = inputs["attempt"], inputs.get("incumbent")
    protocol = {name: attempt[name] for name in ("evaluator", "config", "task")}
    return {
        "schema": SCHEMA,
        "attempt": attempt["id"],
        "candidate": attempt["candidate"],
        "incumbent": incumbent["artifact"] if incumbent else None,
        "dataset": attempt["dataset"],
        "protocol_digest": sha256_digest(canonicalize(protocol | {"threshold": threshold_of(attempt)})),
        "evaluations": [each["record"] for each in in_order(inputs["evaluations"])],
        "incumbent_evaluations": [each["record"] for each in in_order(incumbent["evaluations"])]
        if incumbent
        else [],
        "seed": inputs["seed"],
        "resamples": resamples,
    }


def threshold_of(attempt: Mapping[str, Json]) -> float:
    """The score from which on a binary prediction is positive."""
    return float(attempt.get("threshold", DEFAULT_THRESHOLD))


def error_body(inputs: Mapping[str, Json], reason: str) -> dict[str, Json]:
    """The whole record of a measurement that was ended by its data, such as at the limit of its memory."""
    training = {each["snapshot"] for each in inputs["sketches"].get("training") or ()}
    return head(inputs) | {
        "engine": {},
        "outcome": "error",
        "reason": reason,
        "rows": 0,
        "positives": None,
        "metrics": {},
        "differences": {},
        "slices": [],
        "repeats": {},
        "reported": [],
        "disjointness": no_disjointness(training),
    }


def no_disjointness(training: Iterable[str]) -> dict[str, Json]:
    """The member when nothing was compared: none of the training snapshots is covered."""
    return {
        "status": "unknown",
        "method": "none",
        "keys": 0,
        "overlap": 0,
        "false_positive_rate": 0.0,
        "training": [],
        "missing": sorted(set(training)),
    }


def in_order(evaluations: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """By repeat."""
    return sorted(evaluations, key=lambda each: int(each["repeat"]))


def can_be_paired(evaluations: Iterable[Mapping[str, Json]]) -> bool:
    """Whether there are per-example results of all, and at least one."""
    given = [each.get("per_example") for each in evaluations]
    return bool(given) and None not in given


def blobs_needed(inputs: Mapping[str, Json]) -> dict[str, int]:
    """By digest the most bytes that each blob may have; one that is longer need not be fetched to be refused."""
    incumbent = inputs.get("incumbent")
    evaluations = list(inputs["evaluations"])
    if incumbent and can_be_paired(evaluations) and can_be_paired(incumbent["evaluations"]):
        evaluations += incumbent["evaluations"]
    needed = {each["per_example"]: MAX_EXAMPLES_BYTES for each in evaluations if each.get("per_example")}
    sketches = inputs["sketches"]
    if sketches.get("evaluation") is not None:
        for sketch in [
            sketches["evaluation"],
            *(each.get("sketch") for each in sketches.get("training") or ()),
        ]:
            if sketch is not None and sketch["columns"] == sketches["evaluation"]["columns"]:
                most = sketch["count"] * KEY_BYTES
                needed[sketch["blob"]] = max(most, needed.get(sketch["blob"], 0))
    return needed
