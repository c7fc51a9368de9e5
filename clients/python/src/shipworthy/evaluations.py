"""Measurements as the service takes them."""

import math
from collections.abc import Mapping

from shipworthy.errors import UsageError
from shipworthy.formats.digests import is_digest
from shipworthy.snapshots import Snapshot
from shipworthy.values import Body, Json, plain

Slices = Mapping[str, Mapping[str, Mapping[str, object]]]


def describe_evaluation(
    run_id: str,
    metrics: Mapping[str, object],
    dataset: Snapshot | str | None,
    slices: Slices | None,
    facts: Mapping[str, object],
) -> Body:
    """The body of an evaluation without its subject. Raises UsageError for what is no measurement."""
    missing: list[str] = []
    body: Body = {str(name): plain(value) for name, value in facts.items()}
    body |= {"run_id": run_id, "metrics": _numbers(metrics, "", missing)}
    if dataset is not None:
        digest = dataset.digest if isinstance(dataset, Snapshot) else dataset
        if digest is None or not is_digest(digest):
            raise UsageError(
                "`dataset` has no digest; give shipworthy.snapshot(path) or the digest of a snapshot"
            )
        body["dataset"] = digest
    if slices:
        body["slices"] = [
            {
                "dimension": dimension,
                "value": str(value),
                "metrics": _numbers(measured, f"{dimension}={value}: ", missing),
            }
            for dimension, values in slices.items()
            for value, measured in values.items()
        ]
    if missing:
        protocol = body.get("protocol")
        listed: list[Json] = list(missing)
        body["protocol"] = {**(protocol if isinstance(protocol, dict) else {}), "not_a_number": listed}
    return body


def _numbers(metrics: Mapping[str, object], where: str, missing: list[str]) -> dict[str, Json]:
    """The finite ones; the others are added to `missing`, such as "auc=NaN"."""
    numbers: dict[str, Json] = {}
    for name, value in metrics.items():
        number = plain(value)
        if isinstance(number, str):
            missing.append(f"{where}{name}={number}")
        elif isinstance(number, int | float) and math.isfinite(number):
            numbers[str(name)] = float(number)
        else:
            raise UsageError(f"metric {name!r} is a {type(value).__name__}; give a number")
    return numbers
