"""What was taken back is no evidence."""

from sqlalchemy import ColumnElement, exists, not_
from sqlalchemy.orm import Mapped
from sqlmodel import col

from models.lineage.tables import Revocation


def not_revoked(namespace: str, record: Mapped[str]) -> ColumnElement[bool]:
    """Holds for records that nobody revoked; contested ones still count."""
    return not_(
        exists().where(
            col(Revocation.namespace) == namespace,
            col(Revocation.revoked) == record,
            col(Revocation.effect) == "revoked",
        )
    )
