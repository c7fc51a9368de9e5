"""One MLflow server as its REST API shows it, on httpx (extra `cli`); nothing of the package mlflow is needed."""

import json
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx

from shipworthy.errors import ShipworthyError

Document = Mapping[str, Any]

BLOCK_BYTES: Final = 2**20
WORKSPACE_HEADER: Final = "X-MLFLOW-WORKSPACE"
_MAX_SENTENCE: Final = 1000


class MlflowError(ShipworthyError):
    """MLflow was asked and gave no answer that can be used."""


class MlflowAway(MlflowError):
    """Nothing was heard from MLflow, or it can't answer now."""


class MlflowRefused(MlflowError):
    """MLflow said no. `status` is that of HTTP, `code` MLflow's own word such as PERMISSION_DENIED, "" when what
    answered is not MLflow's own error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    @property
    def is_about_the_user(self) -> bool:
        """Whether another user or password is needed. MLflow's basic-auth says so in plain text, a guard never."""
        return self.status == 401 or (self.status == 403 and not self.code)


@dataclass(frozen=True, slots=True)
class Download:
    """A file that is being read. `blocks` is None when the file still has the ETag that was known."""

    etag: str | None
    blocks: Iterator[bytes] | None


class MlflowServer:
    """`with MlflowServer("http://localhost:5000", authorization_of()) as server: …`; not for several threads.

    Every call raises MlflowAway or MlflowRefused when it has no answer. `workspace` None is the default one;
    `timeout` is in seconds. Certificates are those of the system, or MLFLOW_TRACKING_SERVER_CERT_PATH.
    """

    def __init__(
        self,
        url: str,
        authorization: str | None = None,
        *,
        workspace: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        # Asked for as it is stored: what is packed on the way would have other ETags, or none.
        headers = {"Accept-Encoding": "identity", "User-Agent": "shipworthy"}
        if authorization is not None:
            headers["Authorization"] = authorization
        if workspace is not None:
            headers[WORKSPACE_HEADER] = workspace
        self.url = url.rstrip("/")
        self.workspace = workspace
        # Neither proxies of the environment nor redirects: the credentials go where they were meant to go.
        self._http = httpx.Client(
            base_url=self.url, headers=headers, timeout=timeout, trust_env=False, verify=_certificates(url)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> Document:
        return self._document(self._request("GET", path, parameters, None))

    def send(self, method: str, path: str, body: Mapping[str, object]) -> Document:
        return self._document(self._request(method, path, None, json.dumps(body).encode()))

    def pages(self, path: str, parameters: Mapping[str, str | int], member: str) -> Iterator[Document]:
        """What all pages of a list hold under `member`, in the order of the server."""
        token: str | None = None
        while True:
            given = {**parameters, "page_token": token} if token else parameters
            answer = self.get(path, given)
            yield from answer.get(member) or ()
            token = answer.get("next_page_token") or None
            if token is None:
                return

    @contextmanager
    def download(
        self, path: str, parameters: Mapping[str, str], etag: str | None = None
    ) -> Iterator[Download]:
        """A file of the server's, a block at a time; `etag` is what its bytes had when they were read last."""
        headers = {} if etag is None else {"If-None-Match": etag}
        try:
            with self._http.stream("GET", path, params=dict(parameters), headers=headers) as response:
                if response.status_code == httpx.codes.NOT_MODIFIED:
                    yield Download(etag, None)
                    return
                if response.status_code != httpx.codes.OK:
                    response.read()
                    raise self._refusal(response)
                found = response.headers.get("etag")
                # Not every server answers 304. One that tells the same ETag has said as much.
                unchanged = found is not None and found == etag
                yield Download(found, None if unchanged else response.iter_raw(BLOCK_BYTES))
        except httpx.HTTPError as error:
            raise self._away(error) from error

    def _request(
        self, method: str, path: str, parameters: Mapping[str, str | int] | None, content: bytes | None
    ) -> httpx.Response:
        headers = {} if content is None else {"Content-Type": "application/json"}
        try:
            response = self._http.request(method, path, params=parameters, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise self._away(error) from error
        if response.status_code != httpx.codes.OK:
            raise self._refusal(response)
        return response

    def _document(self, response: httpx.Response) -> Document:
        try:
            found = response.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise MlflowRefused(
                response.status_code,
                "",
                f"{self.url} answers, but not as an MLflow server does; check the address",
            )
        return found

    def _away(self, error: httpx.HTTPError) -> MlflowAway:
        if isinstance(error, httpx.TimeoutException):
            return MlflowAway(f"MLflow at {self.url} does not answer in time")
        why = re.sub(r"\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
        return MlflowAway(f"MLflow at {self.url} can't be reached: {why}")

    def _refusal(self, response: httpx.Response) -> MlflowError:
        status = response.status_code
        try:
            said = response.json()
            code, message = str(said["error_code"]), str(said["message"])
        except (ValueError, KeyError, TypeError):
            code, message = "", f"MLflow at {self.url} answers {status}"
            if status == httpx.codes.UNAUTHORIZED:
                message += "; put the user into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
            if status == httpx.codes.FORBIDDEN:
                message += ": this user may not do that there"
        if status == httpx.codes.TOO_MANY_REQUESTS or (status >= 500 and not code):
            return MlflowAway(message[:_MAX_SENTENCE])
        return MlflowRefused(status, code, message[:_MAX_SENTENCE])


def _certificates(url: str) -> ssl.SSLContext:
    if urlsplit(url).scheme != "https":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # Reading authorities that nobody asks takes 25 ms.
    return ssl.create_default_context(cafile=os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH") or None)
