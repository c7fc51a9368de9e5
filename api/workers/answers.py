"""What the service answered a worker: a value, a no, or nothing for now."""

import http.client
import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, Final

MAX_RETRY_AFTER: Final = 300.0
"""Seconds."""
_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})

Json = Any
"""What json.loads gives; it is looked at where it is used."""


class ServiceAway(Exception):
    """The service could not be asked, or can't answer now: ask again, after `retry_after` seconds when it says so."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Refused(Exception):
    """The service answered, and the answer is no: another try would be answered the same."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{detail} ({status} {code})")
        self.status = status
        self.code = code
        self.detail = detail

    @property
    def is_about_the_key(self) -> bool:
        return self.status in (401, 403)


def read_answer(response: http.client.HTTPResponse, data: bytes) -> Json:
    """The JSON of the answer, None for one without a body. Raises ServiceAway and Refused."""
    status = response.status
    found: Json = None
    if data and "json" in (response.getheader("Content-Type") or ""):
        try:
            found = json.loads(data)
        except ValueError:
            raise ServiceAway(f"its answer {status} is cut or no JSON") from None
    if 200 <= status < 300:
        return found
    problem = found if isinstance(found, dict) else {}
    detail = str(problem.get("detail") or f"it answers {status}")[:500]
    if status in _BUSY:
        raise ServiceAway(detail, _retry_after(response.getheader("Retry-After")))
    if 300 <= status < 400:
        detail = "it sends to another address; give --url that one"
    raise Refused(status, str(problem.get("code") or "unknown"), detail)


def _retry_after(text: str | None) -> float | None:
    """Seconds of a Retry-After header: a number or an HTTP date (RFC 9110 section 10.2.3)."""
    if text is None:
        return None
    if text.strip().isdigit():
        return min(float(text), MAX_RETRY_AFTER)
    try:
        return min(max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0), MAX_RETRY_AFTER)
    except (ValueError, OverflowError):
        return None
