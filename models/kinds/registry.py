"""The table of record kinds: body, who may write it, what identifies it, what it is about.

Adding a kind is adding a row here and its projection in models/lineage/projections.py (or the part's own).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from models.actor import Role
from models.fields import Value
from models.keys.records import KeyCreated, KeyRetired, KeyRevoked
from models.kinds import contracts, evaluations, evidence, facts, gates, runs, statistics
from models.kinds.administration import LogRestored
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

RECORDER: Final = frozenset({Role.RECORDER})
SERVER_ONLY: Final[frozenset[Role]] = frozenset()


def _no_key(fact: object, run_id: str | None) -> str | None:
    return None


def _no_subjects(fact: object) -> list[tuple[str, str]]:
    return []


def _run_subject(fact: object, run_id: str | None) -> str:
    return f"run:{run_id}"


@dataclass(frozen=True)
class Kind:
    """One kind of record. `key` is the natural identity (None = the content itself), `subject` the thing under
    which its history is found, `subjects` the digests named in the envelope. `own_call` is the only call that makes
    such a record, where a batch of records may not hold one. `personal`: what two persons say in the same words are
    two records."""

    name: str
    body: type[Value]
    roles: frozenset[Role]
    subject: Callable[[Any, str | None], str]
    key: Callable[[Any, str | None], str | None] = _no_key
    subjects: Callable[[Any], list[tuple[str, str]]] = _no_subjects
    own_call: str | None = None
    personal: bool = False
    schema: bytes = field(init=False, repr=False)
    schema_digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        schema = self.body.model_json_schema()
        schema["title"] = self.name
        encoded = canonicalize(schema)
        object.__setattr__(self, "schema", encoded)
        object.__setattr__(self, "schema_digest", sha256_digest(encoded))

    def idempotency_key(
        self, fact: Value, run_id: str | None, content: str, owner: str | None, given: str | None
    ) -> str:
        """Under which key a record is stored once: the client's own, else what identifies the fact."""
        key = given or self.key(fact, run_id) or f"{run_id or ''}|{content}"
        # A client's key has no space: nobody can take another person's.
        person = f"{owner or ''} " if self.personal else ""
        return f"{'key' if given else self.name}|{person}{key}"


def _snapshot_subjects(snapshot: facts.Snapshot) -> list[tuple[str, str]]:
    return [("data", snapshot.digest)] if snapshot.digest else []


def _run_subjects(run: runs.RunRegistered) -> list[tuple[str, str]]:
    named = [("data", given.digest or (given.snapshot and given.snapshot.digest)) for given in run.inputs]
    if run.environment is not None and run.environment.image is not None:
        named.append(("image", run.environment.image.digest))
    named += [("checkpoint", saved.digest) for saved in run.checkpoints]
    named += [("artifact", made.digest) for made in run.artifacts]
    return [(role, digest) for role, digest in named if digest]


def model_subject(registry: str, model: str, version: str) -> str:
    """What a model version is filed under. Registry and model may hold slashes, none of the three a bar."""
    return f"model:{registry}|{model}|{version}"


def _version_subject(fact: facts.ModelVersionFact, run_id: str | None) -> str:
    return model_subject(fact.registry, fact.model, fact.version)


def _evaluation_subject(fact: evaluations.EvaluationFact, run_id: str | None) -> str:
    return f"run:{run_id}" if run_id else f"digest:{fact.subject}"


def _evaluation_key(fact: evaluations.EvaluationFact, run_id: str | None) -> str | None:
    """A repeat of an attempt has one result; what was measured without an attempt is told apart by its content."""
    if isinstance(fact, evaluations.EvaluationCompleted) and fact.attempt is not None:
        return f"{fact.attempt}|{fact.repeat}"
    return None


REVIEWS: Final = "POST /v1/reviews"


def _judged_subject(fact: gates.Judged | gates.BreakGlassAsked, run_id: str | None) -> str:
    return f"digest:{fact.artifact}"


def _judged_artifact(fact: gates.Judged | gates.BreakGlassAsked) -> list[tuple[str, str]]:
    return [("artifact", fact.artifact)]


