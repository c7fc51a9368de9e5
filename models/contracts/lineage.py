"""What checks said of the data behind a model, for lineage answers: one query, whatever their number."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from models.bulk import select_among
from models.kinds.contracts import Outcome

MAX_CHECKS: Final = 200
_COLUMNS: Final = (
    "record, contract, version, object, manifest, transformation, outcome, evidence_level, position, document"
)
_ANSWERED: Final = "outcome IN ('passed', 'failed')"
_BEFORE: Final = (
    "PARTITION BY manifest, transformation, contract, version, object, evidence_level, parameters "
    "ORDER BY position DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
)
"""Of what a row may be taken back by: later results that asked the very same of the same bytes."""
_STANDING: Final = (
    f"SELECT {_COLUMNS}, revoked FROM ("
    f"SELECT {_COLUMNS}, as_of, revoked, "
    f"max(CASE WHEN {_ANSWERED} AND NOT revoked THEN as_of END) OVER later AS answered_later, "
    "max(CASE WHEN NOT revoked THEN as_of END) OVER later AS told_later FROM ("
    f"SELECT {_COLUMNS}, parameters, as_of, EXISTS (SELECT 1 FROM revocation said "
    "WHERE said.namespace = :namespace AND said.revoked = about.record AND said.effect = 'revoked' "
    "AND said.position <= :as_of) AS revoked FROM ("
    f"SELECT {_COLUMNS}, parameters, as_of FROM contract_check "
    "WHERE namespace = :namespace AND manifest IN :keys AND position <= :as_of "
    f"UNION SELECT {_COLUMNS}, parameters, as_of FROM contract_check "
    "WHERE namespace = :namespace AND transformation IN :keys AND position <= :as_of"
    f") AS about) AS marked WINDOW later AS ({_BEFORE})) AS placed "
    "WHERE (answered_later IS NULL OR answered_later < as_of) "
    f"AND ({_ANSWERED} OR told_later IS NULL OR told_later < as_of) "
    "ORDER BY CASE outcome WHEN 'error' THEN 0 WHEN 'failed' THEN 1 WHEN 'not_evaluated' THEN 2 ELSE 3 END, "
    "position DESC LIMIT :most"
)
"""A result stands until a later one, not revoked, gives an answer to the same question: same bytes, version, object,
level and parameters, and an `as_of` that is not older. No answer takes none back: after a failure, a check that was
killed says nothing about the data."""
_WORDS: Final = {Outcome.FAILED: "failed", Outcome.ERROR: "could not be evaluated"}


@dataclass(frozen=True, slots=True)
class DataCheck:
    """A result that stands, by one level of evidence, for one table of one contract version on some bytes. `document`
    is the JSON of its summary."""

    record: str
    contract: str
    version: int
    object: str
    manifest: str
    transformation: str | None
    outcome: Outcome
    evidence_level: str
    position: int
    document: str
    revoked: bool

    @property
    def is_bad(self) -> bool:
        """Whether whoever reads a lineage has to know."""
        return self.outcome in _WORDS and not self.revoked

    @property
    def text(self) -> str:
        """What answers show, as JSON."""
        marked = "true" if self.revoked else "false"
        return f'{self.document[:-1]},"position":{self.position},"revoked":{marked}}}'


def checks_of_data(
    connection: Connection, namespace: str, digests: Collection[str], as_of: int
) -> list[DataCheck]:
    """Of data with these manifest digests and of outputs of transformations with these digests, the worst outcome
    first; one more than MAX_CHECKS tells that there are more.

    An earlier version of a contract that failed stays listed beside a later one that passed.
    """
    if not digests:
        return []
    rows: list[Any] = select_among(
        connection, _STANDING, namespace, digests, as_of=as_of, most=MAX_CHECKS + 1
    )
    return [_check(row) for row in rows]


def _check(row: Any) -> DataCheck:  # noqa: ANN401 - a row of the query above
    return DataCheck(
        record=row.record,
        contract=row.contract,
        version=row.version,
        object=row.object,
        manifest=row.manifest,
        transformation=row.transformation,
        outcome=Outcome(row.outcome),
        evidence_level=row.evidence_level,
        position=row.position,
        document=row.document,
        revoked=bool(row.revoked),
    )


def check_warnings(
    checks: Iterable[DataCheck], roles: Mapping[str, Collection[str]]
) -> list[dict[str, str | None]]:
    """Entries of `completeness` for the checks that failed or could not be evaluated; `roles` names under which a run
    read a digest."""
    return [
        {
            "part": f"contract.{check.contract}",
            "status": "weak",
            "grade": None,
            "reason": f"version {check.version} of the contract {_WORDS[check.outcome]} on {_data(check, roles)}; "
            f"see GET /v1/contract-checks/{check.record}",
        }
        for check in checks
        if check.is_bad
    ]


def _data(check: DataCheck, roles: Mapping[str, Collection[str]]) -> str:
    named = sorted({*roles.get(check.manifest, ()), *roles.get(check.transformation or "", ())})
    return f"the data {check.manifest}" + (f" ({', '.join(named)})" if named else "")
