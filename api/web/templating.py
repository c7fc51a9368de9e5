"""Templates: everything is escaped, what is missing raises, and text can't pretend to be other text."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from api.web import links
from api.web.histograms import share_in_words
from api.web.static_files import static_address

if TYPE_CHECKING:
    from jinja2 import Environment

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
"""Control characters and those that Unicode lets change the direction or the look of their neighbours."""


def visible(value: object) -> object:
    """Text with invisible characters spelt out: a name with U+202E reads as `⟨U+202E⟩`, not backwards."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", value)
    return value


def whole_number(value: int) -> str:
    """1234567 as 1,234,567."""
    return f"{value:,}"


def instant(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def minute(value: datetime) -> str:
    """The time of day in UTC: "17:05"."""
    return value.astimezone(UTC).strftime("%H:%M")


@cache
def starter_text(name: str) -> str:
    """A file that can be published as it stands, for a page that has none to show yet."""
    return (Path(__file__).parent / "starters" / name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    """Made for the first page: a service that only machines ask does without."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"static": static_address, "links": links, "starter_text": starter_text}
    environment.filters |= {
        "share": share_in_words,
        "number": whole_number,
        "instant": instant,
        "minute": minute,
    }
    return environment


def render(template: str, values: Mapping[str, object]) -> str:
    """Raises jinja2.UndefinedError when a template uses what isn't among the values."""
    return _environment().get_template(template).render(values)
