"""Blobs in a local folder against their names, and those that a record needs but nobody has."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from models.blobs import blob_key
from models.ledger.backup import blob_files
from models.ledger.entries import Entry
from models.ledger.findings import Findings

_NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "contract.published": ("digest", "suite_digest"),
    "gate.published": ("digest",),
    "slo.published": ("digest",),
    "contract.checked": ("checks_blob",),
}
"""What was there before its record, because the service wrote it or asked for it. Others may be sent at any time."""


@dataclass(frozen=True, slots=True)
class BlobCheck:
    """`progress` is told how many blobs and bytes were read."""

    folder: Path
    findings: Findings
    progress: Callable[[int, int], None]

    def feed(self, entry: Entry) -> None:
        for digest in _needed(entry):
            if not (self.folder / blob_key(entry.namespace, digest)).is_file():
                self.findings.add(
                    f"record {entry.position} needs the blob {digest} of namespace {entry.namespace}, which is "
                    "missing; send it again, or take it from a backup"
                )

    def finish(self) -> None:
        checked = self.findings.checked
        for relative in blob_files(self.folder):
            path = self.folder / relative
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                size = file.tell()
            if digest != relative.name:
                self.findings.add(
                    f"the blob {path} has bytes that hash to {digest}; send the right ones with PUT "
                    f"/v1/blobs/sha256:{relative.name}, or take them from a backup"
                )
            checked["blobs"] += 1
            checked["bytes of blobs"] += size
            self.progress(checked["blobs"], checked["bytes of blobs"])


def _needed(entry: Entry) -> Iterator[str]:
    for name in _NEEDED.get(entry.kind, ()):
        digest = getattr(entry.fact, name)
        if digest is not None:
            yield digest
    if entry.kind == "evaluation.completed" and getattr(entry.fact, "attempt", None) is not None:
        digest = getattr(entry.fact, "per_example", None)
        if digest is not None:
            yield digest
