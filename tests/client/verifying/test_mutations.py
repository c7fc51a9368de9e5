"""Every value of a proof bundle changed in every way: none of the bundles is accepted."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from shipworthy.formats.times import parse_instant
from shipworthy.verifying.outcome import VerificationFailed
from shipworthy.verifying.verify import verify
from tests.client.verifying.bundles import NOW, Case, encoded

SEED = 20261129
ARTIFACT = "sha256:" + "a" * 64
_CHARACTERS = 4
"""So many characters of a text are changed, and so many left out."""
_STRANGE: tuple[Any, ...] = (None, True, -1, 0, 1, 2**70, 1e308, "", "x", [], {}, [[]], {"a": 1})
Change = Callable[[Any, Any], None]
"""Changes what a holder has under a key."""


def test_no_mutation_of_a_bundle_is_accepted() -> None:
    case = Case(ARTIFACT)
    bundle, trust = case.deployment.bundle(case.decide()), encoded(case.deployment.trust())
    now = parse_instant(NOW)
    assert _accepts(bundle, trust, now)
    chooser = random.Random(SEED)
    accepted, tried = [], 0
    text = encoded(bundle)
    for path in _places(bundle, ()):
        for what, change in _changes(_read(bundle, path), chooser):
            mutant = json.loads(text)
            _apply(mutant, path, change)
            if mutant == bundle:
                continue
            tried += 1
            if _accepts(mutant, trust, now):
                accepted.append(f"{path} {what}")
    assert accepted == []
    assert tried > 5_000


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


def _changes(value: object, chooser: random.Random) -> Iterator[tuple[str, Change]]:
    """What can be done to one value; the characters of a text are chosen."""
    yield "left out", lambda holder, key: holder.__delitem__(key)
    for strange in _STRANGE:
        yield f"is {strange!r}", _put(strange)
    if isinstance(value, bool):
        yield "the other", _put(not value)
    elif isinstance(value, int | float):
        for step in (-1, 1, 0.5):
            yield f"{step} more", _put(value + step)
    elif isinstance(value, str) and value:
        for _ in range(_CHARACTERS):
            at = chooser.randrange(len(value))
            other = chr(ord(value[at]) ^ (1 << chooser.randrange(5)))
            yield f"another character {at}", _put(value[:at] + other + value[at + 1 :])
            yield f"no character {at}", _put(value[:at] + value[at + 1 :])
    elif isinstance(value, list):
        yield "one more", _put([*value, copy.deepcopy(value[0])] if value else [None])
    elif isinstance(value, dict):
        yield "a member more", _put({**value, "added": 1})


def _put(value: object) -> Change:
    return lambda holder, key: holder.__setitem__(key, copy.deepcopy(value))


def _within(path: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], tuple[str | int, ...]]:
    """The path to a value, or to a record's text and from there to a value within it."""
    inside = next(
        (at for at, key in enumerate(path) if isinstance(key, str) and key.startswith("\0")), len(path)
    )
    return path[:inside], tuple(
        key.removeprefix("\0") if isinstance(key, str) else key for key in path[inside:]
    )


def _read(whole: Any, path: tuple[str | int, ...]) -> object:
    outer, inner = _within(path)
    found = _at(whole, outer)
    return _at(json.loads(found), inner) if inner else found


def _apply(whole: Any, path: tuple[str | int, ...], change: Change) -> None:
    """A value within a record's text changes that text."""
    outer, inner = _within(path)
    holder = _at(whole, outer[:-1])
    if not inner:
        change(holder, outer[-1])
        return
    record = json.loads(holder[outer[-1]])
    change(_at(record, inner[:-1]), inner[-1])
    holder[outer[-1]] = json.dumps(record, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
