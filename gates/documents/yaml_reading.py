"""Reads YAML as its author wrote it: the scalars of YAML 1.2's JSON schema, with line numbers and bounds.

PyYAML follows YAML 1.1, where the country NO is false, 1:30 is 90, 0123 is 83 and 2020-01-01 a date. Here only
null, true, false and plain decimal numbers are anything but text. Duplicate keys, tags beyond the core schema,
merge keys, several documents, deep nesting and multiplying aliases are refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from gates.documents.pointers import Json, child
from gates.documents.problems import refusal
from gates.documents.source import (
    MAX_DEPTH,
    MAX_VALUES,
    MAX_WRITTEN_OUT,
    PointerBudget,
    Source,
    checked_key,
    checked_number,
    checked_text,
    decoded,
)

# libyaml reads the largest public data contract in 0.03 s, the same parser in Python in 0.8 s.
_LOADER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_NUMBER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_CONSTANTS: Final[dict[str, Json]] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CORE_TAGS: Final = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_TEXT_TAGS: Final = frozenset({"tag:yaml.org,2002:str", "!"})


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of the document before aliases are written out. `size` counts values and `characters` their text, both
    with aliases."""

    line: int
    size: int
    characters: int
    depth: int
    content: "str | list[_Node] | dict[str, tuple[int, _Node]]"
    plain: bool = False


@dataclass(slots=True)
class _Composer:
    events: Iterator[Event]
    anchors: dict[str, _Node] = field(default_factory=dict)

    def node(self, event: Event, pointer: str, depth: int) -> _Node:
        line = _line(event)
        if depth > MAX_DEPTH:
            raise refusal(line, pointer, f"is nested deeper than {MAX_DEPTH} levels; flatten it")
        if isinstance(event, AliasEvent):
            # An anchor counts once its node is complete, so that no node can hold itself.
            target = self.anchors.get(str(event.anchor))
            if target is None:
                raise refusal(
                    line, pointer, f"*{event.anchor} names no complete anchor above it; write it out"
                )
            if depth + target.depth > MAX_DEPTH:
                raise refusal(line, pointer, f"is nested deeper than {MAX_DEPTH} levels; flatten it")
            return target
        assert isinstance(event, NodeEvent)
        anchor = event.anchor
        node = self._built(event, pointer, line, depth)
        if node.size > MAX_VALUES:
            message = f"has more than {MAX_VALUES} values with its aliases written out; use fewer aliases"
            raise refusal(line, pointer, message)
        if node.characters > MAX_WRITTEN_OUT:
            message = f"has more than {MAX_WRITTEN_OUT:,} characters with its aliases written out; use fewer aliases"
            raise refusal(line, pointer, message)
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def _built(self, event: NodeEvent, pointer: str, line: int, depth: int) -> _Node:
        tag = getattr(event, "tag", None)
        if (
            tag is not None
            and tag not in _CORE_TAGS
            and not (tag in _TEXT_TAGS and isinstance(event, ScalarEvent))
        ):
            raise refusal(line, pointer, f"has the tag {tag[:80]}; remove the tag, only plain data is read")
        match event:
            case ScalarEvent():
                plain = bool(event.implicit[0]) and tag is None
                text = checked_text(event.value, line, pointer)
                return _Node(line, 1, len(text), 0, text, plain)
            case SequenceStartEvent():
                items: list[_Node] = []
                while not isinstance(following := next(self.events), SequenceEndEvent):
                    items.append(self.node(following, child(pointer, len(items)), depth + 1))
                return _container(line, items, items)
            case _:
                return self._mapping(pointer, line, depth)

    def _mapping(self, pointer: str, line: int, depth: int) -> _Node:
        members: dict[str, tuple[int, _Node]] = {}
        while not isinstance(following := next(self.events), MappingEndEvent):
            at = _line(following)
            if not isinstance(following, ScalarEvent):
                raise refusal(at, pointer, "has a key that is not a text; write the key as one word")
            key = checked_key(checked_text(following.value, at, pointer), at, pointer)
            place = child(pointer, key)
            if key == "<<":
                raise refusal(at, place, "merge keys (<<) are not read; write the members out")
            if key in members:
                first = members[key][0]
                raise refusal(
                    at, place, f"the key {key!r} stands already on line {first}; keep one of the two"
                )
            members[key] = (at, self.node(next(self.events), place, depth + 1))
        return _container(line, [node for _, node in members.values()], members)


def _container(line: int, nodes: list[_Node], content: "list[_Node] | dict[str, tuple[int, _Node]]") -> _Node:
    return _Node(
        line,
        1 + sum(node.size for node in nodes),
        sum(node.characters for node in nodes),
        1 + max((node.depth for node in nodes), default=0),
        content,
    )


def read_yaml(data: bytes) -> Source:
    """The document; raises DocumentError with line and place."""
    try:
        events = yaml.parse(decoded(data), Loader=_LOADER)
        root = _root(_Composer(iter(events)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(filter(None, [error.context, error.problem]))
        raise refusal(mark.line + 1 if mark else 1, "", f"is not YAML: {reason}") from None
    except yaml.YAMLError as error:
        raise refusal(1, "", f"is not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise refusal(1, "", f"is nested deeper than {MAX_DEPTH} levels; flatten it") from None
    lines: dict[str, int] = {"": root.line}
    texts: dict[str, str] = {}
    value = _written_out(root, "", lines, texts, PointerBudget())
    return Source(value, lines, texts)


def _root(composer: _Composer) -> _Node:
    root: _Node | None = None
    for event in composer.events:
        match event:
            case StreamStartEvent() | StreamEndEvent() | DocumentEndEvent():
                continue
            case DocumentStartEvent() if root is not None:
                raise refusal(_line(event), "", "holds several YAML documents; keep one, without --- between")
            case DocumentStartEvent():
                root = composer.node(next(composer.events), "", 0)
            case _:
                continue
    if root is None:
        raise refusal(1, "", "is empty; write the document")
    return root


def _written_out(
    node: _Node, pointer: str, lines: dict[str, int], texts: dict[str, str], budget: PointerBudget
) -> Json:
    budget.spend(pointer, node.line)
    content = node.content
    if isinstance(content, str):
        value = _scalar(content, node.line, pointer) if node.plain else content
        if not isinstance(value, str):
            texts[pointer] = content
        return value
    if isinstance(content, list):
        items: list[Json] = []
        for item in content:
            place = child(pointer, len(items))
            lines[place] = item.line
            items.append(_written_out(item, place, lines, texts, budget))
        return items
    members: dict[str, Json] = {}
    for key, (line, member) in content.items():
        place = child(pointer, key)
        lines[place] = line
        members[key] = _written_out(member, place, lines, texts, budget)
    return members


def _scalar(text: str, line: int, pointer: str) -> Json:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return checked_number(text, line, pointer) if _NUMBER.fullmatch(text) else text


def _line(event: Event) -> int:
    return 1 if event.start_mark is None else int(event.start_mark.line) + 1
