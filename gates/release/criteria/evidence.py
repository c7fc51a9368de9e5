"""evidence: a report that somebody attested about the artifact, its checkpoint or the data."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from gates.release.combining import combined, error_part, worst_first
from gates.release.context import Context
from gates.release.criteria.base import Criterion, OwnProblem
from gates.release.facts import Evidence
from gates.release.numbers import Unusable
from gates.release.reports import ReportRule, good_report
from gates.release.results import Finding, PartResult
from gates.release.texts import counted, day, short
from gates.release.values import Duration, Identifier, Level

Subject: TypeAlias = Literal["artifact", "checkpoint", "training-data", "evaluation-data"]

DATA_CONTRACT: Final = "data-contract"
CHECKPOINT_RESTORE: Final = "checkpoint-restore"


class EvidenceCriterion(Criterion):
    """`evidence` is the kind of the report. What it must be about follows from the kind: the training data for
    data-contract, the artifact or its checkpoint for checkpoint-restore, else the artifact; `about` says otherwise."""

    kind: Literal["evidence"]
    evidence: Identifier
    about: Subject | None = None
    max_age: Duration | None = None
    minimum_checks: Annotated[int, Field(ge=1)] | None = None
    minimum_rows: Annotated[int, Field(ge=1)] | None = None
    level: Level = "trusted_runner"

    def own_problems(self) -> list[OwnProblem]:
        if self.evidence == DATA_CONTRACT and self.minimum_checks is None:
            message = "a contract without checks passes any data; write minimumChecks: 1 or more"
            return [("evidence", message)]
        return []

    def judge(self, context: Context) -> Finding:
        rule = ReportRule(self.evidence, self.level, self.max_age, self.minimum_checks, self.minimum_rows)
        parts: list[PartResult] = []
        inputs: list[tuple[str, str]] = []
        ends = []
        code = None
        for name, subjects in self._subjects(context):
            try:
                report, end = _any_good(rule, subjects, context)
            except Unusable as error:
                code = code or error.code
                inputs.extend(error.inputs)
                parts.append(report_part(name, error))
                continue
            inputs.append(("evidence", report.record))
            if end is not None:
                ends.append(end)
            until = "" if end is None else f", and counts until {day(end)}"
            sentence = f"The {self.evidence} report of {day(report.produced_at)} passed{until}."
            parts.append(PartResult(name, "passed", sentence))
        ordered = worst_first(self, parts)
        outcome, state = combined(self, ordered)
        more = f" ({counted(len(parts), 'subject')})" if len(parts) > 1 else ""
        return Finding(
            outcome=outcome,
            state=state,
            sentence=f"{ordered[0].sentence}{more}",
            code=None if code == "failed" else code,
            inputs=tuple(inputs),
            parts=tuple(ordered) if len(ordered) > 1 else (),
            good_until=tuple(ends),
        )

    def _subjects(self, context: Context) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each thing that needs a report, with the digests that a report about it may name."""
        artifact = context.facts.artifact
        about = self.about or _usual_subject(self.evidence)
        if about == "training-data":
            for digest in dict.fromkeys(snapshot.digest for snapshot in context.training_snapshots()):
                yield f"training data {short(digest)}", (digest,)
        elif about == "evaluation-data":
            yield "evaluation data", (context.require_protocol().dataset.snapshot,)
        elif about == "checkpoint":
            if artifact.checkpoint is None:
                raise Unusable("no_checkpoint", "No checkpoint is known that the artifact was made from.")
            yield "checkpoint", (artifact.checkpoint,)
        elif self.about is None and self.evidence == CHECKPOINT_RESTORE and artifact.checkpoint is not None:
            yield "artifact", (artifact.digest, artifact.checkpoint)
        else:
            yield "artifact", (artifact.digest,)


def report_part(name: str, error: Unusable) -> PartResult:
    """A report that says no is a failure; any other reason not to count is no value."""
    if error.code == "failed":
        return PartResult(name, "failed", str(error))
    return error_part(name, error)


def _usual_subject(kind: str) -> Subject:
    return "training-data" if kind == DATA_CONTRACT else "artifact"


def _any_good(
    rule: ReportRule, subjects: tuple[str, ...], context: Context
) -> tuple[Evidence, datetime | None]:
    """The first subject with a good report; a failed report about any of them counts."""
    errors: list[Unusable] = []
    good = None
    for subject in subjects:
        try:
            found = good_report(rule, subject, context)
            good = good or found
        except Unusable as error:
            errors.append(error)
    said_no = next((error for error in errors if error.code in ("failed", "evidence_error")), None)
    if said_no is not None or good is None:
        raise said_no or errors[0]
    return good
