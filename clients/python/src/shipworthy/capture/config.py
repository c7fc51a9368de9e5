"""A run's configuration as JSON, whatever object holds it, with secrets masked and seeds pointed at."""

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from shipworthy.capture.objects import Opened, open_value
from shipworthy.capture.redaction import is_secret_name, is_token_name, redact_text
from shipworthy.capture.secret_looks import MASK
from shipworthy.capture.texts import LINE, one_line, shortened
from shipworthy.values import Body, Json

MAX_DEPTH: Final = 20
"""Containers within containers. The service takes 32 in a request, of which the envelope needs some."""
MAX_VALUES: Final = 5000
MAX_BYTES: Final = 128 * 1024
"""Bytes of all names and values as JSON: a record of the service may have 256 KiB, with the pointers."""
MAX_STRING: Final = 8192
MAX_KEY: Final = 128
MAX_POINTERS: Final = 500
MAX_POINTER_BYTES: Final = 32 * 1024
MAX_SEED_KEYS: Final = 100

# seed, data_seed, trainer.seed, dataSeed, random_state, randomState; not "seed_count" or "linseed".
_SEED_NAME: Final = (
    r"(?:^|[^A-Za-z])[Ss]eeds?$|[a-z]Seeds?$|(?:^|[^A-Za-z])[Rr]andom(?:_s|-s|S)tate$|(?:^|_)SEED$"
)


class CapturedConfig(NamedTuple):
    """`document` is a `Config` of the service; `reasons` say what could not be kept as it was."""

    document: Body
    reasons: tuple[str, ...]


def capture_config(config: object, seed_keys: Sequence[str] = ()) -> CapturedConfig:
    """Never raises for what the config holds. A config without names stands under "config".

    `seed_keys` name seeds that don't look like one: JSON pointers ("/trainer/s") or the name of a key.
    """
    walk = _Walk(frozenset(name for name in seed_keys if not name.startswith("/")), frozenset(seed_keys))
    opened = open_value(config)
    values = walk.convert(opened if isinstance(opened.value, dict) else Opened({"config": config}), "", 0)
    for name in seed_keys:
        if name not in walk.seeds and not any(_last_key(pointer) == name for pointer in walk.seeds):
            walk.reasons.append(
                f"seed key {shortened(name, 80)!r} is not in the config; write it like /trainer/seed"
            )
    seeds, redacted = _fitting(walk.seeds, MAX_SEED_KEYS), _fitting(walk.redacted, MAX_POINTERS)
    if len(seeds) < len(walk.seeds):
        walk.reasons.append(f"{len(walk.seeds)} values look like seeds; the first {len(seeds)} are named")
    if len(redacted) < len(walk.redacted):
        walk.reasons.append(f"{len(walk.redacted)} values were masked; the first {len(redacted)} are listed")
    if walk.dropped:
        walk.reasons.append(f"the config is large: {walk.dropped} values were left out; log a file of it")
    document: Body = {"values": values, "seed_keys": seeds, "redacted": redacted}
    return CapturedConfig(document, tuple(dict.fromkeys(walk.reasons)))


