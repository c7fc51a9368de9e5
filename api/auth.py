"""Who calls: from the request's bearer token to an Actor, and whether its roles allow the call."""

import asyncio
import hmac
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, TypeVar

from starlette.requests import HTTPConnection

from api.loopback import refuse_foreign_pages
from api.token_cache import TokenCache, VerifiedKey
from api.web.cookies import SESSION, read_cookie
from models.actor import Actor, EvidenceLevel, Role, evidence_level
from models.database import Database
from models.errors import RoleMissing, TokenInvalid, TokenMissing
from models.keys.sessions import KeySession, Sealer, end_statement, forget_statement, has_ended, new_session
from models.keys.store import find_key, owner_pseudonym
from models.keys.tables import ApiKey
from models.keys.tokens import ParsedToken, parse_token, secret_hmac

OPEN_ROLES: Final = frozenset(Role) - {Role.APPROVER, Role.ADMIN}
"""What `local` may do in open mode: never approve, and so that it may record, not administer either."""

_INVALID: Final = (
    "the token is malformed, unknown, expired or revoked; check that it was copied whole, or have a new one "
    "made with: shipworthy-server keys create --role ROLE"
)
_MISSING: Final = (
    "the call needs the header Authorization: Bearer sw_…, and no other scheme; have a key made with: "
    "shipworthy-server keys create --role ROLE"
)
# Few, so that a flood of made-up tokens can't take the connections that requests with a key need.
_READERS: Final = 4
Shown = TypeVar("Shown", ParsedToken, KeySession)
"""What a caller shows to prove who it is."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Authenticator:
    """Verifies tokens against the keys in the database, with a short memory.

    `pepper` has 32 bytes. In `open_mode` a request without a token is the person `local` of namespace
    "default"; the caller must have asked `assert_loopback` for the address it listens on. `monotonic`
    (seconds) and `now` (aware) are the clocks for the cache and for expiry.
    """

    def __init__(
        self,
        database: Database,
        pepper: bytes,
        open_mode: bool = False,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._database = database
        self._pepper = pepper
        self.sealer = Sealer(pepper)
        self._now = now
        self._cache = TokenCache(monotonic)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="key-reader")
        self._nobody = os.urandom(32)
        self._local = _local_actor(pepper) if open_mode else None

    async def actor(self, request: HTTPConnection) -> Actor:
        """The caller. Suspends only when the token was not verified within the last second.

        Raises TokenMissing without a bearer token, TokenInvalid when it is no key in force; which of the
        possible reasons it was is not told. Unavailable when the database can't be asked.
        """
        given = request.headers.getlist("authorization")
        if not given:
            return await self._without_token(request)
        if len(given) > 1:
            raise TokenInvalid("the Authorization header was sent more than once; send it once")
        scheme, _, token = given[0].partition(" ")
        if scheme.lower() != "bearer":
            raise TokenMissing(_MISSING)
        return await self._holder_of_token(token.strip(" "))

    async def _without_token(self, request: HTTPConnection) -> Actor:
        """The person `local` in open mode; else, for reading only, the holder of a session of the pages, which link
        to JSON. A write takes a token: no other site can make a browser send one."""
        if self._local is not None:
            refuse_foreign_pages(request)
            return self._local
        cookie = read_cookie(request, SESSION) if request.scope.get("method") in ("GET", "HEAD") else None
        if cookie is None:
            raise TokenMissing(_MISSING)
        session = self.session(cookie)
        if session is None:
            raise TokenInvalid(_INVALID)
        return await self.holder(session)

    @property
    def local_person(self) -> str:
        """The pseudonym of `local`, whose records stay when open mode ends."""
        return owner_pseudonym(self._pepper, "default", "local")

    @property
    def is_open(self) -> bool:
        """Whether who sends no token is the person `local`."""
        return self._local is not None

    async def sign_in(self, token: str) -> KeySession:
        """A new session of the pages for the holder of a token. Raises TokenInvalid, Unavailable."""
        actor = await self._holder_of_token(token)
        return new_session(actor.key_id, self._now())

    def session(self, cookie: str) -> KeySession | None:
        """What a cookie says, if it was made here and is not over; `holder` tells whether it still counts."""
        return self.sealer.unseal(cookie, self._now())

    async def holder(self, session: KeySession) -> Actor:
        """Whom a session stands for. Raises TokenInvalid once it was signed out or its key is no longer in force:
        at once in the process that did it, within a second in others."""
        digest = sha256(f"session {session.key_id} {session.session_id}".encode()).digest()
        return await self._verified(digest, self._verify_session, session)

    def sign_out(self, session: KeySession) -> None:
        """Ends a session for good, so that a copy of its cookie is worth nothing; waits for the database."""
        with self._database.begin() as rows:
            rows.connection().execute(forget_statement(self._now()))
            if not has_ended(rows, session.session_id):
                rows.connection().execute(end_statement(session))
        self.forget(session.key_id)

    async def _holder_of_token(self, token: str) -> Actor:
        parsed = parse_token(token)
        if parsed is None:
            raise TokenInvalid(_INVALID)
        return await self._verified(sha256(token.encode()).digest(), self._verify, parsed)

    async def _verified(
        self, digest: bytes, verify: Callable[[Shown, bytes], VerifiedKey | None], shown: Shown
    ) -> Actor:
        verified = self._cache.get(digest)
        if verified is None:
            loop = asyncio.get_running_loop()
            verified = await loop.run_in_executor(self._readers, verify, shown, digest)
        if verified is None or (verified.expires_at is not None and verified.expires_at <= self._now()):
            raise TokenInvalid(_INVALID)
        return verified.actor

    def forget(self, key_id: str) -> None:
        """Makes this process ask the database again; to be called when a revocation has been committed."""
        self._cache.forget(key_id)

    def close(self) -> None:
        """Waits for reads under way and ends the threads."""
        self._readers.shutdown()

    def _verify(self, parsed: ParsedToken, digest: bytes) -> VerifiedKey | None:
        # While this waited for a thread, another request with the same token may have done the work.
        verified = self._cache.get(digest)
        if verified is not None:
            return verified
        begun = self._cache.begin()
        with self._database.read() as session:
            row = find_key(session, parsed.key_id)
            stored, namespace = (self._nobody, "") if row is None else (row.secret_hmac, row.namespace)
            # An unknown id takes the same steps as a wrong secret, so that the time tells nothing.
            shown = secret_hmac(self._pepper, namespace, parsed.key_id, parsed.secret)
            matches = hmac.compare_digest(shown, stored)
            if row is None or not matches or row.revoked_at is not None:
                return None
            verified = _verified(row)
        self._cache.put(digest, verified, begun)
        return verified

    def _verify_session(self, shown: KeySession, digest: bytes) -> VerifiedKey | None:
        begun = self._cache.begin()
        with self._database.read() as session:
            row = find_key(session, shown.key_id)
            if row is None or row.revoked_at is not None or has_ended(session, shown.session_id):
                return None
            verified = _verified(row)
        self._cache.put(digest, verified, begun)
        return verified


def require_role(actor: Actor, *roles: Role) -> None:
    """Passes when the actor has one of the roles; else RoleMissing, with the command that makes such a
    key."""
    if not actor.roles.isdisjoint(roles):
        return
    needed = " or ".join(roles)
    held = ", ".join(sorted(actor.roles)) or "none"
    owner = " --owner ADDRESS" if roles[0] is Role.APPROVER else ""
    raise RoleMissing(
        f"the call needs the role {needed}, this key has {held}; have a key made with: shipworthy-server "
        f"keys create --namespace {actor.namespace} --role {roles[0]}{owner}"
    )


def _verified(row: ApiKey) -> VerifiedKey:
    actor = Actor(
        key_id=row.key_id,
        namespace=row.namespace,
        roles=frozenset(Role(name) for name in row.roles.split(",")),
        level=EvidenceLevel(row.level),
        owner=row.owner,
        who=row.who,
    )
    return VerifiedKey(actor, row.expires_at)


def _local_actor(pepper: bytes) -> Actor:
    return Actor(
        key_id="local",
        namespace="default",
        roles=OPEN_ROLES,
        level=evidence_level(OPEN_ROLES),
        owner=owner_pseudonym(pepper, "default", "local"),
        auth="open",
    )
