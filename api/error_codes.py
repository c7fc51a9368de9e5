"""Every code that an answer may carry, with its status and what to do about it: the page that a problem's `type` leads
to. docs/api.md has the same table, which a test compares with this one."""

from dataclasses import dataclass
from typing import Final

ERRORS_PAGE: Final = "/docs/errors"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """`status` is None for what is never answered over HTTP; `advice` has code between backticks."""

    status: int | None
    code: str
    advice: str


CODES: Final = (
    ErrorCode(400, "invalid_json", "Send one JSON object: no duplicate keys, no NaN or Infinity, UTF-8."),
    ErrorCode(400, "bad_request", "The request itself is malformed; the detail says how."),
    ErrorCode(401, "token_missing", "Send `Authorization: Bearer sw_…`."),
    ErrorCode(
        401, "token_invalid", "The token is malformed, unknown, revoked or expired: have a new one made."
    ),
    ErrorCode(403, "role_missing", "Use a key with one of the roles that the detail names."),
    ErrorCode(
        403,
        "separation_of_duties",
        "Somebody else has to approve; what a key without an owner asked for is asked for again with one.",
    ),
    ErrorCode(
        404, "not_found", "Check the id and the namespace of the key; another namespace's id looks the same."
    ),
    ErrorCode(404, "run_not_found", "Register the run first, with `POST /v1/runs`."),
    ErrorCode(405, "method_not_allowed", "The detail says which methods the path takes."),
    ErrorCode(
        408,
        "request_timeout",
        "The headers did not come within 15 seconds, or the body made a pause of 30: send the whole request again.",
    ),
    ErrorCode(
        409,
        "conflict",
        "The same fact was recorded with other content. Records never change: correct it by a new fact.",
    ),
    ErrorCode(
        409,
        "idempotency_key_reused",
        "Use a new key for new content. In a batch, `record` names the record that has the key.",
    ),
    ErrorCode(
        409,
        "run_conflict",
        "A later post may only add. A run with other ingredients is a new run with a new id.",
    ),
    ErrorCode(
        409,
        "contract_moved",
        "The contract has another version, suite or baseline by now: check the data against that one.",
    ),
    ErrorCode(
        409,
        "attempt_ended",
        "The attempt is closed, abandoned or out of time, and counts. Measure again in one with the next `retry`.",
    ),
    ErrorCode(
        409,
        "attempt_not_closed",
        "Wait until all results have come; of an abandoned attempt there is nothing to measure.",
    ),
    ErrorCode(
        409,
        "gate_moved",
        "The gate has another version by now: publish the number it names, or decide and review under the latest.",
    ),
    ErrorCode(
        409,
        "slo_moved",
        "The SLO was published by somebody else at the same moment: look at that version, and send yours again.",
    ),
    ErrorCode(
        409,
        "target_taken",
        "Publish the policy as the next version of the gate that stands there, or move that one away.",
    ),
    ErrorCode(
        409, "gate_closed", "A gate stands before it: `GET /v1/decisions:in-force` says what is missing."
    ),
    ErrorCode(
        409,
        "grant_void",
        "The grant is over, settled, or its decision no longer stands: roll the registry's write back and check again.",
    ),
    ErrorCode(409, "decision_moved", "What the decision rests on changed while it was made: ask again."),
    ErrorCode(
        409,
        "work_lease_lost",
        "Another worker has the work, or it was cancelled or ended: drop the result, claim other work.",
    ),
    ErrorCode(
        409, "work_ended", "There is nothing left to cancel: ask for the check to see what came of it."
    ),
    ErrorCode(409, "model_version_taken", "A version never changes: register the next one."),
    ErrorCode(413, "body_too_large", "Send less at once, or put large parts into a blob."),
    ErrorCode(413, "record_too_large", "Put large parts into a blob and refer to it by digest."),
    ErrorCode(
        415,
        "unsupported_encoding",
        "Send plain or gzip as Content-Encoding, and chunked as the only Transfer-Encoding; check that the gzip is "
        "whole.",
    ),
    ErrorCode(416, "range_not_satisfiable", "Ask for bytes within the blob's size."),
    ErrorCode(
        422,
        "invalid_input",
        'Each entry of `errors` names a field and how to mend it; `""` is the whole body, `/path` and `/query` are of '
        "the URL.",
    ),
    ErrorCode(
        422, "blob_digest_mismatch", "The bytes are not those of the digest in the path: hash and send again."
    ),
    ErrorCode(431, "head_too_large", "Send a request line and headers of at most 64 KiB together."),
    ErrorCode(500, "internal_error", "A fault of the service. Report the `request_id`."),
    ErrorCode(500, "write_failed", "A fault of the service; nothing was stored. Report the `request_id`."),
    ErrorCode(
        500,
        "ledger_damaged",
        "What is stored is not what was written, and nothing of it is answered. Tell who runs the service: "
        "`shipworthy-server fsck`.",
    ),
    ErrorCode(
        429,
        "too_many_waits",
        "64 calls of this key wait already: ask again after `Retry-After`, or without `wait`.",
    ),
    ErrorCode(
        503,
        "unavailable",
        "Busy, shutting down, or the database is away. Nothing was stored: send again after `Retry-After`.",
    ),
    ErrorCode(
        None, "start_refused", "Never over HTTP: the service did not start, and says why on standard error."
    ),
)
