"""The service as the guard sees it: what is protected, may this be promoted, it was promoted."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import urljoin
from uuid import uuid4

from shipworthy.errors import NotDelivered, Trouble
from shipworthy.mlflow.protections import UNKNOWN, Protections, parse_protections
from shipworthy.mlflow.settings import GuardSettings
from shipworthy.transport import Transport
from shipworthy.values import Json, encode

ANSWER_SECONDS: Final = 2.0
FRESH_SECONDS: Final = 1.0
"""A list of protected names that is older is asked for again before anything is let through on its word."""
RETRY_SECONDS: Final = 2.0
"""After a list that could not be had, the last one counts for so long without asking."""
_PASSING: Final = frozenset(
    {
        Trouble.UNREACHABLE,
        Trouble.NAME,
        Trouble.TLS,
        Trouble.HANDSHAKE,
        Trouble.SILENT,
        Trouble.BUSY,
        Trouble.FAULT,
    }
)

_BOUND: Final = ("registry", "model", "version", "target", "artifact", "incumbent")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the moves were recorded, all of them, or none; `link` is absolute."""

    allowed: bool
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
        self._tag: str | None = None
        self._good_until = clock()
        self._away: NotDelivered | None = None

    def protections(self) -> Protections:
        """The list, at most FRESH_SECONDS old while the service answers; otherwise the last one that was had."""
        with self._lock:
            if self._clock() < self._good_until:
                return self._protections
            try:
                changed = self._exchange(
                    lambda transport: transport.get_changed("/v1/protections", self._tag)
                )
                if changed is not None:
                    self._protections, self._tag = parse_protections(changed[0]), changed[1]
                self._good_until, self._away = self._clock() + FRESH_SECONDS, None
            except (NotDelivered, ValueError) as error:
                self._good_until = self._clock() + RETRY_SECONDS
                self._away = error if isinstance(error, NotDelivered) else None
            return self._protections

    def move(self, moves: list[Json]) -> Verdict:
        """Asks the service to judge and record what the registry is about to commit.

        Raises NotDelivered, and ValueError for an answer that neither records just these moves nor says no. Then they
        must not be committed, whether the service recorded them or not.
        """
        away = self._away
        if away is not None and self._clock() < self._good_until:
            # The registry's rows are locked: nobody waits for a service that was silent a moment ago.
            raise NotDelivered(away.trouble, away.detail, away.retry_after)
        answer = self._insist("/v1/promotions:move", encode({"id": uuid4().hex, "moves": moves}))
        if not isinstance(answer, dict) or not isinstance(answer.get("sentence"), str):
            raise ValueError("the service answers a question about a promotion with something else")
        who = answer.get("who")
        link = answer.get("link")
        allowed = answer.get("allowed") is True
        if allowed:
            _require_bound(moves, answer.get("promotions"))
        return Verdict(
            allowed=allowed,
            sentence=str(answer["sentence"]),
            who=tuple(str(each) for each in who) if isinstance(who, list) else (),
            link=urljoin(self._settings.url + "/", link) if isinstance(link, str) and link else None,
        )

    def _insist(self, path: str, body: bytes) -> Json:
        """The same words again get the same answer, whether or not the first ones arrived. Raises NotDelivered."""
        deadline = self._clock() + ANSWER_SECONDS
        while True:
            try:
                return self._exchange(lambda transport: transport.post(path, body))
            except NotDelivered as error:
                pause = min(error.retry_after or 0.05, 0.5)
                if error.trouble not in _PASSING or self._clock() + pause >= deadline:
                    raise
                time.sleep(pause)

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


def _require_bound(moves: list[Json], promotions: Json) -> None:
    """ValueError unless just what was asked is what the service recorded."""
    if not isinstance(promotions, list) or len(promotions) != len(moves):
        raise ValueError("the service allows it and records nothing, or something else")
    for move, promotion in zip(moves, promotions, strict=True):
        assert isinstance(move, dict)
        binds = promotion.get("binds") if isinstance(promotion, dict) else None
        if not isinstance(promotion, dict) or not isinstance(binds, dict):
            raise ValueError("the service allows it and says nothing of what it recorded")
        if not isinstance(promotion.get("record"), str):
            raise ValueError("the service allows it and names no record")
        different = [name for name in _BOUND if name not in binds or binds[name] != move[name]]
        if different:
            raise ValueError(f"the service records another {different[0]} than was asked for")
        kinds = {"promote": ("promote", "rollback")}.get(str(move["action"]), (move["action"],))
        if promotion.get("action") not in kinds:
            raise ValueError(
                f"the service records that it may {promotion.get('action')} where {move['action']} was asked for"
            )
