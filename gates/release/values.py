"""Types of values that policies and facts share."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from shipworthy.formats.digests import DIGEST_PATTERN
from shipworthy.formats.times import parse_instant

Severity: TypeAlias = Literal["warn", "review", "block"]
Level: TypeAlias = Literal["server_run", "trusted_runner", "self_reported"]
Grade: TypeAlias = Literal["content", "manifest", "store", "sampled", "declared", "none"]
Task: TypeAlias = Literal["binary", "multiclass", "regression"]

LEVELS: Final[tuple[Level, ...]] = ("server_run", "trusted_runner", "self_reported")
"""Strongest first."""
GRADES: Final[tuple[Grade, ...]] = ("content", "manifest", "store", "sampled", "declared", "none")
"""Strongest first."""

_DURATION: Final = re.compile(
    r"P(?:(\d{1,5})W|(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?)"
)
_LONGEST: Final = timedelta(days=36_525)

_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,255}$"
_GATE_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
_IDENTIFIER: Final = r"^[a-z0-9][a-z0-9_-]{0,63}$"
_LINE: Final = "^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
_METRIC_NAME: Final = r"^[a-z0-9][a-z0-9_]{0,63}$"
_DIMENSION: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
PATTERN_WORDS: Final[Mapping[str, str]] = {
    DIGEST_PATTERN: "must be a digest: sha256: and 64 lower-case hexadecimal digits (never a tag or an alias)",
    _NAME: "must be one line of at most 256 letters, digits and . _ : @ / -, and start with a letter or digit",
    _GATE_NAME: "must be one line of at most 128 letters, digits and . _ : @ -, and start with a letter or digit",
    _IDENTIFIER: "must be a short name of lower-case letters, digits, - and _, such as auc-floor",
    _LINE: "holds a control character or line break; remove it",
    _METRIC_NAME: "must be the name of a metric, such as roc_auc or p95_latency_ms",
    _DIMENSION: "must be the name of a dimension: at most 64 letters, digits and _ . -, such as age_group",
}
"""For each pattern of a policy the words in which a refusal says what is expected."""

Item = TypeVar("Item")


def parse_duration(text: str) -> timedelta:
    """An ISO 8601 duration of weeks, or of days, hours, minutes and seconds: P7D, PT12H, P1DT6H. ValueError for
    another text, for years and months (which have no fixed length), for zero and for more than 100 years."""
    match = _DURATION.fullmatch(text)
    if match is None or text[-1] in "PT":
        raise ValueError(f"{text[:40]!r} is no duration; write it like P7D, PT12H or P1DT6H")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    duration = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not timedelta(0) < duration <= _LONGEST:
        raise ValueError(f"{text!r} must be longer than nothing and at most 100 years")
    return duration


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise ValueError("must be a duration such as P7D")
    return parse_duration(value)


def _instant(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be a time such as 2026-05-01T12:00:00Z")
    return parse_instant(value)


Digest = Annotated[str, Field(pattern=DIGEST_PATTERN)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
"""Aware, in UTC. A time without a zone is refused: nobody knows when it was."""
Name = Annotated[str, Field(pattern=_NAME)]
GateName = Annotated[str, Field(pattern=_GATE_NAME)]
Identifier = Annotated[str, Field(pattern=_IDENTIFIER)]
Line = Annotated[str, Field(min_length=1, max_length=1024, pattern=_LINE)]
MetricName = Annotated[str, Field(pattern=_METRIC_NAME)]
Dimension = Annotated[str, Field(pattern=_DIMENSION)]
Items = Annotated[tuple[Item, ...], Field(strict=False)]
"""A list as JSON has it, kept as a tuple."""


class PolicyPart(BaseModel):
    """Base of all parts of a policy: frozen, nothing coerced, members named as in YAML, unknown ones refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, alias_generator=to_camel
    )


class Part(BaseModel):
    """Base of all parts of the facts: frozen, nothing coerced. Members beyond these are for people who read it."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)
