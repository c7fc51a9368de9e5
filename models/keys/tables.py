"""The tables of keys and of sessions that ended. No projections: the records of a key hold no secret, so `db
rebuild` leaves them alone.

A namespace exists as soon as a key names it; there is no table of namespaces.
"""

from datetime import datetime

from sqlalchemy import Index, String, Text
from sqlmodel import Field

from models.columns import Bytes, Table, UTCDateTime


class ApiKey(Table, table=True):
    """One key. Of the token only the HMAC of its secret is kept, see models/keys/tokens.py."""

    __tablename__ = "api_key"
    __table_args__ = (Index(None, "namespace", "created_at", "key_id"),)

    key_id: str = Field(primary_key=True, sa_type=String(32))
    namespace: str = Field(sa_type=String(256))
    roles: str = Field(sa_type=String(256), description="sorted, joined by commas")
    groups: str = Field(sa_type=Text, description="JSON list of names")
    level: str = Field(sa_type=String(16))
    owner: str | None = Field(default=None, sa_type=String(64), description="pseudonym of the owning person")
    who: str | None = Field(default=None, sa_type=String(71), description="$redactable digest of the owner")
    secret_hmac: bytes = Field(sa_type=Bytes(32), repr=False)
    created_at: datetime = Field(sa_type=UTCDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UTCDateTime)


class EndedSession(Table, table=True):
    """A session of the pages that was signed out before its end; kept until then, so few rows.

    Sessions themselves are signed cookies and have no row: a page that is only read writes nothing.
    """

    __tablename__ = "ended_session"

    session_id: str = Field(primary_key=True, sa_type=String(32))
    expires_at: datetime = Field(sa_type=UTCDateTime)
