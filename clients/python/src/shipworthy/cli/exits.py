"""Exit codes of the command line, the same for every command."""

from enum import IntEnum


class Exit(IntEnum):
    """70 is EX_SOFTWARE of BSD's sysexits."""

    OK = 0
    NEGATIVE = 1
    USAGE = 2
    REVIEW = 3
    NOT_JUDGED = 4
    UNREACHABLE = 5
    AUTH = 6
    BUG = 70
