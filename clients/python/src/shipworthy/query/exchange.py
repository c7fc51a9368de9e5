"""Requests to the service and their answers: what every call of the query client stands on."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

try:
    import httpx
except ModuleNotFoundError as error:
    if error.name != "httpx":
        raise
    raise ModuleNotFoundError(
        "shipworthy.query needs the package httpx; install the extra that brings it: pip install 'shipworthy[cli]'",
        name=error.name,
    ) from error

from shipworthy.query.errors import FieldProblem, NotShipworthy, Refused, Unreachable, refusal_class
from shipworthy.query.results import Document
from shipworthy.settings import check_url

TRIES: Final = 3
MAX_WAIT_SECONDS: Final = 5.0
WHOLE_ANSWER: Final = 4
"""A small answer may take so many times the timeout, which counts for each part of it."""
SLOWEST_DOWNLOAD: Final = 8 * 2**10
"""Bytes a second, for which a large one may take longer."""
PAGE: Final = 200
_OF_THE_WAY: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_Result = TypeVar("_Result")


class Exchange:
    """One service and one key. Only GET is sent again, and only after a 503: after anything else nobody knows
    whether it helps."""

    def __init__(self, url: str, token: str | None = None, timeout: float = 30.0) -> None:
        check_url(url)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Neither proxies of the environment nor redirects: the token goes where it was meant to go.
        self._answer_seconds = WHOLE_ANSWER * timeout
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, trust_env=False)
        self.url = url.rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _pages(
        self,
        path: str,
        filters: Mapping[str, str | int | None],
        page: int,
        make: Callable[[Document], _Result],
    ) -> Iterator[_Result]:
        after: str | None = None
        while True:
            answer = self._get(path, {**filters, "limit": page, "after": after})
            items = self._read(lambda answer: [make(item) for item in answer["items"]], answer)
            yield from items
            after = answer.get("next")
            if after is None:
                return

    def _get(self, path: str, parameters: Mapping[str, str | int | None] | None = None) -> Document:
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        return self._document(self._exchange("GET", path, params=given))

    def _post(self, path: str, asked: Mapping[str, object]) -> Document:
        """The answer to a JSON body of those members that are not None."""
        body = json.dumps({name: value for name, value in asked.items() if value is not None}).encode()
        return self._document(
            self._exchange("POST", path, content=body, headers={"Content-Type": "application/json"})
        )

    def _exchange(
        self,
        method: str,
        path: str,
        params: Mapping[str, str | int] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        attempt = 0
        while True:
            attempt += 1
            try:
                with self._http.stream(
                    method, path, params=params, content=content, headers=headers
                ) as stream:
                    response = _whole(stream, time.monotonic() + self._answer_seconds)
            except httpx.TimeoutException as error:
                raise Unreachable(
                    f"{self.url} does not answer in time; is the service busy or stuck?"
                ) from error
            except httpx.HTTPError as error:
                why = re.sub(r"\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
                raise Unreachable(f"{self.url} can't be reached: {why}") from error
            if response.status_code < 300:
                return response
            if response.status_code != 503 or method != "GET" or attempt == TRIES:
                raise self._refusal(response)
            time.sleep(min(_retry_after(response) or 0.2 * attempt, MAX_WAIT_SECONDS))

    def _refusal(self, response: httpx.Response) -> Refused | NotShipworthy:
        try:
            said = response.json()
            problems = tuple(FieldProblem(each["field"], each["message"]) for each in said.get("errors", ()))
            return refusal_class(response.status_code)(
                response.status_code,
                said["code"],
                said["detail"],
                problems,
                said.get("request_id"),
                _retry_after(response),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return self._stranger(response.status_code)

    def _stranger(self, status: int) -> NotShipworthy:
        return NotShipworthy(
            f"{self.url} answers {status}, but not as a Shipworthy service does; check the address"
        )

    def _document(self, response: httpx.Response) -> dict[str, Any]:
        try:
            document = response.json()
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self._stranger(response.status_code)
        return document

    def _read(self, make: Callable[[Any], _Result], document: object) -> _Result:
        try:
            return make(document)
        except (KeyError, TypeError, AttributeError) as error:
            raise NotShipworthy(
                f"{self.url} gave an answer that this client can't read ({error}); bring both to one version"
            ) from error


def _whole(stream: httpx.Response, until: float) -> httpx.Response:
    """The answer read to its end. Raises ReadTimeout when that comes too late: a byte now and then keeps every other
    timeout from ending it."""
    parts = []
    for part in stream.iter_bytes():
        parts.append(part)
        until += len(part) / SLOWEST_DOWNLOAD
        if time.monotonic() > until:
            raise httpx.ReadTimeout("the answer does not end", request=stream.request)
    headers = [(name, value) for name, value in stream.headers.items() if name not in _OF_THE_WAY]
    return httpx.Response(
        stream.status_code, headers=headers, content=b"".join(parts), request=stream.request
    )


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None
