"""From a request body to what the ledger appends: parse, validate, canonicalize. No input or output."""

import os
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

import jiter
from pydantic import ValidationError
from sqlalchemy import Executable
from starlette.datastructures import Headers

from api.errors import invalid_input
from api.schemas.runs import EVIDENCE, NESTED, RunRequest
from models.actor import Actor
from models.errors import FieldProblem, InvalidInput, InvalidJson, RecordTooLarge
from models.fields import Value
from models.keys.store import disclosure_statement, owner_pseudonym
from models.kinds.registry import KINDS
from models.kinds.runs import KEPT
from models.ledger.drafts import Draft, Item, make_draft, redactable
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import CanonicalizationError, JsonValue, canonicalize

MAX_DEPTH: Final = 32
MAX_NESTED: Final = 10_000
_CONTAINERS: Final = frozenset((dict, list))
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
V = TypeVar("V", bound=Value)


def parse_json(data: bytes, wrappers: int = 0) -> dict[str, Any]:
    """One JSON object. Raises InvalidJson, or InvalidInput for what is JSON but nested too deep. `wrappers` are levels
    around the body, which don't count."""
    try:
        value = jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidJson(f"the body is not JSON that can be taken: {error}") from error
    if not isinstance(value, dict):
        raise InvalidJson("the body must be one JSON object: {…}")
    most = MAX_DEPTH + wrappers
    if _depth(value, most) > most:
        message = f"is nested more than {MAX_DEPTH} levels deep; flatten it or use a blob"
        field = "/body" if wrappers else ""
        raise InvalidInput(f"the body {message}", problems=[FieldProblem(field, message)])
    return value


def _depth(value: object, most: int) -> int:
    """Containers within containers, counted only as far as `most` + 1."""
    level: list[Any] = [value]
    for depth in range(most + 1):
        following: list[Any] = []
        for container in level:
            members = container.values() if type(container) is dict else container
            # Most containers hold no other: one pass in C tells so.
            if _CONTAINERS & set(map(type, members)):
                following += [each for each in members if type(each) in _CONTAINERS]
        if not following:
            return depth + 1
        level = following
    return most + 1


def with_path(body: dict[str, Any], path: Mapping[str, str]) -> dict[str, Any]:
    """The body with the fields that the URL gives (run id, digest). Raises InvalidInput when it says another value."""
    for name, value in path.items():
        if body.get(name, value) != value:
            problem = FieldProblem(f"/{name}", "differs from the URL; leave it out of the body")
            raise InvalidInput(f"the body's {name} is not the one in the URL", problems=[problem])
        body[name] = value
    return body


def read_fact(body: Mapping[str, Any], model: type[V]) -> V:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise invalid_input(error, model) from error


def idempotency_key(text: str | None) -> str | None:
    """The value of an `Idempotency-Key` header or of a batch line's `key`."""
    if text is not None and not _KEY.fullmatch(text):
        raise InvalidInput(
            "the idempotency key must be 1 to 255 printable ASCII characters without spaces",
            problems=[FieldProblem("/key", "1 to 255 printable ASCII characters without spaces")],
        )
    return text


def asked_key(headers: Headers) -> str | None:
    """The idempotency key of a request. Raises InvalidInput for two different ones: with either, the other's repetition
    would be recorded twice."""
    given = set(headers.getlist("idempotency-key"))
    if len(given) > 1:
        message = "is sent more than once with different values; send one key"
        raise InvalidInput(f"the header Idempotency-Key {message}", problems=[FieldProblem("/key", message)])
    return idempotency_key(next(iter(given), None))


