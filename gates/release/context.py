"""What a criterion is judged in: the facts, the protocol of the policy, and now."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gates.release.facts import Attempt, Dataset, Facts, Snapshot, TrainingRun
from gates.release.numbers import Unusable, admit_count
from gates.release.protocol import Protocol
from gates.release.results import Inputs
from gates.release.spending import spent_alpha
from gates.release.statistics_facts import Statistics
from gates.release.texts import counted, day, length, short
from gates.release.values import LEVELS, Level

NOT_LEARNT_FROM: Final = frozenset({"test", "evaluation", "tokenizer"})
"""Roles of inputs that teach a model nothing about examples. Validation data is no such role: it chooses the model."""
NOT_DATA: Final = NOT_LEARNT_FROM | {"base_model"}


@dataclass(frozen=True, slots=True)
class Context:
    gate: str
    version: int
    target: str
    protocol: Protocol | None
    facts: Facts
    now: datetime

    def require_protocol(self) -> Protocol:
        """Publishing refuses a policy that measures without a protocol."""
        if self.protocol is None:
            raise Unusable("no_protocol", "The policy has no protocol to measure by.")
        return self.protocol

    def training_run(self) -> TrainingRun:
        if self.facts.training_run is None:
            raise Unusable("no_training_run", "No training run is known that made this artifact.")
        return self.facts.training_run

    def training_snapshots(self) -> tuple[Snapshot, ...]:
        """The data that the model learnt from, whatever else its run names the role of it."""
        snapshots = tuple(each for each in self.training_run().snapshots if each.role not in NOT_DATA)
        if not snapshots:
            raise Unusable("no_training_data", "The training run names no snapshot of its training data.")
        return snapshots

    def trainers(self) -> frozenset[str]:
        """Who made the artifact; empty when that is not known."""
        run = self.facts.training_run
        if run is None or run.owner is None:
            return frozenset()
        return frozenset((run.owner, *run.owners))

    def alpha(self) -> float:
        """The level of this attempt: alpha_k of the k-th on its evaluation snapshot."""
        attempt = self.attempt("self_reported")
        return spent_alpha(self.require_protocol().attempts.alpha, self._number(attempt))

    def attempt(self, level: Level) -> Attempt:
        """The closed attempt by the policy's protocol, in the budget; else Unusable says what is wrong with it."""
        protocol, attempt = self.require_protocol(), self.facts.attempt
        if attempt is None:
            raise self._no_attempt()
        if attempt.revoked:
            raise Unusable("revoked", "The attempt was revoked.")
        bound = (
            ("candidate", attempt.candidate, self.facts.artifact.digest, "artifact"),
            ("dataset", attempt.dataset, protocol.dataset.snapshot, "evaluation snapshot"),
            ("evaluator", attempt.evaluator, protocol.evaluator, "evaluator image"),
            ("config", attempt.config, protocol.config, "evaluation config"),
            ("protocol", attempt.protocol_digest, protocol.digest, "protocol"),
        )
        for name, found, wanted, word in bound:
            if found != wanted:
                sentence = f"The attempt used another {word}: {short(found)} instead of {short(wanted)}."
                raise Unusable(f"wrong_{name}", sentence)
        if attempt.state != "closed":
            ended = "is still open" if attempt.state == "open" else "was abandoned without a result"
            raise Unusable(f"attempt_{attempt.state}", f"The attempt {ended}.")
        if attempt.opened_at > self.now:
            raise Unusable(
                "future", f"The attempt was opened at {day(attempt.opened_at)}, which is yet to come."
            )
        require_level(attempt.level, level, "The attempt")
        self._require_budget(attempt, protocol)
        return attempt

    def dataset(self) -> Dataset:
        """The evaluation snapshot, as old, as large and as much the policy's as it has to be."""
        rule, dataset = self.require_protocol().dataset, self.facts.dataset
        if dataset is None:
            raise Unusable("no_dataset", f"The evaluation snapshot {short(rule.snapshot)} is not recorded.")
        if dataset.digest != rule.snapshot:
            sentence = (
                f"The evaluation snapshot is {short(dataset.digest)}; the policy asks for "
                f"{short(rule.snapshot)}."
            )
            raise Unusable("wrong_dataset", sentence)
        if dataset.dataset != rule.id and not dataset.dataset.endswith(f"/{rule.id}"):
            sentence = (
                f"The evaluation snapshot is recorded under the data set {dataset.dataset}; the policy calls it "
                f"{rule.id}, and protocol.dataset.id must be the recorded name."
            )
            raise Unusable("wrong_dataset_name", sentence)
        if dataset.revoked:
            raise Unusable("revoked", "The evaluation snapshot was revoked.")
        if dataset.received_at > self.now:
            raise Unusable("future", "The evaluation snapshot was received at a time that is yet to come.")
        if rule.max_age is not None and self.now - dataset.received_at >= rule.max_age:
            sentence = f"The evaluation snapshot is older than {length(rule.max_age)}."
            raise Unusable("stale", sentence)
        return dataset

    def dataset_ends(self) -> tuple[datetime, ...]:
        """When the evaluation snapshot becomes too old, if it does."""
        if self.protocol is None or self.facts.dataset is None or self.protocol.dataset.max_age is None:
            return ()
        return (self.facts.dataset.received_at + self.protocol.dataset.max_age,)

    def statistics(self, level: Level) -> Statistics:
        """What the worker computed of the attempt, when all of it is as the policy asks."""
        attempt, dataset = self.attempt(level), self.dataset()
        statistics = self.facts.statistics
        if statistics is None:
            raise Unusable("no_statistics", "No worker has computed the statistics of the attempt yet.")
        bound = (
            (statistics.attempt, attempt.id),
            (statistics.candidate, attempt.candidate),
            (statistics.dataset, dataset.digest),
            (statistics.protocol_digest, attempt.protocol_digest),
        )
        if any(found != wanted for found, wanted in bound):
            raise Unusable("wrong_statistics", "The statistics belong to another attempt.")
        if statistics.revoked:
            raise Unusable("revoked", "The statistics were revoked.")
        if statistics.received_at > self.now:
            raise Unusable("future", "The statistics were received at a time that is yet to come.")
        if statistics.received_at < attempt.opened_at:
            raise Unusable(
                "known_before", "The statistics are older than the attempt that was to announce them."
            )
        require_level(statistics.level, level, "The statistics")
        if statistics.outcome != "ok":
            raise Unusable(
                "statistics_error", f"The worker could not compute: {statistics.reason or 'no reason given'}."
            )
        rows = admit_count(statistics.rows, "The number of evaluated rows")
        least = self.require_protocol().dataset.minimum_rows
        if rows < least:
            were = "was" if rows == 1 else "were"
            sentence = f"Only {counted(rows, 'row')} {were} evaluated; the policy asks for {least:,}."
            raise Unusable("too_few_rows", sentence)
        if dataset.row_count is not None:
            whole = admit_count(dataset.row_count, "The number of rows of the evaluation snapshot")
            if rows != whole:
                sentence = (
                    f"{rows:,} rows were evaluated, the evaluation snapshot has {whole:,}; whoever picks the rows "
                    "picks the result."
                )
                raise Unusable("other_rows", sentence)
        self._require_disjoint(statistics)
        return statistics

    def seed(self, statistics: Statistics) -> int | None:
        """What the worker seeded its resampling with; told, never judged."""
        seed = statistics.seed
        return seed if type(seed) is int and abs(seed) < 2**53 else None

    def statistics_inputs(self, statistics: Statistics) -> Inputs:
        return (
            ("statistics", statistics.record),
            ("attempt", statistics.attempt),
            *(("evaluation", record) for record in statistics.evaluations),
            *(("dataset", each.record) for each in (self.facts.dataset,) if each is not None),
        )

    def _no_attempt(self) -> Unusable:
        if self.facts.evaluations:
            sentence = "There are results of this artifact, but none was announced by an attempt before it was known."
            return Unusable("unregistered", sentence)
        return Unusable("no_attempt", "This artifact was not evaluated by the policy's protocol.")

    def _number(self, attempt: Attempt) -> int:
        number = admit_count(attempt.number, "The number of the attempt", 1)
        if number > admit_count(self.facts.attempts.count, "The count of attempts", 1):
            raise Unusable("wrong_count", "The number of the attempt is beyond the count of all attempts.")
        return number

    def _require_budget(self, attempt: Attempt, protocol: Protocol) -> None:
        number = self._number(attempt)
        extra = 0
        for extension in self.facts.attempts.extensions:
            if len(set(extension.owners)) >= 2 and extension.records:
                extra += admit_count(extension.extra, "The extension of the attempts", 1)
        budget = protocol.attempts.budget + extra
        if number > budget:
            sentence = f"This is attempt {number} on an evaluation snapshot that allows {budget}."
            raise Unusable("budget_spent", sentence, state="budget_spent")

    def _require_disjoint(self, statistics: Statistics) -> None:
        if self.require_protocol().dataset.disjoint_from_training != "required":
            return
        found = statistics.disjointness
        if found.status == "overlap":
            overlap = (
                admit_count(found.overlap, "The number of shared keys") if found.overlap is not None else None
            )
            shared = "examples" if overlap is None else counted(overlap, "example")
            raise Unusable("overlap", f"Evaluation and training data share {shared}.")
        wanted = {snapshot.digest for snapshot in self.training_snapshots()}
        if found.status != "disjoint" or found.method == "none":
            sentence = "It is unknown whether evaluation and training data share examples."
            raise Unusable("disjointness_unknown", sentence)
        if found.missing or not wanted <= set(found.training):
            sentence = "Not all training data was compared with the evaluation data."
            raise Unusable("disjointness_unknown", sentence)
        if found.method == "key-sketch" and admit_count(found.overlap, "The number of shared keys") > 0:
            raise Unusable("overlap", "Evaluation and training data share examples.")


def require_level(found: Level, least: Level, what: str) -> None:
    if LEVELS.index(found) > LEVELS.index(least):
        sentence = (
            f"{what} has the level {found.replace('_', ' ')}; the policy asks for {least.replace('_', ' ')}."
        )
        raise Unusable("level_too_low", sentence)
