"""What the client raises, and only where it was asked to: in strict mode, by `sync`, and for wrong arguments
there.

ShipworthyError
├── UsageError       an argument that can't be recorded; the sentence says how to write it
├── JournalError     the journal can't be written, or a folder is no journal
└── NotDelivered     the service did not take what was sent; nothing is lost, it can be sent again
    └── TooLarge     a request that it will not take in one piece
"""

from enum import Enum


class ShipworthyError(Exception):
    """Base of all errors of this package."""


class UsageError(ShipworthyError, ValueError):
    """An argument can't be recorded."""


class JournalError(ShipworthyError, OSError):
    """The journal can't be written or read."""


class Trouble(Enum):
    """Why nothing was delivered. One warning line is printed for each of them in a process."""

    UNREACHABLE = "can't be reached"
    NAME = "has a name that can't be resolved"
    TLS = "has a certificate that is not trusted"
    HANDSHAKE = "makes no TLS connection"
    SILENT = "does not answer in time"
    BUSY = "is busy"
    KEY = "does not accept the key"
    FAULT = "has a fault"
    REFUSED = "refused records"
    STRANGE = "does not answer as a Shipworthy service does"


class NotDelivered(ShipworthyError):
    """The service did not take it; send it again, after `retry_after` seconds when that is given."""

    def __init__(self, trouble: Trouble, detail: str, retry_after: float | None = None) -> None:
        super().__init__(f"the service {trouble.value}: {detail}")
        self.trouble = trouble
        self.detail = detail
        self.retry_after = retry_after


class TooLarge(NotDelivered):
    """The service, or a proxy before it, takes no request of this size; smaller parts may pass."""
