"""`shipworthy snapshot`: the digest of a file or folder, recorded when there is a service to record it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from shipworthy.cli.asking import Json, Url
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.words import count, size
from shipworthy.errors import UsageError
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.key_sketch import KEY_BYTES
from shipworthy.formats.manifest import (
    ManifestEntry,
    ManifestError,
    hash_tree,
    manifest_bytes,
    manifest_digest,
)
from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import InvalidRequest
from shipworthy.settings import read_settings
from shipworthy.snapshots import name_of
from shipworthy.table_keys import sketch_of_table
from shipworthy.tables import table_facts


def snapshot(
    path: Annotated[Path, typer.Argument(help="File or folder; all its bytes are read.", show_default=False)],
    dataset: Annotated[str | None, typer.Option(help="NAMESPACE/NAME; file/PATH otherwise.")] = None,
    uri: Annotated[str | None, typer.Option(help="Where others find the same bytes.")] = None,
    row_count: Annotated[int | None, typer.Option(min=0, help="Rows, when you know them.")] = None,
    location: Annotated[
        str | None,
        typer.Option(
            metavar="ROOT/PATH", help="Where workers find the same bytes: a registered root, a path in it."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Key column: keep a sketch that tells shared rows; repeat it for more."
        ),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Its part of a larger data set, such as train.")] = None,
    split_of: Annotated[str | None, typer.Option(help="That data set: its digest or NAMESPACE/NAME.")] = None,
    split_method: Annotated[str, typer.Option(help="How it was split.")] = "declared",
    record: Annotated[bool, typer.Option(help="Record it, when a service is named.")] = True,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Hash data and record it as a snapshot, graded “content”: every byte was read."""
    entries = hash_shown(path)
    digest, total = manifest_digest(entries), sum(entry.size for entry in entries)
    body: dict[str, Any] = {
        "dataset": name_of(dataset) if dataset else {"namespace": "file", "name": path.as_posix()[:512]},
        "grade": "content",
        "digest": digest,
        "size_bytes": total,
    }
    body |= {} if uri is None else {"uri": uri}
    body |= table_facts(path, entries)
    body |= {} if row_count is None else {"row_count": row_count}
    body |= {} if location is None else {"location": _location(location)}
    if (split is None) != (split_of is None):
        raise UsageError("--split and --split-of belong together: the part, and what it is a part of")
    body |= {} if split is None else {"split": {"name": split, "of": split_of, "method": split_method}}
    sketch = sketch_of_table(path, key) if key else None
    if sketch is not None:
        body["key_sketch"] = {
            "blob": sha256_digest(sketch),
            "count": len(sketch) // KEY_BYTES,
            "columns": list(key or ()),
        }
    settings = read_settings(url)
    is_new: bool | None = None
    if record and settings.url is not None:
        with ShipworthyClient(settings.url, settings.token) as client:
            if sketch is not None:
                client.put_blob(sketch)
            is_new = _record(client, body, entries)
    if as_json:
        print_json({**body, "files": len(entries), "recorded": is_new is not None, "new": is_new})
        return
    output().print(digest)
    done = {
        None: "not recorded" + (": SHIPWORTHY_URL names no service" if record else ""),
        True: "recorded",
        False: "was recorded before",
    }[is_new]
    messages().print(f"{count(len(entries), 'file')}, {size(total)}; {done}", style="dim")


def _location(text: str) -> dict[str, str]:
    root, slash, path = text.partition("/")
    if not (root and slash and path):
        raise UsageError(f"--location {text!r}: write ROOT/PATH, such as lake/orders/2026-05.parquet")
    return {"root": root, "path": path}


def hash_shown(path: Path) -> tuple[ManifestEntry, ...]:
    """Entries of a file or folder, with a bar on a terminal. Raises UsageError for what has no digest."""
    if not path.exists():
        raise UsageError(f"there is no file or folder {path}")
    try:
        total = sum(each.stat().st_size for each in path.rglob("*") if each.is_file()) or path.stat().st_size
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        console = messages()
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(f"hashing {path.name}", total=total)
            return hash_tree(path, lambda read: progress.advance(task, read))
    except ManifestError as error:
        raise UsageError(str(error)) from error


def _record(client: ShipworthyClient, body: dict[str, Any], entries: tuple[ManifestEntry, ...]) -> bool:
    """Whether the snapshot is new. The list of files is kept as the blob that the digest names."""
    client.put_blob(manifest_bytes(entries))
    (answer,) = client.append([json.dumps({"kind": "snapshot", "body": body})])
    if answer.is_refused:
        raise InvalidRequest(
            answer.status, answer.code or "refused", answer.detail or "the snapshot was refused"
        )
    return answer.status == 201
