"""What is read to tell whether a pass may be used now: the newest decision, and what became of it since."""

from typing import Final, NamedTuple

_STANDS: Final = (
    "NOT EXISTS (SELECT 1 FROM revocation said WHERE said.namespace = later.namespace "
    "AND said.revoked = later.record AND said.effect = 'revoked')"
)
_RESTED: Final = (
    "rested.namespace = :namespace AND rested.decision = (SELECT record FROM latest) "
    "AND later.position > rested.position AND later.outcome <> 'passed' AND {stands} "
)
_AFTER: Final = "later.position > (SELECT position FROM latest) AND {stands} "
# One statement: what an answer costs is mostly their number. The first row set is the newest decision, the others what
# became of it since. What was said before it was known to it, and judged: contested data may pass with a review. Later
# findings are those about the same thing that are no pass: of the same kind of evidence, the same contract, the same
# checkpoint, a checksum of the artifact; and whoever denied the artifact.
STANDING: Final = (
    (
        "WITH latest AS (SELECT record, type, verdict, gate, gate_version, valid_until, position, document "
        "FROM gate_decision WHERE artifact = :artifact AND namespace = :namespace AND mode = 'enforce' "
        "AND model = :model AND target = :target ORDER BY position DESC LIMIT 1) "
        "SELECT 'decision' AS what, record AS one, type AS two, verdict AS three, gate AS four, "
        "gate_version AS number, valid_until AS moment, position, document FROM latest "
        "UNION ALL SELECT 'gate', name, digest, document_digest, record, version, NULL, 0, owner FROM gate "
        "WHERE model = :model AND namespace = :namespace AND target = :target "
        "UNION ALL SELECT 'taken back', said.revoked, said.effect, record.kind, '', 0, NULL, 0, '' "
        "FROM decision_input rested JOIN revocation said ON said.revoked = rested.record "
        "AND said.namespace = rested.namespace JOIN record ON record.digest = rested.record "
        "WHERE rested.namespace = :namespace AND rested.decision = (SELECT record FROM latest) "
        "AND said.position > rested.position "
        "UNION ALL SELECT 'taken back', said.revoked, said.effect, 'decision', '', 0, NULL, 0, '' FROM revocation said "
        "WHERE said.namespace = :namespace AND said.revoked = (SELECT record FROM latest) "
        "UNION ALL SELECT 'key', rested.key_id, '', '', '', 0, NULL, 0, '' FROM decision_input rested "
        "JOIN record ended ON ended.idempotency_key = 'key.revoked|' || rested.key_id "
        "AND ended.namespace = rested.namespace WHERE rested.namespace = :namespace "
        "AND rested.decision = (SELECT record FROM latest) AND ended.kind = 'key.revoked' "
        "AND ended.position > rested.position "
        "UNION ALL SELECT 'later', later.kind, later.record, '', '', 0, NULL, 0, '' FROM decision_input rested "
        "JOIN evidence was ON was.record = rested.record AND was.namespace = rested.namespace "
        "JOIN evidence later ON later.subject = was.subject AND later.namespace = was.namespace "
        "AND later.kind = was.kind WHERE {rested}"
        "UNION ALL SELECT 'later', 'contract ' || later.contract, later.record, '', '', 0, NULL, 0, '' "
        "FROM decision_input rested "
        "JOIN contract_check was ON was.record = rested.record AND was.namespace = rested.namespace "
        "JOIN contract_check later ON later.manifest = was.manifest AND later.namespace = was.namespace "
        "AND later.contract = was.contract AND later.object = was.object WHERE {rested}"
        "UNION ALL SELECT 'later', 'checkpoint verification', later.record, '', '', 0, NULL, 0, '' "
        "FROM decision_input rested "
        "JOIN checkpoint_verification was ON was.record = rested.record AND was.namespace = rested.namespace "
        "JOIN checkpoint_verification later ON later.checkpoint = was.checkpoint AND later.namespace = was.namespace "
        "WHERE {rested}"
        "UNION ALL SELECT 'later', 'checksum', later.record, '', '', 0, NULL, 0, '' FROM checkpoint_verification later "
        "WHERE later.checkpoint = :artifact AND later.namespace = :namespace AND later.outcome <> 'passed' AND {after}"
        "UNION ALL SELECT 'later', later.kind, later.record, '', '', 0, NULL, 0, '' FROM evidence later "
        "WHERE later.subject = :artifact AND later.namespace = :namespace AND later.kind = 'artifact-checksum' "
        "AND later.outcome <> 'passed' AND {after}"
        "UNION ALL SELECT 'later', 'denial', later.record, '', '', 0, NULL, 0, '' FROM review later "
        "WHERE later.artifact = :artifact AND later.namespace = :namespace AND later.target = :target "
        "AND later.action = 'denied' AND {after}"
    )
    .replace("{rested}", _RESTED)
    .replace("{after}", _AFTER)
    .replace("{stands}", _STANDS)
)
"""Rows by what they are. Others that are wanted in the same moment can be asked for with a UNION ALL; their `what` has
to be another."""
STANDING_TYPES: Final = ("text",) * 5 + ("integer", "timestamptz", "bigint", "text")
"""Of its columns, as PostgreSQL has them."""


class StandingRow(NamedTuple):
    """A row of STANDING; `moment` as the database gives it."""

    what: str
    one: str
    two: str
    three: str
    four: str
    number: int
    moment: object
    position: int
    document: str
