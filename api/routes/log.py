"""The log: its signed head, the key to check it with, and proofs. Any valid key may read them.

A leaf holds the digest and kind of a record and nothing of its tenant.
"""

from typing import Annotated, Final

from fastapi import Query, Request
from fastapi.responses import PlainTextResponse, Response
from sqlmodel import Session

from api.dependencies import CurrentActor
from api.pages import dump, json_response
from api.reading_route import reading_router
from api.services import services_of
from models.errors import FieldProblem, InvalidInput, Unavailable
from models.fields import Digest
from models.ledger import tree
from models.ledger.head import Head, public_key_bytes, read_head
from models.ledger.record_queries import get_leaf, get_leaf_at
from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.notes import verifier_key

router = reading_router("log")

_TEXT: Final = "text/plain; charset=utf-8"


@router.get("/v1/log/checkpoint", response_class=PlainTextResponse, summary="The signed head of the log")
def get_log_checkpoint(request: Request) -> Response:
    """A C2SP signed note over origin, size and root hash (c2sp.org/tlog-checkpoint)."""
    with services_of(request).database.read() as session:
        head = _head(session)
    return Response(head.note, media_type=_TEXT)


@router.get("/v1/log/key", response_class=PlainTextResponse, summary="The key that signs the log's head")
def get_log_key(request: Request) -> Response:
    """One line, name+key id+key (c2sp.org/signed-note). Keep it where the service can't change it."""
    services = services_of(request)
    with services.database.read() as session:
        head = _head(session)
    line = verifier_key(head.origin, public_key_bytes(services.ring.log_key))
    return Response(line + "\n", media_type=_TEXT)


@router.get("/v1/log/proof/inclusion", response_class=Response, summary="Proof that a record is in the log")
def get_inclusion_proof(
    request: Request,
    actor: CurrentActor,
    record: Annotated[Digest | None, Query(description="digest of a record of this namespace")] = None,
    position: Annotated[int | None, Query(ge=0, description="or else a place in the log")] = None,
    size: Annotated[int | None, Query(ge=1, description="of the log; at present")] = None,
) -> Response:
    """The audit path (RFC 6962 section 2.1.1) in hex, lowest sibling first, for the leaf whose text is
    `leaf_entry`."""
    if (record is None) == (position is None):
        raise _refused("record", "or else /query/position has to be given, and not both")
    with services_of(request).database.read() as session:
        head = _head(session)
        size = head.size if size is None else size
        _within(head, "size", size)
        if record is not None:
            leaf = get_leaf(session, actor.namespace, record)
        elif position is not None and position < head.size:
            leaf = get_leaf_at(session, position)
        else:
            raise _refused("position", f"is beyond the log, which has {head.size} leaves; ask for less")
        if leaf.position >= size:
            raise _refused("size", f"is too small for the leaf at {leaf.position}; ask for more")
        path = tree.prove_inclusion(session.connection(), leaf.position, size)
    return json_response(
        dump(
            {
                "position": leaf.position,
                "size": size,
                "leaf_entry": leaf_entry(leaf.digest, leaf.kind).decode(),
                "leaf_hash": leaf.leaf_hash.hex(),
                "path": [node.hex() for node in path],
                "checkpoint": head.note,
            }
        )
    )


@router.get("/v1/log/proof/consistency", response_class=Response, summary="Proof that the log only grew")
def get_consistency_proof(
    request: Request,
    old: Annotated[int, Query(alias="from", ge=0, description="size of the older log")],
    new: Annotated[int | None, Query(alias="to", ge=0, description="size of the newer; at present")] = None,
) -> Response:
    """RFC 6962 section 2.1.2, hashes in hex."""
    with services_of(request).database.read() as session:
        head = _head(session)
        new = head.size if new is None else new
        _within(head, "to", new)
        if old > new:
            raise _refused("from", f"is larger than the newer log's {new}; swap them")
        path = tree.prove_consistency(session.connection(), old, new)
    return json_response(
        dump({"from": old, "to": new, "path": [node.hex() for node in path], "checkpoint": head.note})
    )


def _head(session: Session) -> Head:
    head = read_head(session.connection())
    if head is None:
        raise Unavailable("the log was never opened; start the service once with `serve`")
    return head


def _within(head: Head, name: str, size: int) -> None:
    if size > head.size:
        raise _refused(name, f"is beyond the log, which has {head.size} leaves; ask for less")


def _refused(name: str, message: str) -> InvalidInput:
    return InvalidInput(f"/query/{name} {message}", problems=[FieldProblem(f"/query/{name}", message)])
