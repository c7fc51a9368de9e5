"""Whether RE2 runs a regular expression, told without RE2: DuckDB matches with it, in time linear in the text.

RE2's syntax page lists what it lacks: lookaround, backreferences, possessive and atomic groups, conditions, and
repeats above 1000. A pattern is parsed by Python's own parser, after what only RE2 knows
(`\\pL`, `\\z`) has been put in Python's words.
"""

import re
import warnings
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Final

MAX_LENGTH: Final = 1000
_MAX_REPEAT: Final = 1000
"""RE2's own limit, also for the product of nested repeats."""

_ESCAPES: Final = frozenset("aftnrvdDsSwWbBAzpPx")
_TOKEN: Final = re.compile(
    r"\\p\{\^?\w+\}|\\P\{\^?\w+\}|\\[pP]\w|\\.|\(\?<(?=[A-Za-z_])|\(\?#|\(\?(?=[a-zA-Z-]+[:)])[a-zA-Z-]+|.",
    re.DOTALL,
)
_REASONS: Final = {
    codes.ASSERT: "looks ahead or behind, (?=…) or (?<=…)",
    codes.ASSERT_NOT: "looks ahead or behind, (?!…) or (?<!…)",
    codes.GROUPREF: r"refers back to a group (\1)",
    codes.GROUPREF_EXISTS: "holds a condition, (?(1)…)",
    codes.ATOMIC_GROUP: "holds an atomic group, (?>…)",
    codes.POSSESSIVE_REPEAT: "holds a possessive repeat (a++)",
}


def why_not_re2(pattern: str) -> str | None:
    """What keeps RE2 from running the pattern, as the end of the sentence "the pattern …"; None when it runs."""
    if len(pattern) > MAX_LENGTH:
        return f"has {len(pattern)} characters; the limit is {MAX_LENGTH}"
    words, reason = _in_python(pattern)
    if reason is not None:
        return reason
    try:
        with warnings.catch_warnings():
            # [[:alpha:]] is RE2's; Python only warns that it may read it otherwise one day.
            warnings.simplefilter("ignore")
            return next(_faults(parser.parse(words), 1), None)
    except (re.error, OverflowError) as error:
        return f"is no regular expression: {error}"
    except RecursionError:
        return "is nested too deeply"


def _in_python(pattern: str) -> tuple[str, str | None]:
    """The pattern in Python's words, and what RE2 lacks that Python's tree would hide."""
    words: list[str] = []
    in_class = False
    for token in _TOKEN.findall(pattern):
        if token.startswith("\\") and len(token) > 1:
            letter = token[1]
            if letter.isalpha() and letter not in _ESCAPES:
                return "", f"holds the escape \\{letter}, which RE2 doesn't have"
            if in_class and letter == "b":
                return "", "holds \\b in a class, which RE2 doesn't have"
            words.append("a" if letter in "pP" else "\\Z" if letter == "z" else token)
        elif in_class:
            in_class = token != "]"
            words.append(token)
        elif token == "(?#":
            return "", "holds a comment, (?#…)"
        elif token.startswith("(?") and len(token) > 2:
            if token == "(?<":
                return "", "names a group (?<name>…), which DuckDB's RE2 doesn't read; write (?P<name>…)"
            if set(token[2:]) - set("ims-"):
                return "", f"sets a flag that RE2 doesn't have: {token})"
            words.append(token)
        else:
            in_class = token == "["
            words.append(token)
    return "".join(words), None


def _faults(node: object, repeats: int) -> Iterator[str]:
    """Reasons in the tree: sequences of (code, argument), whose arguments hold further sequences."""
    for code, argument in _operations(node):
        if code in _REASONS:
            yield _REASONS[code]
        below = repeats
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and isinstance(argument, tuple):
            low, high = argument[0], argument[1]
            below *= max(1, low if high is codes.MAXREPEAT else high)
            if below > _MAX_REPEAT:
                yield f"repeats more than {_MAX_REPEAT} times"
        yield from _inside(argument, below)


def _operations(node: object) -> Iterator[tuple[object, object]]:
    if isinstance(node, parser.SubPattern):
        yield from node.data


def _inside(argument: object, repeats: int) -> Iterator[str]:
    if isinstance(argument, parser.SubPattern):
        yield from _faults(argument, repeats)
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from _inside(part, repeats)
