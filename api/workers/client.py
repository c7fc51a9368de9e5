"""The worker's side of work over HTTP: claim, renew, complete, get and put blobs. One kept connection, the standard
library.

A client is for one thread at a time. No redirects, no proxies of the environment: the token goes to one address.
"""

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final
from urllib.parse import urlsplit

from api.workers.answers import Json, ServiceAway, read_answer

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 30.0
"""Beyond what the service was asked to wait."""
RENEW_SECONDS: Final = 10.0
"""A renewal that takes longer is better asked again: the lease lasts a minute."""
MAX_ANSWER_BYTES: Final = 64 * 2**20
BLOCK_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class Progress:
    """Steps done of all, and what is done at present."""

    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Work that is this worker's as long as its lease lasts; `request` and `inputs` as the service wrote them."""

    id: str
    kind: str
    lease: str
    attempt: int
    request: Mapping[str, Json]
    inputs: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class OpenBlob:
    """`blocks` are to be read once, before the blob is closed."""

    size: int
    blocks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Renewal:
    cancelled: bool


class ServiceClient:
    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._token = token
        self._connection: http.client.HTTPConnection | None = None

    def claim(
        self, kinds: Sequence[str], roots: Sequence[str], wait_seconds: int, lease: str
    ) -> Claim | None:
        """The next work of these kinds on these roots; None when there was none within `wait_seconds`, 0 to 30.

        `lease` is a random token of 32 hexadecimal digits, a new one for each work: after ServiceAway the same one
        gives the work whose answer was lost.
        """
        body = {"kinds": list(kinds), "roots": list(roots), "wait_seconds": wait_seconds, "lease": lease}
        answer = self._post("/v1/work:claim", body, READ_SECONDS + wait_seconds)
        if answer is None:
            return None
        try:
            return Claim(
                id=str(answer["id"]),
                kind=str(answer["kind"]),
                lease=str(answer["lease"]),
                attempt=int(answer["attempt"]),
                request=dict(answer["request"]),
                inputs=dict(answer["inputs"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ServiceAway(
                f"the service gave work that this worker does not understand: {error!r}"
            ) from None

    def renew(self, claim: Claim, progress: Progress | None) -> Renewal:
        body: dict[str, Json] = {"lease": claim.lease}
        if progress is not None:
            body["progress"] = asdict(progress)
        answer = self._post(f"/v1/work/{claim.id}:renew", body, RENEW_SECONDS)
        return Renewal(isinstance(answer, dict) and answer.get("cancelled") is True)

    def complete(self, claim: Claim, outcome: Mapping[str, Json]) -> None:
        """`outcome` has the member `result` or `error`."""
        self._post(f"/v1/work/{claim.id}:complete", {"lease": claim.lease, **outcome})

    def put_blob(self, digest: str, data: bytes) -> None:
        self._exchange("PUT", f"/v1/blobs/{digest}", data, "application/octet-stream", READ_SECONDS)

    @contextmanager
    def open_blob(self, digest: str) -> Iterator[OpenBlob]:
        """The blob's size and bytes. Raises ServiceAway and Refused, and ServiceAway while its blocks are read."""
        self.close()
        try:
            try:
                path = f"/v1/blobs/{digest}"
                response = self._begin(
                    "GET", path, b"", self._headers("application/octet-stream"), READ_SECONDS
                )
                if response.status != 200:
                    read_answer(response, response.read(MAX_ANSWER_BYTES))
                    raise ServiceAway(f"it answers {response.status} without the blob")
            except (OSError, http.client.HTTPException) as error:
                raise self._away(error) from error
            yield OpenBlob(int(response.getheader("Content-Length") or 0), self._blocks(response))
        finally:
            # What was not read of a blob would be in the way of the next answer.
            self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _post(self, path: str, body: Mapping[str, Json], seconds: float = READ_SECONDS) -> Json:
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        return self._exchange("POST", path, data, "application/json", seconds)

    def _exchange(self, method: str, path: str, body: bytes, content_type: str, seconds: float) -> Json:
        """The JSON of the answer, None for one without a body. Raises ServiceAway and Refused."""
        headers = self._headers(content_type)
        kept = self._connection is not None
        try:
            try:
                response, data = self._send(method, path, body, headers, seconds)
            except (ConnectionError, http.client.RemoteDisconnected):
                # A kept connection may have been closed meanwhile. Each of the calls may be sent twice.
                if not kept:
                    raise
                self.close()
                response, data = self._send(method, path, body, headers, seconds)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._away(error) from error
        if response.will_close:
            self.close()
        return read_answer(response, data)

    def _send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> tuple[http.client.HTTPResponse, bytes]:
        response = self._begin(method, path, body, headers, seconds)
        data = response.read(MAX_ANSWER_BYTES + 1)
        if len(data) > MAX_ANSWER_BYTES:
            raise http.client.HTTPException(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes")
        return response, data

    def _begin(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> http.client.HTTPResponse:
        """The answer, of which the head has been read."""
        connection = self._connection or self._connect()
        self._connection = connection
        connection.sock.settimeout(seconds)
        connection.request(method, self._prefix + path, body, headers)
        return connection.getresponse()

    def _blocks(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        try:
            while block := response.read(BLOCK_BYTES):
                yield block
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from error

    def _headers(self, content_type: str) -> dict[str, str]:
        return {
            "Accept": "application/json",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": content_type,
            "User-Agent": "shipworthy-worker",
        }

    def _away(self, error: OSError | http.client.HTTPException) -> ServiceAway:
        why = "it took too long" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        return ServiceAway(f"{self._host} can't be reached: {why}")

    def _connect(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._secure:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_SECONDS, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        connection.connect()
        return connection