class Recorder:
    """Makes ledger items from bodies; `pepper` makes pseudonyms of persons."""

    def __init__(self, pepper: bytes) -> None:
        self._pepper = pepper

    def item(self, kind: str, actor: Actor, body: dict[str, Any], key: str | None) -> Item:
        """The item of one body of this kind, validated whole.

        Raises InvalidInput, RecordTooLarge.
        """
        if kind == "run.registered":
            return self._run(actor, body, key)
        known = KINDS[kind]
        fact = read_fact(body, known.body)
        run_id = cast(str | None, getattr(fact, "run_id", None))
        return Item((make_draft(known, actor, body, fact, run_id=run_id, idempotency_key=key),))

    def _run(self, actor: Actor, body: dict[str, Any], key: str | None) -> Item:
        request = read_fact(body, RunRequest)
        if sum(len(body.get(name, ())) for name in NESTED) > MAX_NESTED:
            message = f"holds more than {MAX_NESTED} facts; send later ones by POST /v1/records:batch"
            raise InvalidInput(f"the body {message}", problems=[FieldProblem("", message)])
        own = {name: value for name, value in body.items() if name not in EVIDENCE}
        compared: dict[str, Any] = dict(body if key is not None else own)
        statements: tuple[Executable, ...] = ()
        if request.initiated_by is not None:
            own["initiated_by"], statements = self._person(actor, request.initiated_by)
            # Equal content is compared by pseudonym: a digest over the address would outlive its erasure, and
            # whoever has a guess could check it.
            compared["initiated_by"] = own["initiated_by"]["owner"]
        try:
            drafts = _registration(actor, own, compared, request, key)
        except RecordTooLarge:
            drafts = _apart(actor, own, compared if key is not None else None, request, key)
        for name in EVIDENCE:
            drafts += _nested(name, actor, body, request)
        return Item(tuple(drafts), statements=statements)

    def _person(self, actor: Actor, address: str) -> tuple[dict[str, JsonValue], tuple[Executable, ...]]:
        """A person in redactable form: a pseudonym to compare by, and the address behind a salted digest."""
        salt = os.urandom(16)
        digest = redactable(address, salt)
        owner = owner_pseudonym(self._pepper, actor.namespace, address)
        statement = disclosure_statement(digest, actor.namespace, salt, address)
        return {"owner": owner, "who": {"$redactable": digest}}, (statement,)


def _registration(
    actor: Actor, own: dict[str, Any], compared: dict[str, Any], request: RunRequest, key: str | None
) -> list[Draft]:
    """The one record of a registration; `compared` is what a repetition has to say again."""
    content = _digest(compared) if compared != own else None
    return [
        make_draft(
            KINDS["run.registered"],
            actor,
            own,
            request,
            run_id=request.run_id,
            idempotency_key=key,
            content=content,
        )
    ]


def _apart(
    actor: Actor, own: dict[str, Any], compared: dict[str, Any] | None, request: RunRequest, key: str | None
) -> list[Draft]:
    """The same when it is too large for one record: what it keeps otherwise becomes records of their own."""
    bare = {name: value for name, value in own.items() if name not in KEPT}
    if compared is None:
        compared = dict(bare)
        if request.initiated_by is not None:
            compared["initiated_by"] = bare["initiated_by"]["owner"]
    drafts = _registration(actor, bare, compared, request.model_copy(update={name: [] for name in KEPT}), key)
    for name in KEPT:
        drafts += _nested(name, actor, own, request)
    return drafts


def _nested(name: str, actor: Actor, body: Mapping[str, Any], request: RunRequest) -> list[Draft]:
    drafts = []
    run_id, kind = request.run_id, KINDS[NESTED[name]]
    for place, (sent, fact) in enumerate(zip(body.get(name, ()), getattr(request, name), strict=True)):
        try:
            drafts.append(make_draft(kind, actor, {**sent, "run_id": run_id}, fact, run_id=run_id))
        except InvalidInput as error:
            problems = [FieldProblem(f"/{name}/{place}{each.field}", each.message) for each in error.problems]
            detail = "; ".join(f"{each.field} {each.message}" for each in problems)
            raise InvalidInput(detail, problems=problems) from error
    return drafts


def _digest(value: JsonValue) -> str:
    try:
        return sha256_digest(canonicalize(value))
    except CanonicalizationError as error:
        raise InvalidInput(str(error), problems=[FieldProblem(error.path, error.reason)]) from error
