"""Reading model versions and their sealed lineage manifests, newest first."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session, col

from models.errors import NotFound
from models.ledger.verified import check_bytes
from models.lineage.queries import Document
from models.lineage.tables import LineageManifest, ModelVersion


@dataclass(frozen=True, slots=True)
class VersionLine:
    registry: str
    model: str
    version: str
    artifact: str
    run_id: str
    position: int
    document: str


@dataclass(frozen=True, slots=True)
class ManifestLine:
    revision: int
    digest: str
    position: int


_VERSION = (
    col(ModelVersion.registry_name),
    col(ModelVersion.model),
    col(ModelVersion.version),
    col(ModelVersion.artifact),
    col(ModelVersion.run_id),
    col(ModelVersion.position),
    col(ModelVersion.document),
)


def list_versions(
    session: Session, namespace: str, registry: str, model: str, after: int | None, limit: int
) -> list[VersionLine]:
    """Versions of a model registered before log position `after`, newest first."""
    statement = (
        select(*_VERSION)
        .where(
            col(ModelVersion.namespace) == namespace,
            col(ModelVersion.model) == model,
            col(ModelVersion.registry_name) == registry,
        )
        .order_by(col(ModelVersion.position).desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(col(ModelVersion.position) < after)
    return [VersionLine(*row) for row in session.connection().execute(statement)]


def versions_of_run(session: Session, namespace: str, run_id: str, limit: int) -> list[VersionLine]:
    """Versions bound to artifacts of a run, newest first."""
    statement = (
        select(*_VERSION)
        .where(col(ModelVersion.run_id) == run_id, col(ModelVersion.namespace) == namespace)
        .order_by(col(ModelVersion.position).desc())
        .limit(limit)
    )
    return [VersionLine(*row) for row in session.connection().execute(statement)]


def get_version(session: Session, namespace: str, registry: str, model: str, version: str) -> VersionLine:
    """Raises NotFound."""
    statement = select(*_VERSION).where(
        col(ModelVersion.namespace) == namespace,
        col(ModelVersion.registry_name) == registry,
        col(ModelVersion.model) == model,
        col(ModelVersion.version) == version,
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound(
            "no such version of this model in this registry and namespace; list models with GET /v1/models"
        )
    return VersionLine(*row)


def list_manifests(
    session: Session, namespace: str, registry: str, model: str, version: str, limit: int
) -> list[ManifestLine]:
    """Revisions of a version's lineage manifest, the latest first."""
    statement = (
        select(col(LineageManifest.revision), col(LineageManifest.digest), col(LineageManifest.position))
        .where(
            col(LineageManifest.namespace) == namespace,
            col(LineageManifest.registry_name) == registry,
            col(LineageManifest.model) == model,
            col(LineageManifest.version) == version,
        )
        .order_by(col(LineageManifest.revision).desc())
        .limit(limit)
    )
    return [ManifestLine(*row) for row in session.connection().execute(statement)]


def get_manifest(session: Session, namespace: str, digest: str) -> Document:
    """A sealed lineage manifest, the RFC 8785 text that its digest names. Raises NotFound."""
    statement = select(col(LineageManifest.position), col(LineageManifest.document)).where(
        col(LineageManifest.namespace) == namespace, col(LineageManifest.digest) == digest
    )
    row = session.connection().execute(statement).first()
    if row is None:
        raise NotFound("no lineage manifest with this digest in this namespace; model versions name theirs")
    check_bytes("lineage manifest", digest, row[1].encode())
    return Document(*row)
