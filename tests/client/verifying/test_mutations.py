"""13,000 changes to a proof bundle, each of one value: none is accepted."""

import copy
import json
import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from shipworthy.formats.times import parse_instant
from shipworthy.verifying.outcome import VerificationFailed
from shipworthy.verifying.verify import verify
from tests.client.verifying.bundles import NOW, Case, encoded

MUTATIONS = 13_000
SEED = 20261129
ARTIFACT = "sha256:" + "a" * 64
_STRANGE: tuple[Any, ...] = (None, True, -1, 0, 1, 2**70, 1e308, "", "x", [], {}, [[]], {"a": 1})


def test_no_mutation_of_a_bundle_is_accepted() -> None:
    case = Case(ARTIFACT)
    bundle, trust = case.deployment.bundle(case.decide()), encoded(case.deployment.trust())
    now = parse_instant(NOW)
    assert _accepts(bundle, trust, now)
    chooser = random.Random(SEED)
    places = list(_places(bundle, ()))
    accepted, tried = [], 0
    text = encoded(bundle)
    while tried < MUTATIONS:
        mutant = json.loads(text)
        what = _mutate(mutant, chooser.choice(places), chooser)
        if what is None or mutant == bundle:
            continue
        tried += 1
        if _accepts(mutant, trust, now):
            accepted.append(what)
    assert accepted == []


def _accepts(bundle: dict[str, Any], trust: bytes, now: datetime) -> bool:
    try:
        verify(ARTIFACT, encoded(bundle), trust, now)
    except VerificationFailed:
        return False
    return True


def _places(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Every member and item, and those within the JSON that records hold as text."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    elif isinstance(value, str) and value.startswith("{"):
        items = [("\0" + str(key), each) for key, each in json.loads(value).items()]
    for key, each in items:
        yield (*path, key)
        yield from _places(each, (*path, key))


def _mutate(whole: Any, path: tuple[str | int, ...], chooser: random.Random) -> str | None:
    """Changes one value; a value within a record's text changes that text. None when nothing came of it."""
    inside = next((at for at, key in enumerate(path) if isinstance(key, str) and key.startswith("\0")), None)
    if inside is not None:
        holder = _at(whole, path[: inside - 1])
        record = json.loads(holder[path[inside - 1]])
        cleaned = tuple(key.removeprefix("\0") if isinstance(key, str) else key for key in path[inside:])
        what = _mutate(record, cleaned, chooser)
        holder[path[inside - 1]] = json.dumps(
            record, separators=(",", ":"), ensure_ascii=False, sort_keys=True
        )
        return what
    holder, key = _at(whole, path[:-1]), path[-1]
    before = holder[key]
    way = chooser.randrange(4)
    if way == 0:
        del holder[key]
    elif way == 1:
        holder[key] = chooser.choice(_STRANGE)
    elif isinstance(before, str) and before:
        at = chooser.randrange(len(before))
        other = chr(ord(before[at]) ^ (1 << chooser.randrange(5)))
        holder[key] = before[:at] + (other if way == 2 else "") + before[at + 1 :]
    elif isinstance(before, int | float):
        holder[key] = before + chooser.choice((-1, 1, 0.5))
    elif isinstance(before, list):
        holder[key] = [*before, copy.deepcopy(before[0])] if before else [None]
    elif isinstance(before, dict):
        before[f"added{chooser.randrange(9)}"] = 1
    else:
        return None
    return f"{path} way {way}"


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
