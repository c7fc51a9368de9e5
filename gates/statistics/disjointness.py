"""Whether the evaluation data is disjoint from what the model was trained on: by sketches of keys, or as declared.

It is `disjoint` only when every training snapshot is covered. Nothing known, or nothing to compare, is `unknown`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from gates.statistics.arrays import Booleans
from gates.statistics.refusals import StatisticsRefused
from gates.statistics.slicing import Progress
from shipworthy.formats.key_sketch import KEY_BYTES, false_positive_rate

_KEY_TYPE: Final = np.dtype(">u8")
_CHUNK_KEYS: Final = 2**20
"""8 MB at a time, whatever the size of the sketch."""
MAX_KEYS: Final = 2**27
"""Of the evaluation data's sketch, which is held whole: 1 GiB."""

Json = Any
Keys = NDArray[np.uint64]
Status = Literal["disjoint", "overlap", "unknown"]


def disjointness(
    sketches: Mapping[str, Json], dataset: str, paths: Mapping[str, str], progress: Progress
) -> dict[str, Json]:
    """The member of a `statistics` record, from the claim's `sketches`, the digest of the evaluation snapshot, and
    where each blob lies. Raises StatisticsRefused when a sketch is not what it says."""
    evaluation, split = sketches.get("evaluation"), sketches.get("evaluation_split")
    keys = (
        np.empty(0, np.uint64)
        if evaluation is None
        else _whole(paths[evaluation["blob"]], evaluation["count"])
    )
    seen = _Seen(keys)
    for training in sketches.get("training") or ():
        sketch = training.get("sketch")
        declared = _declared(split, training.get("split"))
        if training["snapshot"] == dataset:
            seen.add(training, "declared-split", is_overlap=True)
        elif evaluation is not None and sketch is not None and sketch["columns"] == evaluation["columns"]:
            progress(0, 0, "comparing keys")
            seen.compare(_chunks(paths[sketch["blob"]], sketch["count"]), sketch["count"])
            seen.add(training, "key-sketch", is_overlap=False)
        elif declared is not None:
            seen.add(training, "declared-split", is_overlap=declared == "overlap")
        else:
            seen.missing.add(training["snapshot"])
    return seen.as_json()


def found_in(keys: Keys, others: Keys) -> Booleans:
    """Of each of the ascending `keys` whether it is among the ascending `others`."""
    if not len(others):
        return np.zeros(len(keys), dtype=np.bool_)
    # Only the keys within the range of the others can be among them.
    begin, end = np.searchsorted(keys, [others[0], others[-1]], side="left")
    inside = keys[begin : end + 1]
    hits = np.zeros(len(keys), dtype=np.bool_)
    hits[begin : end + 1] = others[np.minimum(np.searchsorted(others, inside), len(others) - 1)] == inside
    return hits


class _Seen:
    """What the comparison with one training snapshot after the other found."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._hits = np.zeros(len(keys), dtype=np.bool_)
        self._rate = 0.0
        self._methods: set[str] = set()
        self._is_overlap = False
        self._covered: set[str] = set()
        self.missing: set[str] = set()

    def compare(self, chunks: Iterator[Keys], count: int) -> None:
        for chunk in chunks:
            self._hits |= found_in(self._keys, chunk)
        self._rate += false_positive_rate(len(self._keys), count)

    def add(self, training: Mapping[str, Json], method: str, *, is_overlap: bool) -> None:
        self._covered.add(training["snapshot"])
        self._methods.add(method)
        self._is_overlap |= is_overlap

    def as_json(self) -> dict[str, Json]:
        overlap = int(np.count_nonzero(self._hits))
        status: Status = "disjoint"
        if overlap or self._is_overlap:
            status = "overlap"
        elif self.missing or not self._covered:
            status = "unknown"
        # Of two methods the weaker one: a declaration is nobody's measurement.
        method = next((each for each in ("declared-split", "key-sketch") if each in self._methods), "none")
        return {
            "status": status,
            "method": method,
            "keys": len(self._keys),
            "overlap": overlap,
            "false_positive_rate": min(1.0, self._rate),
            "training": sorted(self._covered),
            "missing": sorted(self.missing),
        }


def _declared(evaluation: Mapping[str, Json] | None, training: Mapping[str, Json] | None) -> Status | None:
    """What two splits of the same whole by the same method say of each other; None when they are not that."""
    if evaluation is None or training is None:
        return None
    if (evaluation["of"], evaluation["method"]) != (training["of"], training["method"]):
        return None
    return "overlap" if evaluation["name"] == training["name"] else "disjoint"


def _whole(path: str, count: int) -> Keys:
    if count > MAX_KEYS:
        raise StatisticsRefused(
            f"the sketch of the evaluation data has {count:,} keys; at most {MAX_KEYS:,} are taken"
        )
    return np.concatenate(list(_chunks(path, count)))


def _chunks(path: str, count: int) -> Iterator[Keys]:
    """Ascending keys, some at a time. Raises StatisticsRefused unless the file has `count` of them, each once."""
    if count < 1:
        raise StatisticsRefused("a key sketch is empty; make it of the rows of its snapshot")
    found, last = 0, -1
    with open(path, "rb") as file:
        while data := file.read(_CHUNK_KEYS * KEY_BYTES):
            if len(data) % KEY_BYTES:
                break
            chunk = np.frombuffer(data, _KEY_TYPE).astype(np.uint64)
            if int(chunk[0]) <= last or (chunk[1:] <= chunk[:-1]).any():
                raise StatisticsRefused(
                    "the keys of a sketch are not ascending, each once; make the sketch again"
                )
            found, last = found + len(chunk), int(chunk[-1])
            yield chunk
    if found != count:
        raise StatisticsRefused(
            f"a key sketch does not hold the {count:,} keys that its snapshot names; make it again"
        )
