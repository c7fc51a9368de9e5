"""What a run was made of, by its values: the few that tell most, and all of them when they are unfolded. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.web.check_view import Evidence
from api.web.words import bytes_in_words, plural

SHOWN: Final = 200
"""Values of an ingredient that are unfolded; its JSON has all."""
_TELLING: Final = 4
_FIRST: Final[Mapping[str, Sequence[str]]] = {
    "code": ("repository", "commit", "dirty", "path"),
    "environment": ("image/name", "image/tag", "image/digest", "python", "cuda", "os"),
    "hardware": ("nodes", "accelerators/0/count", "accelerators/0/type", "cpu"),
    "transformations": ("name", "version"),
}
"""Of each part what tells most, by the path of its keys; other parts tell their first values."""
_LONG: Final = 80
_COUNTED: Final = ("packages", "variables")


@dataclass(frozen=True, slots=True)
class MadeOf:
    """`told` is empty where nothing is known but the digest; `more` is how many values are not among `values`."""

    evidence: Evidence
    told: str
    values: tuple[tuple[str, str], ...]
    more: int


def with_values(part: str, evidence: Evidence, document: str | None) -> MadeOf:
    """`document` is the ingredient's JSON text, None for what has none, such as a recipe."""
    if document is None:
        return MadeOf(evidence, "", (), 0)
    content = json.loads(document)
    shown = content.get("values", content) if part in ("config", "seeds") else content
    flat = dict(_flat(shown))
    first = [each for each in _FIRST.get(part, ()) if each in flat]
    picked = first or [each for each in flat if not each.startswith(_COUNTED)]
    told = [_named(part, each, flat[each]) for each in picked[:_TELLING]]
    told += [plural(len(content[each]), each[:-1]) for each in _COUNTED if content.get(each)]
    left = len(picked) - _TELLING if not first else 0
    told += [f"and {left:,} more"] if left > 0 else []
    everything = list(_flat(content))
    return MadeOf(evidence, ", ".join(told), tuple(everything[:SHOWN]), max(len(everything) - SHOWN, 0))


def _flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Each value by the path of its keys: ("optimizer/name", "adam")."""
    members: Iterator[tuple[Any, object]] | None = None
    if isinstance(value, dict):
        members = iter(value.items())
    elif isinstance(value, list):
        members = iter(enumerate(value))
    if members is None:
        yield path, _text(path, value)
        return
    for key, member in members:
        yield from _flat(member, f"{path}/{key}" if path else str(key))


def _text(path: str, value: object) -> str:
    if path.endswith("memory_bytes") and isinstance(value, int):
        return bytes_in_words(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _named(part: str, path: str, text: str) -> str:
    name = path.rpartition("/")[2].replace("_", " ")
    short = text if len(text) <= _LONG else f"{text[:_LONG]}…"
    if part == "code" and name == "dirty":
        return {"true": "with uncommitted changes", "false": "nothing uncommitted"}.get(text, "maybe changed")
    if part == "hardware":
        counted = {"nodes": "node", "count": "accelerator"}.get(name)
        return short if counted is None else plural(int(text), counted)
    return f"{name} {short[:12] if name == 'commit' else short}"
