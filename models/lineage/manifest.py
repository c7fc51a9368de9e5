"""The lineage manifest: one canonical document that says what a model version is made of.

Registration of the version seals revision 1. A later fact that changes what it says makes revision n + 1, which
names its reason, its author and the digest before. Phases, states, checkpoints and evaluations are not part of it:
they are about the model, not in it.

What the run is made of is one document, named by digest in the manifest of each of its versions. Versions of one run
and changes after sealing are bounded: each change makes a manifest for every version.
"""

from typing import Any, Final

from models.errors import Conflict
from models.kinds.facts import ModelVersionFact
from models.ledger.canonical import canonical_bytes
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage.run_view import View
from models.lineage.tables import Ingredient, LineageManifest
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

SCHEMA: Final = "shipworthy.lineage-manifest/1"
MADE_OF: Final = (
    "run_id",
    "identity",
    "ingredients",
    "inputs",
    "transformations",
    "artifacts",
    "unpinned",
    "conflicts",
    "recipe_digest",
    "family_digest",
)


MAX_VERSIONS: Final = 32
MAX_REVISIONS: Final = 256


def check_may_seal(view: View) -> None:
    """Raises Conflict when the run has as many model versions as one may have."""
    if len(view["sealed"]) >= MAX_VERSIONS:
        raise Conflict(
            f"the run has {MAX_VERSIONS} model versions already, the most one may have; "
            "record what makes further versions as runs of their own"
        )


def check_may_change(view: View) -> None:
    """Raises Conflict when the sealed lineage of the run was changed as often as it may be."""
    if any(sealed["revision"] >= MAX_REVISIONS for sealed in view["sealed"]):
        raise Conflict(
            f"the sealed lineage of this run was changed {MAX_REVISIONS - 1} times, the most there may be; "
            "record what follows as a run of its own"
        )


def seal(workspace: Workspace, entry: Entry, version: ModelVersionFact, view: View) -> View:
    """Adds revision 1 for a new model version of this run and gives the view that remembers it."""
    named = (version.registry, version.model, version.version)
    if any((known["registry"], known["model"], known["version"]) == named for known in view["sealed"]):
        return view  # the same binding again, under another idempotency key
    sealed = {
        "registry": version.registry,
        "model": version.model,
        "version": version.version,
        "artifact": version.artifact,
        "revision": 0,
        "digest": None,
    }
    return view | {
        "sealed": [*view["sealed"], _revise(workspace, entry, _made_of(workspace, entry, view), sealed)]
    }


def reseal(workspace: Workspace, entry: Entry, before: View, view: View) -> View:
    """New revisions where `entry` changed what sealed manifests of this run say."""
    if not view["sealed"] or all(before[part] == view[part] for part in MADE_OF):
        return view
    made_of = _made_of(workspace, entry, view)
    return view | {"sealed": [_revise(workspace, entry, made_of, sealed) for sealed in view["sealed"]]}


def made_of_document(view: View) -> bytes:
    """What a run is made of, as RFC 8785 bytes."""
    return canonical_bytes({part: view[part] for part in MADE_OF})


def _made_of(workspace: Workspace, entry: Entry, view: View) -> str:
    """Digest of the document that says what the run is made of, kept among the ingredients."""
    document = made_of_document(view)
    digest = sha256_digest(document)
    workspace.add(
        Ingredient,
        {
            "namespace": entry.namespace,
            "digest": digest,
            "kind": "made_of",
            "position": entry.position,
            "document": document.decode(),
        },
    )
    return digest


def _revise(workspace: Workspace, entry: Entry, made_of: str, sealed: dict[str, Any]) -> dict[str, Any]:
    revision = sealed["revision"] + 1
    document = canonicalize(
        {
            "schema": SCHEMA,
            "registry": sealed["registry"],
            "model": sealed["model"],
            "version": sealed["version"],
            "artifact": sealed["artifact"],
            "revision": revision,
            "previous": sealed["digest"],
            "reason": f"{entry.kind} recorded",
            "author": entry.owner,
            "record": entry.digest,
            "made_of": made_of,
        }
    )
    digest = sha256_digest(document)
    workspace.add(
        LineageManifest,
        {
            "namespace": entry.namespace,
            "registry_name": sealed["registry"],
            "model": sealed["model"],
            "version": sealed["version"],
            "revision": revision,
            "digest": digest,
            "position": entry.position,
            "document": document.decode(),
        },
        new=True,
    )
    return sealed | {"revision": revision, "digest": digest}