class _Walk:
    """One pass over a config; what is found on the way gathers here."""

    def __init__(self, seed_names: frozenset[str], seed_pointers: frozenset[str]) -> None:
        self.seed_names = seed_names
        self.seed_pointers = seed_pointers
        self.seeds: list[str] = []
        self.redacted: list[str] = []
        self.reasons: list[str] = []
        self.values = self.size = self.dropped = 0
        self.inside: set[int] = set()

    def convert(self, opened: Opened, pointer: str, depth: int) -> Json:
        if opened.note:
            self.reasons.append(f"{pointer or 'the config'} {opened.note}")
        value = opened.value
        if isinstance(value, str):
            return self._text(value, pointer)
        if not isinstance(value, (dict, list)):
            return value
        if depth >= MAX_DEPTH:
            self.reasons.append(
                f"{shortened(pointer, 80)} is nested deeper than {MAX_DEPTH} levels; flatten it"
            )
            return "…"
        # The object it came from, since each look at it makes a new dict; kept alive by `opened`.
        identity = id(opened.source if opened.source is not None else value)
        if identity in self.inside:
            self.reasons.append(f"{shortened(pointer, 80)} holds itself")
            return "…"
        self.inside.add(identity)
        try:
            if isinstance(value, dict):
                return self._members(value, pointer, depth)
            return self._items(value, pointer, depth)
        finally:
            self.inside.discard(identity)

    def _members(self, members: dict[str, object], pointer: str, depth: int) -> Json:
        converted: dict[str, Json] = {}
        for number, (name, member) in enumerate(members.items()):
            key = self._key(name, converted)
            if self._is_full(_json_size(key)):
                self.dropped += len(members) - number
                break
            below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if len(below) > LINE:
                self.reasons.append(f"the names down to {shortened(pointer, 80)} are too long; shorten them")
                converted[key] = "…"
                continue
            opened = open_value(member)
            if _is_secret(name, opened.value):
                converted[key] = MASK
                self.redacted.append(below)
                continue
            converted[key] = self.convert(opened, below, depth + 1)
            if self._is_seed(name, below, converted[key]):
                self.seeds.append(below)
        return converted

    def _items(self, items: list[object], pointer: str, depth: int) -> Json:
        converted: list[Json] = []
        secret_follows = False
        for index, item in enumerate(items):
            if self._is_full(0):
                self.dropped += len(items) - index
                break
            below = f"{pointer}/{index}"
            opened = open_value(item)
            is_flag = isinstance(opened.value, str) and opened.value.startswith("-")
            # A command line kept as a list: the word after --password.
            if secret_follows and isinstance(opened.value, str) and not is_flag:
                converted.append(MASK)
                self.redacted.append(below)
            else:
                converted.append(self.convert(opened, below, depth + 1))
            secret_follows = is_flag and isinstance(opened.value, str) and is_secret_name(opened.value)
        return converted

    def _is_full(self, size: int) -> bool:
        self.values += 1
        # With room for a number, its comma and brackets.
        self.size += size + 24
        return self.values > MAX_VALUES or self.size > MAX_BYTES

    def _key(self, name: str, taken: dict[str, Json]) -> str:
        key = plain = one_line(redact_text(name), MAX_KEY)
        number = 2
        while key in taken:
            key = f"{plain}#{number}"
            number += 1
        return key

    def _text(self, value: str, pointer: str) -> str:
        # Cut with room to spare before looking for secrets, and to length after it: one that lies across the
        # cut must not leave its first half.
        redacted = redact_text(value[: 2 * MAX_STRING])
        if redacted != value[: 2 * MAX_STRING]:
            self.redacted.append(pointer)
        if len(redacted) > MAX_STRING:
            self.reasons.append(f"{shortened(pointer, 80)} was cut to {MAX_STRING} characters")
        # A lone surrogate has no UTF-8 form.
        text = shortened(redacted, MAX_STRING).encode("utf-8", "replace").decode()
        room = max(MAX_BYTES - self.size, 0)
        size = _json_size(text)
        if size > room:
            self.dropped += 1
            return "…"
        self.size += size
        return text

    def _is_seed(self, name: str, pointer: str, value: Json) -> bool:
        if pointer in self.seed_pointers or name in self.seed_names:
            return True
        looks_like_one = re.search(_SEED_NAME, name) is not None
        return looks_like_one and not isinstance(value, (bool, dict, float))


def _is_secret(name: str, value: object) -> bool:
    if value is None or isinstance(value, bool) or value == "" or not is_secret_name(name):
        return False
    # `token: 5` is an id or a count, and `token: {…}` a section about text.
    return isinstance(value, str) or not is_token_name(name)


def _json_size(text: str) -> int:
    """Bytes of the text in JSON: control characters take six."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def _fitting(pointers: list[str], most: int) -> list[Json]:
    """As many of the first as have room in a record."""
    kept: list[Json] = []
    size = 0
    for pointer in pointers[:most]:
        size += _json_size(pointer)
        if size > MAX_POINTER_BYTES:
            break
        kept.append(pointer)
    return kept


def _last_key(pointer: str) -> str:
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
