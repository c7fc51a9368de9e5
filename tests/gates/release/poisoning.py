"""Corruptions of a release that passes, one fact at a time: what must never pass.

Every value of the facts is corrupted in the ways that its kind allows, and every part is taken away; what is random
comes from a fixed seed. `INNOCENT` lists what may be corrupted without harm, each with its reason: nothing else may.
"""

import copy
import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.gates.release.passing import Body
from tests.gates.release.policies import digest

SEED: Final = 20_261_129


@dataclass(frozen=True, slots=True)
class Poison:
    """`path` is where, `name` how; `facts` are poisoned."""

    path: str
    name: str
    facts: Body


_ABSENT: Final = object()

_ALWAYS: Final[dict[str, Any]] = {"absent": _ABSENT, "null": None, "NaN": math.nan}
_SOME: Final[dict[str, Any]] = {
    "inf": math.inf,
    "-inf": -math.inf,
    "true": True,
    "text": "0.95",
    "empty text": "",
    "list": [],
    "mapping": {},
}
_NUMBERS: Final[dict[str, Any]] = {"10**400": 10**400, "-1e308": -1e308, "1e308": 1e308}
_LIKE_OTHERS: Final = re.compile(r"(family/[2-4]|statistics/slices/2)/")
"""Places that are judged as their neighbours are."""
_NAIVE: Final = "2026-11-28T12:00:00"

_WORDS: Final = "text|empty text|padded|upper case|other word"
INNOCENT: Final[tuple[tuple[str, str, str], ...]] = (
    # (pattern of the path, pattern of the corruption, why it may pass)
    (r"version|.*/reason|attempts/other_namespaces|approvers|.*/producer", ".*", "shown, not judged"),
    (r"training_run/(state|lineage_manifest.*|seeds_digest)", ".*", "shown, not judged"),
    (
        r"training_run/family_digest",
        "absent|null|other digest",
        "who gathers the facts finds the family by it",
    ),
    (r"training_run/recipe_digest", "other digest", "who gathers the facts finds the repeats by it"),
    (r"training_run/git/commit", "other digest", "any commit will do when nothing is uncommitted"),
    (r"training_run/snapshots/0/role", _WORDS, "data in any role that is not known to teach nothing counts"),
    (r"training_run/owner|policy/owner", _WORDS, "nobody approves or waives here"),
    (r"policy/owner", "absent|null", "nobody approves or waives here"),
    (r"statistics/(engine.*|resamples|positives|repeats.*|seed)", ".*", "shown, not judged"),
    (r"statistics/incumbent_evaluations.*", "absent|list|other digest", "shown, not judged"),
    (r"statistics/reported/0/(repeat|reported|recomputed)", ".*", "the service says whether they agree"),
    (r"statistics/reported/0/metric", _WORDS, "the value that agrees is another metric's"),
    (r"statistics/reported|statistics/reported/0", "list|absent", "nothing was reported that could differ"),
    (r"statistics/disjointness/(keys|false_positive_rate)", ".*", "shown, not judged"),
    (r"statistics/metrics/\w+/(successes|trials)", "absent|null", "no share"),
    (r"statistics/metrics/\w+/method", _WORDS, "shown, not judged"),
    (r"statistics/slices/\d/(n|metrics/recall/method)", ".*", "shown, not judged"),
    (r"statistics/slices/\d/metrics/recall/standard_error", "huge", "the counts say more"),
    (r"statistics/slices/\d/differences/recall/method", _WORDS, "shown, not judged"),
    (r"dataset/grade", ".*", "shown, not judged"),
    (r"dataset/row_count", "absent|null", "not every snapshot says it; the policy's minimum holds then"),
    (
        r"attempt/(incumbent|repeats)",
        "absent|null|other digest|.*",
        "the statistics say what they compare with",
    ),
    (r"dataset/dataset", "padded", "the digest decides"),
    (r"attempt/opened_at", "long ago", "an attempt may take its time; the snapshot's age is bounded"),
    (r"artifact/checksum/at", "long ago", "bytes don't age"),
    (
        r".*/record|artifact/records/0|statistics/evaluations/0",
        "other digest",
        "the service looks records up",
    ),
    (
        r"artifact/(records|checkpoint)|artifact/records/0",
        "absent|null|list|other digest",
        "shown, not judged",
    ),
    (r"evaluations|evaluations/0", "absent|list", "attempts are judged, not what came without one"),
    (r"evaluations/0/registered", "the other", "attempts are judged, not what came without one"),
    (r"family/\d/artifact|repeats/0/artifact", "other digest", "who gathers the facts finds the others"),
    (r"family/[1-4]/run_id|repeats/0/run_id", _WORDS, "any other run will do"),
    (r"family/\d/seeds_digest", "other digest", "any other seeds will do"),
    (r"repeats/0/seeds_digest", "absent|null|other digest", "a repeat is bound by its recipe"),
    (r"evidence/[1-3]/(checks|rows)", ".*", "the policy counts those of the data contract only"),
    (r"evidence/\d/expires_at", "absent|null|yet to come", "the policy bounds the age of each report"),
    (r"namespace", _WORDS, "the service decides about its own namespace only"),
    (r"attempts/extensions|reviews|waivers|flags", "list", "the same as before: there are none"),
)


