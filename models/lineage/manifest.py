"""The lineage manifest: one canonical document that says what a model version is made of.

Registration of the version seals revision 1. A later fact that changes what it says makes revision n + 1, which
names its reason, its author and the digest before. Phases, states, checkpoints and evaluations are not part of it:
they are about the model, not in it.
"""

from typing import Any, Final

from models.kinds.facts import ModelVersionFact
from models.ledger.entries import Entry
from models.ledger.workspace import Workspace
from models.lineage.run_view import View
from models.lineage.tables import LineageManifest
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
    return view | {"sealed": [*view["sealed"], _revise(workspace, entry, view, sealed)]}


def reseal(workspace: Workspace, entry: Entry, before: View, view: View) -> View:
    """New revisions where `entry` changed what sealed manifests of this run say."""
    if not view["sealed"] or all(before[part] == view[part] for part in MADE_OF):
        return view
    return view | {"sealed": [_revise(workspace, entry, view, sealed) for sealed in view["sealed"]]}


def _revise(workspace: Workspace, entry: Entry, view: View, sealed: dict[str, Any]) -> dict[str, Any]:
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
            "made_of": {part: view[part] for part in MADE_OF},
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
