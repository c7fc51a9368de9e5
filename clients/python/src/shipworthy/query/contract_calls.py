"""Calls about data contracts: looked over, published, checked against data by a worker; and about baselines."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar
from urllib.parse import quote

from shipworthy.query import checks as worked
from shipworthy.query import contracts as answers
from shipworthy.query import results
from shipworthy.query.exchange import PAGE, Exchange

LONG_POLL_SECONDS: Final = 10
"""How long the service holds an answer back while work goes on: so often progress is told."""
_Made = TypeVar("_Made")


class ContractCalls(Exchange):
    """A part of ShipworthyClient."""

    def lint_contract(self, data: bytes, media_type: str | None = None) -> answers.Linted:
        """What is wrong with a contract, without publishing it. `media_type` application/yaml or application/json;
        without it the service looks at the bytes."""
        answer = self._exchange("POST", "/v1/contracts:lint", content=data, headers=_typed(media_type))
        return self._read(answers.linted, self._document(answer))

    def publish_contract(self, name: str, data: bytes, media_type: str | None = None) -> answers.Published:
        """The next version of a contract, or the current one when it says the same. InvalidRequest names every place
        of bytes that are no contract."""
        path = f"/v1/contracts/{quote(name, '')}"
        answer = self._exchange("PUT", path, content=data, headers=_typed(media_type))
        return self._read(answers.published, self._document(answer))

    def contracts(self, page: int = PAGE) -> Iterator[answers.Contract]:
        """The current version of each, the last published first."""
        return self._pages("/v1/contracts", {}, page, answers.contract)

    def contract(self, name: str, version: int | None = None) -> answers.Contract:
        """One version, by default the current one."""
        return self._read(answers.contract, self._get(_contract_path(name, version)))

    def compiled_contract(self, name: str, version: int | None = None) -> results.Document:
        """Every rule, compiled or in `not_evaluated` with the reason."""
        return self._get(f"{_contract_path(name, version)}/compiled")

    def contract_source(self, contract: answers.Contract) -> bytes:
        """The bytes as they were published."""
        return self._exchange("GET", f"/v1/blobs/{contract.digest}").content

    def check_contract(
        self,
        name: str,
        *,
        snapshot: str | None = None,
        root: str | None = None,
        path: str | None = None,
        table: str | None = None,
        version: int | None = None,
        baseline: str | None = None,
        as_of: datetime | None = None,
        parameters: Mapping[str, str | int | float | bool] | None = None,
        run_id: str | None = None,
    ) -> worked.Work:
        """Asks a worker to check data: a snapshot by its digest, or what lies at `path` beneath a registered root.
        `check(work.id)` tells how far it is."""
        asked = {
            "contract": name,
            "snapshot": snapshot,
            "root": root,
            "path": path,
            "object": table,
            "version": version,
            "baseline": baseline,
            "as_of": None if as_of is None else as_of.isoformat(),
            "parameters": dict(parameters) if parameters else None,
            "run_id": run_id,
        }
        return self._asked("/v1/contract-checks", asked)

    def check(self, check_id: str, wait: int = 0) -> worked.Check:
        """A check by its id or by the digest of its record; with `wait` (0 to 30 seconds) when it has ended."""
        answer = self._get(f"/v1/contract-checks/{quote(check_id, ':')}", {"wait": wait or None})
        return self._read(worked.check, answer)

    def checks(
        self,
        *,
        contract: str | None = None,
        snapshot: str | None = None,
        outcome: str | None = None,
        state: str | None = None,
        page: int = PAGE,
    ) -> Iterator[results.Document]:
        """Results newest first, without the single checks; with `state` (alone) the checks that have no result."""
        filters = {"contract": contract, "snapshot": snapshot, "outcome": outcome, "state": state}
        return self._pages("/v1/contract-checks", filters, page, lambda item: item)

    def cancel_check(self, check_id: str) -> worked.Work:
        """Nobody waits for it any more."""
        answer = self._exchange("POST", f"/v1/contract-checks/{quote(check_id, ':')}:cancel")
        return self._read(worked.work, self._document(answer))

    def wait_for_check(
        self, check_id: str, seconds: float, tell: Callable[[worked.Work], None] = lambda work: None
    ) -> worked.Check:
        """The check once it has ended, or as it is after so many seconds; `tell` is given every answer until then."""
        return self._ended(lambda wait: self.check(check_id, wait), lambda each: each.work, seconds, tell)

    def make_baseline(
        self,
        *,
        snapshot: str | None = None,
        root: str | None = None,
        path: str | None = None,
        numbers: Sequence[str] = (),
        labels: Sequence[str] = (),
        bins: int = 10,
    ) -> worked.Work:
        """Asks a worker to measure data. Values are kept of the columns in `labels` only."""
        asked: dict[str, object] = {
            "snapshot": snapshot,
            "root": root,
            "path": path,
            "numbers": list(numbers),
            "labels": list(labels),
            "bins": bins,
        }
        return self._asked("/v1/baselines", asked)

    def work(self, work_id: str, wait: int = 0) -> worked.Work:
        """Any work by its id; a baseline's digest is in it once it is done."""
        answer = self._get(f"/v1/work/{quote(work_id, '')}", {"wait": wait or None})
        return self._read(worked.work, answer)

    def wait_for_work(
        self, work_id: str, seconds: float, tell: Callable[[worked.Work], None] = lambda work: None
    ) -> worked.Work:
        """As `wait_for_check`."""
        return self._ended(lambda wait: self.work(work_id, wait), lambda each: each, seconds, tell)

    def baseline(self, digest: str) -> worked.Baseline:
        """A baseline and who approved it."""
        return self._read(worked.baseline, self._get(f"/v1/baselines/{quote(digest, ':')}"))

    def approve_baseline(self, digest: str, reason: str) -> str:
        """Says that it may be compared with; who asked for it may not. Digest of the record."""
        answer = self._post(f"/v1/baselines/{quote(digest, ':')}/approvals", {"reason": reason})
        return self._read(lambda document: str(document["record"]), answer)

    def _asked(self, path: str, asked: Mapping[str, object]) -> worked.Work:
        return self._read(worked.work, self._post(path, asked))

    def _ended(
        self,
        look: Callable[[int], _Made],
        work_of: Callable[[_Made], worked.Work],
        seconds: float,
        tell: Callable[[worked.Work], None],
    ) -> _Made:
        deadline = time.monotonic() + seconds
        wait = 0
        while True:
            found = look(wait)
            work = work_of(found)
            tell(work)
            left = deadline - time.monotonic()
            if work.has_ended or left <= 0:
                return found
            # While a worker is at it its progress is worth more than a request saved.
            wait = 1 if work.state == "running" else min(math.ceil(left), LONG_POLL_SECONDS)


def _contract_path(name: str, version: int | None) -> str:
    path = f"/v1/contracts/{quote(name, '')}"
    return path if version is None else f"{path}/versions/{version}"


def _typed(media_type: str | None) -> dict[str, str]:
    return {"Content-Type": media_type or "application/octet-stream"}
