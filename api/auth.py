"""Who calls: from the request's bearer token to an Actor, and whether its roles allow the call."""

import asyncio
import hmac
import ipaddress
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from api.token_cache import TokenCache, VerifiedKey
from models.actor import Actor, EvidenceLevel, Role, evidence_level
from models.database import Database
from models.errors import RoleMissing, StartRefused, TokenInvalid, TokenMissing
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
            if self._local is None:
                raise TokenMissing(_MISSING)
            _refuse_foreign_pages(request)
            return self._local
        if len(given) > 1:
            raise TokenInvalid("the Authorization header was sent more than once; send it once")
        scheme, _, token = given[0].partition(" ")
        if scheme.lower() != "bearer":
            raise TokenMissing(_MISSING)
        parsed = parse_token(token.strip(" "))
        if parsed is None:
            raise TokenInvalid(_INVALID)
        digest = sha256(token.strip(" ").encode()).digest()
        verified = self._cache.get(digest)
        if verified is None:
            loop = asyncio.get_running_loop()
            verified = await loop.run_in_executor(self._readers, self._verify, parsed, digest)
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
            stored = self._nobody if row is None else row.secret_hmac
            # An unknown id takes the same steps as a wrong secret, so that the time tells nothing.
            matches = hmac.compare_digest(secret_hmac(self._pepper, parsed.secret), stored)
            if row is None or not matches or row.revoked_at is not None:
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


def assert_loopback(host: str) -> None:
    """StartRefused unless an address to listen on is reached from this machine only."""
    if not is_loopback(host):
        raise StartRefused(
            f"--open lets everybody who reaches {host} write without a key, so it is for loopback addresses "
            "only; run with --host 127.0.0.1, or without --open and with keys"
        )


def is_loopback(host: str) -> bool:
    """Whether a host name or address without a port is `localhost`, 127.0.0.0/8 or ::1."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_foreign_pages(request: HTTPConnection) -> None:
    """In open mode any page in the local browser could write as `local`: by a name that it makes resolve to
    127.0.0.1 (DNS rebinding, the Host gives it away) or by posting a form across sites (the Origin does)."""
    host = request.headers.get("host", "")
    if not is_loopback(_host_name(host)):
        raise TokenMissing(
            f"without a token, open mode takes calls to loopback names only, not to {host[:80]!r}; call "
            "http://127.0.0.1 with the port of the service, or send a token"
        )
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
        raise TokenMissing(
            f"without a token, open mode takes no calls from pages of {origin[:80]!r}; send a token, or call "
            "from the service's own pages"
        )


def _host_name(host: str) -> str:
    """The name in a Host header, brackets and port removed; "" when it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


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
