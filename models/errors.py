"""The one error tree below `api/`: what may go wrong, each with a stable code.

`api/errors.py` maps each class to an HTTP status and docs/api.md says for each code what to do.
The detail is a sentence for the person who has to mend the input.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field that was refused: `field` is a JSON pointer into the request body ("" = the whole)."""

    field: str
    message: str


class ShipworthyError(Exception):
    """Anything that a caller may be told; subclasses carry the code."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, detail: str, *, problems: Sequence[FieldProblem] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.problems = tuple(problems)


class InvalidJson(ShipworthyError):
    """The body is not one JSON document: syntax, duplicate key, NaN, Infinity, not UTF-8."""

    code = "invalid_json"


class InvalidInput(ShipworthyError):
    """The body is JSON, but a field breaks its rule; `problems` names each field."""

    code = "invalid_input"


class RecordTooLarge(ShipworthyError):
    """One record's canonical bytes exceed 256 KiB."""

    code = "record_too_large"


class BodyTooLarge(ShipworthyError):
    """The request body, after decompression, exceeds the limit of its endpoint."""

    code = "body_too_large"


class UnsupportedEncoding(ShipworthyError):
    """A Content-Encoding other than gzip or identity, or a body that is not what it claims."""

    code = "unsupported_encoding"


class RequestTimeout(ShipworthyError):
    """A request that stopped in the middle: its headers or body did not go on in time."""

    code = "request_timeout"


class TokenMissing(ShipworthyError):
    """No bearer token was sent."""

    code = "token_missing"


class TokenInvalid(ShipworthyError):
    """The token is malformed, unknown, revoked or expired; which one is not told."""

    code = "token_invalid"


class RoleMissing(ShipworthyError):
    """The key is valid but has no role that allows the call."""

    code = "role_missing"


class NotFound(ShipworthyError):
    """Nothing with that id in this namespace; another tenant's id answers the same."""

    code = "not_found"


class RunNotFound(NotFound):
    """A fact names a run that this namespace does not have."""

    code = "run_not_found"


class Conflict(ShipworthyError):
    """The same identity was recorded before with other content."""

    code = "conflict"


class IdempotencyKeyReused(Conflict):
    """The idempotency key was used before with other content: that of `record`, a digest, where it is known."""

    code = "idempotency_key_reused"

    def __init__(self, detail: str, *, record: str | None = None) -> None:
        super().__init__(detail)
        self.record = record


class RunConflict(Conflict):
    """A later registration of a run changes a part that the first one fixed."""

    code = "run_conflict"


class ModelVersionTaken(Conflict):
    """The model version is bound to another artifact digest or run."""

    code = "model_version_taken"


class ContractMoved(Conflict):
    """A check or its result names another version, suite or baseline than the contract has now."""

    code = "contract_moved"


class GateMoved(Conflict):
    """A review, waiver or decision is about another version of a gate than the latest."""

    code = "gate_moved"


class SloMoved(Conflict):
    """An SLO was published, or its windows were written down, for another version than it has now."""

    code = "slo_moved"


class TargetTaken(Conflict):
    """Another gate stands before this model's target."""

    code = "target_taken"


class GateClosed(Conflict):
    """A gate stands before what was asked for, and no decision that lets it pass is in force."""

    code = "gate_closed"


class DecisionMoved(Conflict):
    """What a decision rests on changed while it was made, again and again; nothing was decided."""

    code = "decision_moved"


class GrantVoid(Conflict):
    """A grant is over, was settled, or what it rests on no longer stands: nothing may be moved by it."""

    code = "grant_void"


class AttemptEnded(Conflict):
    """A result came for an attempt that is closed, abandoned or out of time."""

    code = "attempt_ended"


class AttemptNotClosed(Conflict):
    """Statistics were asked for of an attempt whose results are not all there."""

    code = "attempt_not_closed"


class WorkLeaseLost(Conflict):
    """The work was taken over, cancelled or ended: what this worker says of it no longer counts."""

    code = "work_lease_lost"


class WorkEnded(Conflict):
    """The work can't be cancelled: it has ended."""

    code = "work_ended"


class SeparationOfDuties(ShipworthyError):
    """The person who approves is the one who asked for it, or nobody knows who asked."""

    code = "separation_of_duties"


class BlobDigestMismatch(ShipworthyError):
    """The bytes that were sent do not hash to the digest in the path."""

    code = "blob_digest_mismatch"


class Unavailable(ShipworthyError):
    """The service can't answer now (busy, database away, shutting down): nothing was stored, try again.

    `database` is the URL of a database that is away, without its password: for who starts the service, never for a
    caller.
    """

    code = "unavailable"

    def __init__(self, detail: str, *, database: str | None = None) -> None:
        super().__init__(detail)
        self.database = database


class TooManyWaits(ShipworthyError):
    """More calls of this key wait for something at the same time than one key may."""

    code = "too_many_waits"


class WriteFailed(ShipworthyError):
    """A record that passed every check could not be written: a fault of the service; nothing was stored."""

    code = "write_failed"


class LedgerDamaged(ShipworthyError):
    """What is stored is not what was written: nothing of it is answered or built upon."""

    code = "ledger_damaged"


class StartRefused(ShipworthyError):
    """The service refuses to start: schema, guards, keys or log are not what they must be."""

    code = "start_refused"
