"""The limit of open files and connections, which a crowd of clients reaches: anything may fail of it, for a while."""

import errno
from typing import Final

from models.errors import Unavailable

_LIMITS: Final = frozenset({errno.EMFILE, errno.ENFILE})


def at_file_limit(error: BaseException) -> Unavailable | None:
    """What to answer when the operating system gave no file because too many are open; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _LIMITS:
        return None
    unavailable = Unavailable(
        "the service has as many files and connections open as it may; send it again in a second"
    )
    unavailable.__cause__ = error
    return unavailable
