"""The facts of a decision: everything its policy may ask for, as of one head of the log.

All is read in one transaction, so that each record in it stands before the head; a fixed number of statements,
whatever was recorded. What is missing is null and means that it is not known.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from models.errors import Unavailable
from models.gates.asking import Asked, JsonObject, effects
from models.gates.gathering_evidence import gather_evidence
from models.gates.gathering_results import (
    gather_attempt,
    gather_attempts,
    gather_evaluations,
    gather_related,
    gather_statistics,
)
from models.gates.gathering_subject import gather_subject
from models.gates.makers import evidence_of, without_ended_keys
from models.gates.people import approvers, gather_reviews, gather_waivers
from models.ledger.head import Head, read_head

SCHEMA: Final = "shipworthy.facts/1"


@dataclass(frozen=True, slots=True)
class Gathered:
    """`facts` is JSON; `head` the log's head that they are older than; `trainers` the persons who made the artifact;
    `subjects` the digests whose evidence was looked at; `made_of` what the training run is made of."""

    facts: JsonObject
    head: Head
    trainers: tuple[str, ...]
    subjects: tuple[str, ...]
    made_of: bytes | None


def gather(connection: Connection, asked: Asked) -> Gathered:
    """Raises NotFound or InvalidInput for a version that is not there or is another artifact's."""
    head = read_head(connection)
    if head is None:
        raise Unavailable("the log is empty; nothing was recorded yet")
    subject = gather_subject(connection, asked)
    attempt = gather_attempt(connection, asked)
    statistics = gather_statistics(connection, asked, attempt, subject.incumbent["artifact"])
    family, repeats = gather_related(
        connection, asked, subject.training_run, None if attempt is None else attempt["protocol_digest"]
    )
    subjects = tuple(_subjects(asked, subject.artifact, subject.training_run))
    gate = asked.gate
    facts: JsonObject = {
        "schema": SCHEMA,
        "namespace": asked.namespace,
        "model": asked.model,
        "to": asked.target,
        "version": asked.version,
        "artifact": subject.artifact,
        "policy": {
            "name": gate.name,
            "version": gate.version,
            "digest": gate.digest,
            "document_digest": gate.document_digest,
            "owner": gate.owner,
            "record": gate.record,
            "revoked": "revoked" in effects(connection, asked.namespace, [gate.record]).get(gate.record, ()),
        },
        "training_run": None
        if subject.training_run is None
        else subject.training_run | {"owners": list(subject.trainers)},
        "incumbent": subject.incumbent,
        "attempt": attempt,
        "attempts": gather_attempts(connection, asked),
        "evaluations": gather_evaluations(connection, asked),
        "statistics": statistics,
        "dataset": subject.dataset,
        "family": family,
        "repeats": repeats,
        "evidence": gather_evidence(connection, asked.namespace, subjects),
        "approvers": _approvers(connection, asked),
        "reviews": gather_reviews(connection, asked),
        "waivers": gather_waivers(connection, asked),
        "flags": sorted(set(asked.flags)),
    }
    facts["contested"] = _contested(connection, facts)
    return Gathered(without_ended_keys(connection, facts), head, subject.trainers, subjects, subject.made_of)


def _contested(connection: Connection, facts: JsonObject) -> list[str]:
    """Records that somebody contested, beside those of data, which say so themselves."""
    run = facts["training_run"]
    registered = [facts["policy"]["record"], *facts["artifact"]["records"], *([run["record"]] if run else [])]
    said = effects(connection, facts["namespace"], [*registered, *evidence_of(facts)])
    return sorted(record for record, found in said.items() if "contested" in found)


def _subjects(asked: Asked, artifact: JsonObject, run: JsonObject | None) -> Iterable[str]:
    """What evidence may be about: the artifact, its checkpoint, what it was trained and is evaluated on."""
    named = [artifact["digest"], artifact["checkpoint"], asked.protocol.dataset]
    named += [] if run is None else [each["digest"] for each in run["snapshots"]]
    return dict.fromkeys(each for each in named if each is not None)


def _approvers(connection: Connection, asked: Asked) -> JsonObject:
    """How many persons could approve, by group and, under "", in all."""
    found = approvers(connection, asked.namespace, asked.now)
    groups = sorted({group for each in found for group in each.groups})
    return {"": len(found)} | {group: sum(group in each.groups for each in found) for group in groups}