_ALL = (
    # The content is part of the key, so that a second post that only adds is a fact of its own.
    Kind("run.registered", runs.RunRegistered, RECORDER, _run_subject, subjects=_run_subjects),
    Kind("run.event", runs.RunEvent, RECORDER, _run_subject),
    Kind(
        "snapshot",
        facts.Snapshot,
        RECORDER,
        lambda fact, _: f"dataset:{fact.dataset.namespace}/{fact.dataset.name}",
        subjects=_snapshot_subjects,
    ),
    Kind(
        "checkpoint.saved",
        facts.CheckpointSaved,
        RECORDER,
        _run_subject,
        key=lambda fact, run_id: f"{run_id}|{fact.digest}",
        subjects=lambda fact: [("checkpoint", fact.digest)],
    ),
    Kind(
        "checkpoint.verified",
        facts.CheckpointVerified,
        frozenset({Role.RECORDER, Role.WORKER}),
        lambda fact, _: f"digest:{fact.checkpoint}",
        subjects=lambda fact: [("checkpoint", fact.checkpoint)],
    ),
    Kind(
        "artifact",
        facts.Artifact,
        RECORDER,
        _run_subject,
        key=lambda fact, run_id: f"{run_id}|{fact.role}|{fact.digest}",
        subjects=lambda fact: [("artifact", fact.digest)],
    ),
    Kind(
        "evaluation.completed",
        evaluations.EvaluationCompleted,
        frozenset({Role.EVALUATOR, Role.RECORDER}),
        _evaluation_subject,
        key=_evaluation_key,
        subjects=lambda fact: [("artifact", fact.subject)] if fact.subject else [],
    ),
    Kind(
        "evaluation.attempted",
        evaluations.EvaluationAttempted,
        frozenset({Role.EVALUATOR}),
        lambda fact, _: f"digest:{fact.candidate}",
        key=lambda fact, _: fact.identity,
        subjects=lambda fact: [("artifact", fact.candidate), ("data", fact.dataset)],
        own_call="POST /v1/evaluation-attempts",
    ),
    Kind(
        "evaluation.abandoned",
        evaluations.EvaluationAbandoned,
        SERVER_ONLY,
        lambda fact, _: f"record:{fact.attempt}",
        key=lambda fact, _: fact.attempt,
    ),
    Kind(
        "attempts.extended",
        evaluations.AttemptsExtended,
        frozenset({Role.APPROVER}),
        lambda fact, _: f"digest:{fact.dataset}",
        subjects=lambda fact: [("data", fact.dataset)],
        personal=True,
    ),
    Kind(
        "statistics",
        statistics.Statistics,
        frozenset({Role.WORKER}),
        lambda fact, _: f"digest:{fact.candidate}",
        subjects=lambda fact: [("artifact", fact.candidate), ("data", fact.dataset)],
        own_call="POST /v1/work/{id}:complete",
    ),
    Kind(
        "evidence.attested",
        evidence.EvidenceAttested,
        frozenset({Role.EVALUATOR}),
        lambda fact, _: f"digest:{fact.subject}",
    ),
    Kind(
        "model_version",
        facts.ModelVersion,
        RECORDER,
        _version_subject,
        key=lambda fact, _: f"{fact.registry}|{fact.model}|{fact.version}",
        subjects=lambda fact: [("model", fact.artifact)],
    ),
    Kind(
        "revocation",
        facts.Revocation,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"record:{fact.record}",
    ),
    Kind(
        "contract.published",
        contracts.ContractPublished,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"contract:{fact.name}",
        key=lambda fact, _: f"{fact.name}|{fact.version}",
        own_call="PUT /v1/contracts/{name}",
    ),
    Kind(
        "baseline.published",
        contracts.BaselinePublished,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"digest:{fact.digest}",
        subjects=lambda fact: [("data", fact.baseline.data.manifest)],
        own_call="POST /v1/baselines",
    ),
    Kind(
        "baseline.approved",
        contracts.BaselineApproved,
        frozenset({Role.APPROVER}),
        lambda fact, _: f"digest:{fact.baseline}",
    ),
    Kind(
        "contract.checked",
        contracts.ContractChecked,
        # A worker's level is for what it was given to do: its results come with the work that it claimed.
        RECORDER,
        lambda fact, _: f"contract:{fact.contract.name}",
        subjects=lambda fact: [("data", fact.data.manifest)],
    ),
    Kind(
        "gate.published",
        gates.GatePublished,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"gate:{fact.name}",
        key=lambda fact, _: f"{fact.name}|{fact.version}",
        own_call="PUT /v1/gates/{name}",
    ),
    Kind(
        "review.requested",
        gates.Review,
        frozenset({Role.APPROVER, Role.EVALUATOR, Role.AUTHOR}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call=REVIEWS,
    ),
    Kind(
        "review.approved",
        gates.Review,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call=REVIEWS,
    ),
    Kind(
        "review.denied",
        gates.Review,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call=REVIEWS,
    ),
    Kind(
        "waiver",
        gates.Waiver,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call="POST /v1/waivers",
    ),
    Kind(
        "break_glass.asked",
        gates.BreakGlassAsked,
        frozenset({Role.APPROVER}),
        _judged_subject,
        subjects=_judged_artifact,
        own_call="POST /v1/break-glass",
    ),
    Kind(
        "decision",
        gates.DecisionMade,
        SERVER_ONLY,
        lambda fact, _: f"digest:{fact.statement.predicate.artifact.digest}",
        subjects=lambda fact: [("artifact", fact.statement.predicate.artifact.digest)],
    ),
    Kind("key.created", KeyCreated, SERVER_ONLY, lambda fact, _: f"key:{fact.key_id}"),
    Kind(
        "key.revoked",
        KeyRevoked,
        SERVER_ONLY,
        lambda fact, _: f"key:{fact.key_id}",
        key=lambda fact, _: fact.key_id,
    ),
    Kind(
        "key.retired",
        KeyRetired,
        SERVER_ONLY,
        lambda fact, _: f"key:{fact.key_id}",
        key=lambda fact, _: fact.key_id,
    ),
    Kind("log.restored", LogRestored, SERVER_ONLY, lambda fact, _: "log"),
)

KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _ALL}
SCHEMAS: Final[Mapping[str, bytes]] = {kind.schema_digest: kind.schema for kind in _ALL}
