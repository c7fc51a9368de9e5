"""The patterns that texts must match, and for each the words in which a refusal says what is expected."""

import re
from collections.abc import Mapping
from typing import Final

from shipworthy.formats.digests import DIGEST_PATTERN

IDENTIFIER_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255}$"
NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"
"""Of contracts, gates, SLOs and versions: what one part of a URL's path can hold."""
# RFC 9562 text form in lower case, version 7: one spelling for one run, so that ids compare as text.
RUN_ID_PATTERN: Final = r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
# Control characters and the Unicode bidirectional overrides, which make one name look like another. As patterns,
# because a function per string was a third of what validation costs.
LINE_PATTERN: Final = "^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
TEXT_PATTERN: Final = "^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*$"
MODEL_PATTERN: Final = "^[^|\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
PATH_PATTERN: Final = r"^[^/\\\x00-\x1f][^\\\x00-\x1f]*$"
WINDOW_PATTERN: Final = r"^[^\x00-\x20\x7f]+$"
DAY_PATTERN: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
HOUR_PATTERN: Final = r"^\d{4}-\d{2}-\d{2}T\d{2}$"
COMMIT_PATTERN: Final = r"^[0-9a-f]{7,64}$"
TREE_PATTERN: Final = r"^[0-9a-f]{40,64}$"
TOKEN_PATTERN: Final = r"^[0-9a-f]{32}$"
"""Of what is made anew for one use, and of pseudonyms: 128 bits."""
KEY_ID_PATTERN: Final = r"^[a-z2-7]{12}$"
IDEMPOTENCY_KEY_PATTERN: Final = "^[!-~]{1,255}$"

_WORDS: Final[Mapping[str, str]] = {
    DIGEST_PATTERN: "must be a digest: sha256: and 64 lower-case hex digits",
    IDENTIFIER_PATTERN: "must have at most 256 letters, digits and . _ / : @ -, and start with a letter or digit, such "
    "as team-a/churn",
    NAME_PATTERN: "must have at most 128 letters, digits and . _ : @ -, and start with a letter or digit, such as "
    "taxi-trips",
    RUN_ID_PATTERN: "must be a UUIDv7 in lower case, such as 0196a5f2-7c00-7d3e-8a41-5b0c9e6f1d27",
    LINE_PATTERN: "holds a control character or line break; remove it",
    TEXT_PATTERN: "holds a control character; only tab and line breaks are taken",
    MODEL_PATTERN: "holds a |, a control character or a line break; remove it",
    PATH_PATTERN: "must be a path beneath the root, such as year=2026/part-0.parquet: no / at its start, no \\ and no "
    "control character",
    WINDOW_PATTERN: "must be the id of a window, such as trained-daily/2026-05-01: no space and no control character",
    DAY_PATTERN: "must be a date, such as 2026-05-01",
    HOUR_PATTERN: "must be an hour, such as 2026-05-01T12",
    COMMIT_PATTERN: "must be a commit as Git names it: 7 to 64 lower-case hex digits, such as 3f2a9c1",
    TREE_PATTERN: "must be a tree as Git names it: 40 to 64 lower-case hex digits",
    TOKEN_PATTERN: "must be 32 lower-case hex digits, such as 5f0c9e6f1d270196a5f27c007d3e8a41",
    KEY_ID_PATTERN: "must be the id of a key: 12 characters of a to z and 2 to 7, those after sw_ in its token",
    IDEMPOTENCY_KEY_PATTERN: "must be 1 to 255 printable ASCII characters without spaces",
}
_CHOICE: Final = re.compile(r"\^\((\w+(?:\|\w+)+)\)\$")


def words_of(pattern: str) -> str | None:
    """How a refusal says what matches, as the end of a sentence that begins with the field; None for a pattern that is
    not the service's own."""
    if choice := _CHOICE.fullmatch(pattern):
        *others, last = choice[1].split("|")
        return f"must be {', '.join(others)} or {last}"
    return _WORDS.get(pattern)
