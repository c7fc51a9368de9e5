"""What asking the service can raise.

ShipworthyError
└── QueryError
    ├── Unreachable          no connection, no answer in time, a broken answer
    ├── NotShipworthy        something answered that is no Shipworthy service
    └── Refused              the service said no; `code`, `detail`, `problems` and `request_id` are its words
        ├── KeyRefused       401: no token, or none that is in force
        ├── RoleMissing      403: the key may not do this
        ├── NotFound         404: no such thing in the key's namespace
        ├── Conflict         409: the same was recorded with other content
        ├── Busy             503: send it again after `retry_after` seconds
        ├── ServiceFault     500: report the request id
        └── InvalidRequest   every other 4xx: the request is wrong
"""

from dataclasses import dataclass
from typing import Final

from shipworthy.errors import ShipworthyError


class QueryError(ShipworthyError):
    """The service was asked and gave no answer that can be used."""


class Unreachable(QueryError):
    """Nothing was heard from the service."""


class NotShipworthy(QueryError):
    """The address answers, but not as a Shipworthy service does."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A refused field (JSON pointer) and how to mend it."""

    field: str
    message: str


class Refused(QueryError):
    """A problem document (RFC 9457). `retry_after` is in seconds."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        problems: tuple[FieldProblem, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.problems = problems
        self.request_id = request_id
        self.retry_after = retry_after


class KeyRefused(Refused):
    """The token is missing, malformed, unknown, expired or revoked."""


class RoleMissing(Refused):
    """The key is in force and lacks the role."""


class NotFound(Refused):
    """Nothing of that name in the namespace of the key."""


class Conflict(Refused):
    """Recorded before with other content."""


class Busy(Refused):
    """Nothing was stored; try again."""


class ServiceFault(Refused):
    """A fault of the service."""


class InvalidRequest(Refused):
    """The request can't be taken as it is."""


_BY_STATUS: Final[dict[int, type[Refused]]] = {
    401: KeyRefused,
    403: RoleMissing,
    404: NotFound,
    409: Conflict,
    503: Busy,
}


def refusal_class(status: int) -> type[Refused]:
    """Which of the classes a status from 400 up is raised as."""
    return _BY_STATUS.get(status, ServiceFault if status >= 500 else InvalidRequest)
