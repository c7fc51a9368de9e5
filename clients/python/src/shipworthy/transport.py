"""Requests to the service: one kept connection, short timeouts, no redirects, no proxies of the
environment."""

import json
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from shipworthy.errors import NotDelivered, TooLarge, Trouble
from shipworthy.values import Json, first_line

if TYPE_CHECKING:
    import ssl
    from http.client import HTTPConnection, HTTPResponse

    from shipworthy.pacing import PacedSocket

CONNECT_SECONDS: Final = 2.0
READ_SECONDS: Final = 5.0
MAX_ANSWER_BYTES: Final = 32 * 2**20
MAX_RETRY_AFTER: Final = 60.0
"""Seconds, the longest that a service's return may go unseen; a proxy's page of errors may ask for a day."""
COMPRESS_FROM: Final = 1024
"""Bodies of fewer bytes are sent plain."""


class Transport:
    """Not safe for use by several threads at once; `close` between uses costs one connection."""

    def __init__(self, url: str, token: str | None, read_seconds: float = READ_SECONDS) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._token = token
        self._read_seconds = read_seconds
        self._connection: HTTPConnection | None = None
        self._socket: PacedSocket | None = None

    def post(self, path: str, body: bytes, content_type: str = "application/json") -> Json:
        """The JSON of the answer. Raises NotDelivered for everything but 200 and 201."""
        headers = {"Content-Type": content_type}
        if len(body) >= COMPRESS_FROM:
            import gzip

            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, 1, mtime=0)
        return self._exchange("POST", path, body, headers)[0]

    def put_blob(self, digest: str, body: bytes) -> None:
        """Raises NotDelivered."""
        self._exchange("PUT", f"/v1/blobs/{digest}", body, {"Content-Type": "application/octet-stream"})

    def get(self, path: str) -> Json:
        """Raises NotDelivered."""
        return self._exchange("GET", path, b"", {})[0]

    def get_changed(self, path: str, tag: str | None) -> tuple[Json, str | None] | None:
        """The same with the answer's ETag; None while the answer with the ETag `tag` still holds (RFC 9110 section
        13.1.2). Raises NotDelivered."""
        found = self._exchange("GET", path, b"", {} if tag is None else {"If-None-Match": tag})
        return None if found[0] is None else found

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = self._socket = None

    def _exchange(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[Json, str | None]:
        """The JSON, None for 304, and the ETag."""
        import http.client
        import socket
        import ssl

        headers["Accept"] = "application/json"
        headers["User-Agent"] = "shipworthy-client"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        kept = self._connection is not None
        try:
            try:
                response = self._send(method, path, body, headers)
            except (ConnectionError, http.client.RemoteDisconnected):
                # A kept connection may have been closed meanwhile. Sending twice is harmless: all is keyed.
                if not kept:
                    raise
                self.close()
                response = self._send(method, path, body, headers)
            data = response.read(MAX_ANSWER_BYTES)
            if response.will_close:
                self.close()
            if response.status == 304 and "If-None-Match" in headers:
                return None, headers["If-None-Match"]
            return _answer(response, data), response.getheader("ETag")
        except NotDelivered:
            # What is left of a strange answer must not be read as the next one.
            self.close()
            raise
        except socket.gaierror as error:
            trouble, why = Trouble.NAME, f"{self._host}: {error.strerror}"
        except ssl.SSLCertVerificationError as error:
            trouble, why = Trouble.TLS, error.verify_message or error.reason or str(error)
        except ssl.SSLError as error:
            trouble, why = Trouble.HANDSHAKE, self._no_handshake(error)
        except TimeoutError:
            trouble, why = Trouble.SILENT, f"{self._host} took more than {self._read_seconds:.0f} s"
        except OSError as error:
            trouble, why = Trouble.UNREACHABLE, f"{self._host}: {error.strerror or error}"
        except (http.client.HTTPException, ValueError) as error:
            trouble, why = Trouble.STRANGE, f"{type(error).__name__}: {first_line(str(error), 200)}"
        self.close()
        raise NotDelivered(trouble, why)

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> "HTTPResponse":
        import http.client

        connection = self._connection or self._connect()
        paced = self._socket
        if body and paced is not None:
            # http.client sends head and body one by one: on a busy machine the service would be woken for each.
            paced.cork(True)
        try:
            connection.request(method, self._prefix + path, body, headers)
            if body and paced is not None:
                paced.cork(False)
        except ConnectionError as broken:
            # Who takes no more of a body that is too large for it may have answered first.
            try:
                response = connection.getresponse()
            except (OSError, http.client.HTTPException):
                raise broken from None
            response.will_close = True
            return response
        return connection.getresponse()

    def _no_handshake(self, error: "ssl.SSLError") -> str:
        if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"):
            return f"port {self._port or 443} of {self._host} speaks none; is its address http://?"
        return error.reason or str(error)

    def _connect(self) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        from shipworthy.pacing import PacedSocket

        connection: HTTPConnection
        if self._secure:
            import ssl

            context = ssl.create_default_context()
            connection = HTTPSConnection(self._host, self._port, timeout=CONNECT_SECONDS, context=context)
        else:
            connection = HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        connection.connect()
        self._connection = connection
        connection.sock = self._socket = PacedSocket(connection.sock, self._read_seconds)
        return connection


def _answer(response: "HTTPResponse", data: bytes) -> Json:
    status = response.status
    found: Json = None
    if "json" in (response.getheader("Content-Type") or ""):
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            raise NotDelivered(Trouble.STRANGE, f"its answer {status} is cut or no JSON") from None
    if status in (200, 201) and found is not None:
        return found
    detail = str(found["detail"]) if isinstance(found, dict) and "detail" in found else f"it answers {status}"
    detail = first_line(detail, 300)
    if status in (429, 503):
        raise NotDelivered(Trouble.BUSY, detail, _seconds(response.getheader("Retry-After")))
    if status in (401, 403, 407):
        raise NotDelivered(Trouble.KEY, detail)
    if status == 413:
        raise TooLarge(Trouble.STRANGE, detail)
    if status >= 500:
        raise NotDelivered(Trouble.FAULT, detail, _seconds(response.getheader("Retry-After")))
    if 300 <= status < 400:
        raise NotDelivered(
            Trouble.STRANGE, f"it sends to another address ({status}); give SHIPWORTHY_URL that one"
        )
    raise NotDelivered(Trouble.STRANGE, detail)


def _seconds(retry_after: str | None) -> float | None:
    """Seconds of a Retry-After header, which holds a number or an HTTP date (RFC 9110 section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.strip().isdigit():
        return min(float(retry_after), MAX_RETRY_AFTER)
    from email.utils import parsedate_to_datetime

    try:
        return min(max(parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0), MAX_RETRY_AFTER)
    except (ValueError, OverflowError):
        return None
