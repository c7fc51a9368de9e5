"""Field types shared by record bodies and requests: lengths, patterns and instants.

A value that breaks its rule is refused, never cut: what is accepted reads back identical.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, overload

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from models.patterns import IDENTIFIER_PATTERN, LINE_PATTERN, RUN_ID_PATTERN, TEXT_PATTERN
from shipworthy.formats.digests import DIGEST_PATTERN
from shipworthy.formats.times import parse_instant

MAX_SAFE_INTEGER: Final = 2**53 - 1


def _parse_instant(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError('must be a string such as "2026-05-01T12:00:00.000Z"')
    return parse_instant(value)


def _check_distinct(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise ValueError("names an entry twice; name each once")
    return values


@overload
def instant_text(when: datetime) -> str: ...
@overload
def instant_text(when: datetime | None) -> str | None: ...
def instant_text(when: datetime | None) -> str | None:
    """UTC text of fixed width (microseconds, "Z"), so that text order is time order."""
    if when is None:
        return None
    # Not strftime: its %Y writes the year 999 with three digits on some systems.
    if when.tzinfo is not UTC:
        when = when.astimezone(UTC)
    return when.isoformat(timespec="microseconds")[:26] + "Z"


Digest = Annotated[str, Field(pattern=DIGEST_PATTERN, description="sha256:<64 lower-case hex digits>")]
Identifier = Annotated[str, Field(pattern=IDENTIFIER_PATTERN)]
RunId = Annotated[str, Field(pattern=RUN_ID_PATTERN, description="UUIDv7, lower case, made by the client")]
Label = Annotated[str, Field(min_length=1, max_length=256, pattern=LINE_PATTERN)]
"""One line of at most 256 characters."""
Line = Annotated[str, Field(min_length=1, max_length=2048, pattern=LINE_PATTERN)]
"""One line of at most 2,048 characters: URIs, paths, versions."""
Text = Annotated[str, Field(max_length=16384, pattern=TEXT_PATTERN)]
"""Free text of at most 16,384 characters; tabs and line breaks allowed."""
Reason = Annotated[str, Field(min_length=1, max_length=4096, pattern=TEXT_PATTERN)]
"""Why something was done, in words that stay: 1 to 4,096 characters; tabs and line breaks allowed."""
Instant = Annotated[
    datetime,
    BeforeValidator(_parse_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "description": "RFC 3339 with a zone"}),
]
Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
Bytes = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER, description="bytes")]
Seconds = Annotated[float, Field(ge=0, description="seconds")]
DISTINCT: Final = AfterValidator(_check_distinct)
"""For lists that are sets: a list that names an entry twice is refused."""


LAX: Final = Field(strict=False)
"""For enums: strict validation would take members only, and JSON has strings."""


class Value(BaseModel):
    """Base of every record body and request: frozen, unknown fields refused, nothing coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
