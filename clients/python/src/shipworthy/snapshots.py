"""Data as a run read it: named by the digest of its bytes, or by what is known, and never by a guess."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from shipworthy.errors import UsageError
from shipworthy.formats.digests import is_digest
from shipworthy.notices import warn_once
from shipworthy.values import Body, Json, first_line, plain

IMMUTABLE_STORES: Final = frozenset({"iceberg", "delta", "lakefs", "dvc", "git", "object_version"})
"""Kinds of version that name the same bytes for ever."""

NOT_THERE: Final = "there is no such file on the machine of the run"
_URI: Final = "[A-Za-z][A-Za-z0-9+.-]+://"


class Snapshot(NamedTuple):
    """`body` is the record; give the snapshot to `run(data={role: snapshot})` or `evaluation(dataset=…)`."""

    body: Body

    @property
    def digest(self) -> str | None:
        digest = self.body.get("digest")
        return digest if isinstance(digest, str) else None

    @property
    def grade(self) -> str:
        """How well the data is identified: content, manifest, store, sampled, declared or none."""
        return str(self.body["grade"])


def snapshot(
    source: str | os.PathLike[str],
    *,
    dataset: str | None = None,
    version: tuple[str, str] | None = None,
    row_count: int | None = None,
    location: tuple[str, str] | None = None,
) -> Snapshot:
    """The snapshot of a local file or folder, hashed now, or of a URI as far as it is known.

    `dataset` is "namespace/name"; `version` is (kind, value), such as ("lakefs", "9f3c…"); `location` is (root, path):
    where workers find the same bytes. Of Parquet files the digest of their footers is in it, and where pyarrow is
    installed their schema's and the number of rows. Raises UsageError when a local path has nothing to hash.
    """
    body, path = describe(source, dataset, version)
    if path is not None:
        from shipworthy.formats.manifest import hash_tree, manifest_digest
        from shipworthy.progress_bar import ProgressBar
        from shipworthy.promises import fingerprint
        from shipworthy.tables import table_facts

        try:
            state = fingerprint(path)
            with ProgressBar(f"hashing {path.name}", int(str(state["bytes"]))) as bar:
                entries = hash_tree(path, bar.add)
            body |= table_facts(path, entries)
            if fingerprint(path) != state:
                raise ValueError("its files changed while they were read")
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} can't be taken as a snapshot: {error}") from error
        size = sum(entry.size for entry in entries)
        body |= {"digest": manifest_digest(entries), "size_bytes": size, "grade": "content"}
    if row_count is not None:
        body["row_count"] = row_count
    if location is not None:
        body["location"] = {"root": location[0], "path": location[1]}
    return Snapshot(body)


def describe(
    source: str | os.PathLike[str], dataset: str | None = None, version: tuple[str, str] | None = None
) -> tuple[Body, Path | None]:
    """The snapshot's body, and the path to hash when the bytes are at hand and nothing better names them."""
    text = os.fspath(source)
    is_uri = isinstance(source, str) and re.match(_URI, text) is not None
    uri = _without_secrets(text) if is_uri else text
    body: Body = {"dataset": _dataset(uri, is_uri, dataset), "uri": uri[:2048]}
    if version is not None:
        kind, value = version
        body |= {
            "grade": "store" if kind in IMMUTABLE_STORES else "declared",
            "version": {"kind": kind, "value": value},
        }
        return body, None
    path = Path(text)
    if is_uri:
        body |= {
            "grade": "none",
            "reason": "only its address is known: neither a version nor a digest was given",
        }
    elif not path.exists():
        body |= {"grade": "none", "reason": NOT_THERE}
    else:
        return body, path
    return body, None


def describe_input(role: str, source: object, dataset: str | None = None) -> tuple[Body, Path | None]:
    """One entry of a run's `inputs`, and the path whose digest is still to be added to it. Warns of a path at which
    there is nothing.

    Raises UsageError for a source that is no snapshot, digest, path, URI or mapping.
    """
    if isinstance(source, Snapshot):
        return {"role": role, "snapshot": source.body}, None
    if isinstance(source, Mapping):
        return {"role": role, "snapshot": plain(source)}, None
    if isinstance(source, str) and is_digest(source):
        return {"role": role, "digest": source}, None
    if isinstance(source, str | os.PathLike):
        body, path = describe(source, dataset)
        if body.get("reason") == NOT_THERE:
            warn_of_missing(role, f"data[{role!r}] = {os.fspath(source)!r}")
        return {"role": role, "snapshot": body}, path
    raise UsageError(
        f"data[{role!r}] is a {type(source).__name__}; give a path, a URI, a digest or shipworthy.snapshot(…)"
    )


def is_missing(source: str) -> bool:
    """Whether it is a local path at which there is nothing."""
    return not is_digest(source) and describe(source)[0].get("reason") == NOT_THERE


def warn_of_missing(role: str, given: str) -> None:
    """Once for each role, in the words of who comes first: the command line knows the option."""
    warn_once(f"input:{role}", f"{given}: there is no such file or folder; it is recorded without a digest")


def name_of(text: str) -> dict[str, Json]:
    """Namespace and name of "namespace/name"; "default" is the namespace of a name alone."""
    namespace, slash, name = text.partition("/")
    if not slash:
        namespace, name = "default", text
    if not name.strip() or not namespace.strip():
        raise UsageError(f"{text!r} is no name; write it like fraud/train")
    return {"namespace": namespace, "name": name}


def job_of(text: str) -> dict[str, Json]:
    """The name of a job. What the service would refuse in it is replaced, with a warning: a run without a job
    is no run."""
    cleaned = first_line(text.strip(), 700) or "unnamed"
    named = name_of(cleaned if cleaned.strip("/") and not cleaned.startswith("/") else f"default/{cleaned}")
    namespace = _identifier(str(named["namespace"]))
    name = str(named["name"])[:512]
    if text not in (f"{namespace}/{name}", name):
        warn_once(
            "job", f"job {text[:80]!r} is no name like fraud/train; it is recorded as {namespace}/{name}"
        )
    return {"namespace": namespace, "name": name}


def _identifier(text: str) -> str:
    """The text as an identifier of the service: letters, digits and ._/:@- after a letter or digit."""
    kept = re.sub(r"[^A-Za-z0-9._/:@-]", "-", text)[:256]
    return kept if kept[:1].isalnum() else f"x{kept}"[:256]


def _dataset(uri: str, is_uri: bool, dataset: str | None) -> Json:
    if dataset is not None:
        return name_of(dataset)
    if not is_uri:
        return {"namespace": "file", "name": Path(uri).as_posix()[:512]}
    parts = urlsplit(uri)
    namespace = _identifier(f"{parts.scheme}://{parts.netloc}")
    return {"namespace": namespace, "name": (parts.path.strip("/") or "/")[:512]}


def _without_secrets(uri: str) -> str:
    """Without user, password, query and fragment: signed addresses carry keys there."""
    scheme, _, rest = uri.partition("://")
    rest = rest.partition("?")[0].partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
