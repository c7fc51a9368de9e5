"""MLflow's dataset inputs as snapshots, graded `sampled`: MLflow hashes at most the first 10,000 rows to 8 digits."""

import json
import re
from collections.abc import Iterable
from typing import Final

from shipworthy.capture.texts import LINE, one_line
from shipworthy.formats.jcs import MAX_SAFE_INTEGER
from shipworthy.importing.mlflow.answers import Dataset
from shipworthy.snapshots import describe
from shipworthy.values import Body, Json

NAMESPACE: Final = "mlflow"
MAX_INPUTS: Final = 1000
MAX_NAME: Final = 512
UNNAMED: Final = "dataset"
"""What MLflow calls data to which nobody gave a name."""
_ROLES: Final = {
    "train": "train", "training": "train",
    "validation": "validation", "val": "validation", "eval": "validation", "evaluation": "validation",
    "test": "test", "testing": "test",
}  # fmt: skip
_ADDRESSES: Final = ("uri", "url", "path")
_URI: Final = "[A-Za-z][A-Za-z0-9+.-]+://"


def inputs_of(datasets: Iterable[Dataset]) -> list[Json]:
    """Each data set under the role that its context names; "input" where the program gave none."""
    inputs: list[Json] = []
    for dataset in datasets:
        given: Body = {"role": _role(dataset.context), "snapshot": _snapshot(dataset)}
        if given not in inputs:
            inputs.append(given)
    return inputs[:MAX_INPUTS]


def _role(context: str | None) -> str:
    text = (context or "").strip().lower()
    # An identifier begins with a letter or digit and holds no spaces.
    cleaned = re.sub("[^a-z0-9._/:@-]", "_", text).lstrip("._/:@-")[:256]
    return _ROLES.get(text) or cleaned or "input"


def _snapshot(dataset: Dataset) -> Body:
    snapshot: Body = {
        "dataset": {"namespace": NAMESPACE, "name": one_line(dataset.name, MAX_NAME) or UNNAMED}
    }
    address = _address(dataset.source)
    if address is not None and re.match(_URI, address):
        described, _ = describe(address)
        snapshot["uri"] = described["uri"]
        if dataset.name == UNNAMED:
            snapshot["dataset"] = described["dataset"]
    elif address is not None:
        snapshot["uri"] = one_line(address, LINE)
    digest = one_line(dataset.digest, LINE)
    if digest:
        snapshot |= {"grade": "sampled", "version": {"kind": "mlflow", "value": digest}}
    else:
        snapshot |= {"grade": "none", "reason": "MLflow has no digest of this data"}
    rows = _member(dataset.profile, ("num_rows",))
    if isinstance(rows, int) and not isinstance(rows, bool) and 0 <= rows <= MAX_SAFE_INTEGER:
        snapshot["row_count"] = rows
    return snapshot


def _address(source: str) -> str | None:
    found = _member(source, _ADDRESSES)
    return found if isinstance(found, str) and found.strip() else None


def _member(text: str, names: tuple[str, ...]) -> object:
    """The first of these members that the JSON object has; None for any other text, which is whatever was logged."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    return next((document[name] for name in names if document.get(name) is not None), None)
