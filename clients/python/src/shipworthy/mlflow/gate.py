"""The service as the guard sees it: what is protected, may this be promoted, it was promoted."""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import urljoin

from shipworthy.errors import NotDelivered, Trouble
from shipworthy.mlflow.protections import UNKNOWN, Protections, parse_protections
from shipworthy.mlflow.settings import GuardSettings
from shipworthy.transport import Transport
from shipworthy.values import Body, Json, encode

ANSWER_SECONDS: Final = 2.0
FRESH_SECONDS: Final = 1.0
"""A list of protected names that is older is asked for again before anything is let through on its word."""
RETRY_SECONDS: Final = 2.0
"""After a list that could not be had, the last one counts for so long without asking."""
_PASSING: Final = frozenset(
    {Trouble.UNREACHABLE, Trouble.NAME, Trouble.TLS, Trouble.SILENT, Trouble.BUSY, Trouble.FAULT}
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grant:
    """The service's word that one move may be made once, within seconds."""

    id: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`grant` is None when the move is refused; `link` is absolute."""

    grant: Grant | None
    sentence: str
    who: tuple[str, ...]
    link: str | None


class Gate:
    """Used by all threads of a server; each exchange has a connection to itself, which is kept for the next."""

    def __init__(self, settings: GuardSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._idle: deque[Transport] = deque(maxlen=64)
        self._lock = threading.Lock()
        self._protections = UNKNOWN
        self._good_until = clock()

    def protections(self) -> Protections:
        """The list, at most FRESH_SECONDS old while the service answers; otherwise the last one that was had."""
        with self._lock:
            if self._clock() < self._good_until:
                return self._protections
            try:
                self._protections = self._exchange(
                    lambda transport: parse_protections(transport.get("/v1/protections"))
                )
                self._good_until = self._clock() + FRESH_SECONDS
            except (NotDelivered, ValueError):
                self._good_until = self._clock() + RETRY_SECONDS
            return self._protections

    def check(self, asked: Body) -> Verdict:
        """Raises NotDelivered, and ValueError for an answer that is neither a grant for what was asked nor a no."""
        answer = self._exchange(lambda transport: transport.post("/v1/promotions:check", encode(asked)))
        if not isinstance(answer, dict) or not isinstance(answer.get("sentence"), str):
            raise ValueError("the service answers a question about a promotion with something else")
        who = answer.get("who")
        link = answer.get("link")
        return Verdict(
            grant=_grant(asked, answer) if answer.get("allowed") is True else None,
            sentence=str(answer["sentence"]),
            who=tuple(str(each) for each in who) if isinstance(who, list) else (),
            link=urljoin(self._settings.url + "/", link) if isinstance(link, str) and link else None,
        )

    def confirm(self, grant: Grant, version: str | None) -> None:
        """Says that the move is about to be committed. Raises NotDelivered when the service does not take it: then it
        must not be committed."""
        body = encode({"grant": grant.id, "version": version, "outcome": "promoted"})
        deadline = self._clock() + ANSWER_SECONDS
        while True:
            try:
                self._exchange(lambda transport: transport.post("/v1/promotions", body))
                return
            except NotDelivered as error:
                # The same words again get the same answer, whether or not the first ones arrived.
                pause = min(error.retry_after or 0.05, 0.5)
                if error.trouble not in _PASSING or self._clock() + pause >= deadline:
                    raise
                time.sleep(pause)

    def give_back(self, grant: Grant, version: str | None, reason: str) -> None:
        """Says that the move was not made, so that the next one need not wait; unsaid, the grant expires."""
        body = encode({"grant": grant.id, "version": version, "outcome": "failed", "reason": reason[:500]})
        with suppress(NotDelivered):
            self._exchange(lambda transport: transport.post("/v1/promotions", body))

    def close(self) -> None:
        """Closes the connections that are kept; the next exchange makes one anew."""
        while self._idle:
            self._idle.pop().close()

    def _exchange(self, talk: Callable[[Transport], T]) -> T:
        try:
            transport = self._idle.pop()
        except IndexError:
            transport = Transport(self._settings.url, self._settings.token, ANSWER_SECONDS)
        try:
            return talk(transport)
        finally:
            self._idle.append(transport)


def _grant(asked: Body, answer: dict[str, Json]) -> Grant:
    """ValueError unless the grant binds exactly what was asked."""
    grant = answer.get("grant")
    binds = grant.get("binds") if isinstance(grant, dict) else None
    if not isinstance(grant, dict) or not isinstance(binds, dict) or not isinstance(grant.get("id"), str):
        raise ValueError("the service allows it and grants nothing")
    different = [
        name
        for name in ("registry", "model", "version", "target", "artifact", "incumbent")
        if name not in binds or binds[name] != asked[name]
    ]
    if different:
        raise ValueError(f"the service grants another {different[0]} than was asked for")
    kinds = {"promote": ("promote", "rollback")}.get(str(asked["action"]), (asked["action"],))
    if grant.get("action") not in kinds:
        raise ValueError(f"the service grants to {grant.get('action')} where {asked['action']} was asked for")
    return Grant(str(grant["id"]))