def poisons(facts: Body) -> Iterator[Poison]:
    """All corruptions that must not pass, always the same ones in the same order."""
    chance = random.Random(SEED)
    for path, value in _places(facts, ""):
        if _LIKE_OTHERS.match(path):
            continue
        for name, bad in _ways(path, value, chance):
            if not _is_innocent(path, name) and not _is_same(value, bad):
                yield Poison(path, name, _poisoned(facts, path, bad))


def _places(value: object, path: str) -> Iterator[tuple[str, object]]:
    members: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    for name, member in members:
        place = f"{path}/{name}" if path else str(name)
        yield place, member
        yield from _places(member, place)


def _ways(path: str, value: object, chance: random.Random) -> Iterator[tuple[str, Any]]:
    yield from _ALWAYS.items()
    yield from chance.sample(list(_SOME.items()), 3)
    if isinstance(value, bool):
        yield "the other", not value
    elif isinstance(value, int | float):
        yield from _NUMBERS.items()
        yield "negative", -abs(value) - 1
        yield "as text", repr(value)
        yield "in a list", [value]
        yield (
            "no whole number" if isinstance(value, int) else "huge",
            value + 0.5 if isinstance(value, int) else 1e200,
        )
        yield "random text", "".join(chance.choices("0123456789eE.+-naif", k=8))
    elif isinstance(value, str):
        yield "padded", f" {value}"
        yield "upper case", value.upper()
        if value.startswith("sha256:"):
            yield "other digest", digest(f"other {chance.random()}")
            yield "short digest", value[: chance.randrange(8, 70)]
            yield "tag", "latest"
        elif re.fullmatch(r"\d{4}-\d\d-\d\dT.*", value):
            yield "naive", _NAIVE
            yield "long ago", "2001-01-01T00:00:00Z"
            yield "yet to come", f"{chance.randrange(2100, 9000)}-01-01T00:00:00Z"
            yield "no date", "2026-13-01T00:00:00Z"
        else:
            yield "other word", "".join(chance.choices("abcdefghij-", k=12))


def _poisoned(facts: Any, path: str, bad: object) -> Any:
    """The facts with one value replaced; what lies beside its path is shared, not copied."""
    first, _, rest = path.partition("/")
    copied = copy.copy(facts)
    name: Any = int(first) if isinstance(facts, list) else first
    if rest:
        copied[name] = _poisoned(facts[name], rest, bad)
    elif bad is _ABSENT:
        del copied[name]
    else:
        copied[name] = bad
    return copied


def _is_innocent(path: str, name: str) -> bool:
    return any(re.fullmatch(place, path) and re.fullmatch(way, name) for place, way, _ in INNOCENT)


def _is_same(value: object, bad: object) -> bool:
    return type(value) is type(bad) and value == bad
