"""Asking a Shipworthy service: synchronous, on httpx (extra `cli`). Runs are recorded by `shipworthy.run`.

Only GET is sent again, and only after a 503: after anything else nobody knows whether it helps.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

import httpx

from shipworthy.formats.digests import sha256_digest
from shipworthy.query import lineage as lineages
from shipworthy.query import results
from shipworthy.query.errors import FieldProblem, NotShipworthy, Refused, Unreachable, refusal_class
from shipworthy.settings import check_url

TRIES: Final = 3
MAX_WAIT_SECONDS: Final = 5.0
PAGE: Final = 200
_SAFE: Final = "/"
_Result = TypeVar("_Result")


class ShipworthyClient:
    """`with ShipworthyClient("https://shipworthy.example.org", token) as client: …`; not for several threads.

    Every call raises a QueryError (shipworthy.query.errors) when it has no answer. `timeout` is in seconds.
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 30.0) -> None:
        check_url(url)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Neither proxies of the environment nor redirects: the token goes where it was meant to go.
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

    def health(self) -> results.Health:
        """Whether the service is ready, its clock and version; asks for no key."""
        ready = self._exchange("GET", "/readyz")
        state = self._document(ready)
        if state.get("status") != "ready":
            raise self._stranger(ready.status_code)
        date = ready.headers.get("date")
        return results.Health(
            database=str(state.get("database")),
            clock=None if date is None else parsedate_to_datetime(date).astimezone(UTC),
            version=self._version(),
        )

    def runs(
        self,
        *,
        job_namespace: str | None = None,
        job: str | None = None,
        team: str | None = None,
        state: str | None = None,
        recipe_digest: str | None = None,
        family_digest: str | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
        page: int = PAGE,
    ) -> Iterator[results.RunSummary]:
        """Newest first, `page` (1 to 500) at a time while they are asked for."""
        filters = {
            "job_namespace": job_namespace,
            "job": job,
            "team": team,
            "state": state,
            "recipe_digest": recipe_digest,
            "family_digest": family_digest,
            "started_after": None if started_after is None else started_after.isoformat(),
            "started_before": None if started_before is None else started_before.isoformat(),
        }
        return self._pages("/v1/runs", filters, page, results.run_summary)

    def run(self, run_id: str) -> results.Document:
        """Everything that is known of one run."""
        return self._get(f"/v1/runs/{quote(run_id)}")

    def versions(
        self, model: str, registry: str = "default", page: int = PAGE
    ) -> Iterator[results.ModelVersion]:
        """Versions of a model, newest first."""
        path = f"/v1/models/{quote(model, _SAFE)}/versions"
        return self._pages(path, {"registry": registry}, page, results.model_version)

    def lineage(
        self,
        model: str,
        version: str,
        *,
        registry: str = "default",
        depth: int = 3,
        direction: str = "upstream",
        as_of: int | datetime | None = None,
        proof: bool = False,
    ) -> lineages.Lineage:
        path = f"/v1/models/{quote(model, _SAFE)}/versions/{quote(version, '')}/lineage"
        return self._lineage(path, depth, direction, as_of, proof, registry)

    def run_lineage(
        self,
        run_id: str,
        *,
        depth: int = 3,
        direction: str = "upstream",
        as_of: int | datetime | None = None,
        proof: bool = False,
    ) -> lineages.Lineage:
        return self._lineage(f"/v1/runs/{quote(run_id)}/lineage", depth, direction, as_of, proof, None)

    def append(self, lines: Iterable[str]) -> tuple[results.LineAnswer, ...]:
        """Records lines {kind, body}, each as JSON text; refused ones are told, not raised."""
        body = "\n".join(lines).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        answer = self._exchange("POST", "/v1/records:batch", content=body, headers=headers)
        items = self._document(answer)["items"]
        return self._read(lambda items: tuple(results.line_answer(item) for item in items), items)

    def put_blob(self, data: bytes) -> str:
        """Keeps bytes under their digest, which is returned; the same bytes may come again."""
        digest = sha256_digest(data)
        self._exchange("PUT", f"/v1/blobs/{digest}", content=data)
        return digest

    def _lineage(
        self,
        path: str,
        depth: int,
        direction: str,
        as_of: int | datetime | None,
        proof: bool,
        registry: str | None,
    ) -> lineages.Lineage:
        when = as_of.isoformat() if isinstance(as_of, datetime) else as_of
        asked: dict[str, str | int | None] = {
            "depth": depth,
            "direction": direction,
            "as_of": when,
            "registry": registry,
            "proof": "true" if proof else None,
        }
        answer = self._get(path, asked)
        return self._read(lineages.lineage, answer)

    def _pages(
        self,
        path: str,
        filters: Mapping[str, str | int | None],
        page: int,
        make: Callable[[results.Document], _Result],
    ) -> Iterator[_Result]:
        after: str | None = None
        while True:
            answer = self._get(path, {**filters, "limit": page, "after": after})
            items = self._read(lambda answer: [make(item) for item in answer["items"]], answer)
            yield from items
            after = answer.get("next")
            if after is None:
                return

    def _get(self, path: str, parameters: Mapping[str, str | int | None] | None = None) -> results.Document:
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        return self._document(self._exchange("GET", path, params=given))

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
                response = self._http.request(method, path, params=params, content=content, headers=headers)
            except httpx.TimeoutException as error:
                raise Unreachable(
                    f"{self.url} does not answer in time; is the service busy or stuck?"
                ) from error
            except httpx.HTTPError as error:
                raise Unreachable(f"{self.url} can't be reached: {error}") from error
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
        except (ValueError, KeyError, TypeError, AttributeError):
            return self._stranger(response.status_code)

    def _stranger(self, status: int) -> NotShipworthy:
        return NotShipworthy(
            f"{self.url} answers {status}, but not as a Shipworthy service does; check the address"
        )

    def _document(self, response: httpx.Response) -> dict[str, Any]:
        try:
            document = response.json()
        except ValueError:
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

    def _version(self) -> str | None:
        version = self._get("/openapi.json").get("info", {}).get("version")
        return None if version is None else str(version)


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None
