"""Where the data of a request lies: what was recorded with a snapshot or a transformation, or what it says itself."""

import json
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from models.errors import FieldProblem, InvalidInput, NotFound
from models.lineage.queries import get_ingredient, get_snapshot


@dataclass(frozen=True, slots=True)
class Target:
    """`snapshot` is the manifest digest that the bytes must have, None when whatever lies there is meant."""

    root: str
    path: str
    snapshot: str | None


def find_target(
    session: Session,
    namespace: str,
    *,
    snapshot: str | None,
    root: str | None,
    path: str | None,
    transformation: str | None = None,
) -> Target:
    """Raises NotFound for a snapshot or transformation that is not there, InvalidInput when nobody recorded where it
    lies."""
    if transformation is not None:
        output = _output(session, namespace, transformation)
        if snapshot is not None and output is not None and snapshot != output:
            raise _refused("snapshot", f"is not the output of this transformation, which is {output}")
        snapshot = snapshot or output
    if root is not None and path is not None:
        return Target(root, path, snapshot)
    if snapshot is None:
        raise _refused(
            "transformation", "was recorded without `output`; say where its data lies by `root` and `path`"
        )
    location = json.loads(get_snapshot(session, namespace, snapshot).document).get("location")
    if location is None:
        raise _refused(
            "snapshot", "was recorded without `location`; say where its data lies by `root` and `path`"
        )
    return Target(location["root"], location["path"], snapshot)


def _output(session: Session, namespace: str, transformation: str) -> str | None:
    found = get_ingredient(session, namespace, transformation)
    if found.kind != "transformation":
        raise NotFound("no transformation with this digest in this namespace; runs name theirs")
    document: dict[str, Any] = json.loads(found.document)
    return document.get("output")


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(f"/{field} {message}", problems=[FieldProblem(f"/{field}", message)])
