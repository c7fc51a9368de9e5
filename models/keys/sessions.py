"""Sessions of the pages: what a signed cookie says, and which sessions were signed out before their end.

A session stands for a key, never holds its secret, and ends with it: whoever reads a cookie asks for the key anew.
"""

import hmac
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from sqlalchemy import Executable, delete, insert
from sqlmodel import Session as DatabaseSession
from sqlmodel import col, select

from models.keys.tables import EndedSession

SESSION_HOURS: Final = 12
_COOKIE: Final = re.compile(r"1\.([a-z2-7]{12})\.([0-9a-f]{32})\.([0-9]{10})\.([0-9a-f]{64})", re.ASCII)
# The pepper has several uses; a prefix each keeps a value made for one from meaning anything for another.
_PREFIX: Final = b"shipworthy.session/1\0"


@dataclass(frozen=True, slots=True)
class KeySession:
    """One sign-in with one key; `expires_at` is aware, whole seconds."""

    key_id: str
    session_id: str
    expires_at: datetime


def new_session(key_id: str, now: datetime) -> KeySession:
    expires_at = (now + timedelta(hours=SESSION_HOURS)).replace(microsecond=0)
    return KeySession(key_id, os.urandom(16).hex(), expires_at)


class Sealer:
    """Makes and reads cookies and form tokens with a key that is derived from the pepper (32 bytes)."""

    def __init__(self, pepper: bytes) -> None:
        self._key = hmac.new(pepper, _PREFIX, sha256).digest()

    def seal(self, session: KeySession) -> str:
        text = f"1.{session.key_id}.{session.session_id}.{int(session.expires_at.timestamp()):010}"
        return f"{text}.{self._mac('cookie', text)}"

    def unseal(self, cookie: str, now: datetime) -> KeySession | None:
        """None when the text was not made by `seal` with this pepper, or the session is over."""
        match = _COOKIE.fullmatch(cookie)
        if match is None:
            return None
        key_id, session_id, seconds, mac = match.groups()
        if not hmac.compare_digest(mac, self._mac("cookie", cookie[: -len(mac) - 1])):
            return None
        session = KeySession(key_id, session_id, datetime.fromtimestamp(int(seconds), UTC))
        return session if now < session.expires_at else None

    def form_token(self, bound_to: str) -> str:
        """What a form must send back; `bound_to` is a session id, or the random value of a cookie before that."""
        return self._mac("form", bound_to)

    def is_form_token(self, given: str, bound_to: str) -> bool:
        return hmac.compare_digest(given.encode(), self.form_token(bound_to).encode())

    def _mac(self, use: str, text: str) -> str:
        return hmac.new(self._key, f"{use}\0{text}".encode(), sha256).hexdigest()


def has_ended(session: DatabaseSession, session_id: str) -> bool:
    """Whether the session was signed out."""
    statement = select(EndedSession.session_id).where(col(EndedSession.session_id) == session_id)
    return session.exec(statement).one_or_none() is not None


def end_statement(ended: KeySession) -> Executable:
    return insert(EndedSession).values(session_id=ended.session_id, expires_at=ended.expires_at)


def forget_statement(now: datetime) -> Executable:
    """Removes what can't be shown any more: an expired cookie is refused without asking."""
    return delete(EndedSession).where(col(EndedSession.expires_at) <= now)
