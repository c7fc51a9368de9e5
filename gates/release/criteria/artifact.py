"""artifact: what will be shipped, as a file: its size, format, checksum, and a load test of serving it."""

from typing import Annotated, Literal

from pydantic import Field

from gates.release.combining import combined, error_part, worst_first
from gates.release.context import Context, require_level
from gates.release.criteria.base import Criterion, OwnProblem
from gates.release.criteria.evidence import report_part
from gates.release.numbers import Unusable, admit_count
from gates.release.reports import ReportRule, good_report
from gates.release.results import Finding, PartResult
from gates.release.texts import day, joined
from gates.release.values import Duration, Identifier, Items, Level

SERVING_LOAD_TEST = "serving-load-test"


class ArtifactCriterion(Criterion):
    """`maxBytes` in bytes. `maxAge` bounds the load test. `level` is the least for checksum and load test."""

    kind: Literal["artifact"]
    max_bytes: Annotated[int, Field(ge=1)] | None = None
    serialization: Annotated[Items[Identifier], Field(min_length=1)] | None = None
    checksum: Literal["required"] | None = None
    serving_load_test: Literal["required"] | None = None
    max_age: Duration | None = None
    level: Level = "trusted_runner"

    def own_problems(self) -> list[OwnProblem]:
        if not any((self.max_bytes, self.serialization, self.checksum, self.serving_load_test)):
            return [("kind", "asks for nothing; write maxBytes, serialization, checksum or servingLoadTest")]
        return []

    def judge(self, context: Context) -> Finding:
        artifact = context.facts.artifact
        inputs = [("artifact", record) for record in artifact.records]
        ends = []
        parts: list[PartResult] = []
        if self.max_bytes is not None:
            parts.append(self._size(context, self.max_bytes))
        if self.serialization is not None:
            parts.append(self._serialization(context, self.serialization))
        if self.checksum is not None:
            parts.append(self._checksum(context))
            if artifact.checksum is not None:
                inputs.append(("checksum", artifact.checksum.record))
                ends.extend(
                    [artifact.checksum.expires_at] if artifact.checksum.expires_at is not None else []
                )
        if self.serving_load_test is not None:
            rule = ReportRule(SERVING_LOAD_TEST, self.level, self.max_age)
            try:
                report, end = good_report(rule, artifact.digest, context)
            except Unusable as error:
                inputs.extend(error.inputs)
                parts.append(report_part("serving load test", error))
            else:
                inputs.append(("evidence", report.record))
                ends.extend([end] if end is not None else [])
                sentence = f"The load test of {day(report.produced_at)} passed."
                parts.append(PartResult("serving load test", "passed", sentence))
        ordered = worst_first(self, parts)
        outcome, state = combined(self, ordered)
        return Finding(
            outcome=outcome,
            state=state,
            sentence=_sentence(ordered),
            code="incomplete" if outcome == "error" else None,
            inputs=tuple(inputs),
            parts=tuple(ordered),
            good_until=tuple(ends),
        )

    def _size(self, context: Context, limit: int) -> PartResult:
        try:
            size = admit_count(context.facts.artifact.size_bytes, "The size of the artifact", 1)
        except Unusable as error:
            return error_part("size", error)
        outcome: Literal["passed", "failed"] = "passed" if size <= limit else "failed"
        sentence = f"The artifact has {size:,} bytes; the limit is {limit:,}."
        return PartResult("size", outcome, sentence, observed=float(size), bound=f"≤ {limit:,} bytes")

    def _serialization(self, context: Context, allowed: tuple[str, ...]) -> PartResult:
        found = context.facts.artifact.serialization
        if found is None:
            return PartResult("serialization", "error", "The serialization of the artifact is not recorded.")
        wanted = joined(allowed, "or")
        sentence = f"The artifact is serialized as {found[:64]}; the policy takes {wanted}."
        return PartResult("serialization", "passed" if found in allowed else "failed", sentence, bound=wanted)

    def _checksum(self, context: Context) -> PartResult:
        checksum = context.facts.artifact.checksum
        try:
            if checksum is None:
                raise Unusable("no_checksum", "Nobody has read the artifact back and compared its checksum.")
            if checksum.at > context.now:
                raise Unusable("future", "The checksum was compared at a time that is yet to come.")
            if checksum.outcome == "failed":
                raise Unusable("failed", "The bytes of the artifact are not what its digest says.")
            if checksum.expires_at is not None and checksum.expires_at <= context.now:
                raise Unusable("expired", f"The checksum counted until {day(checksum.expires_at)}.")
            require_level(checksum.level, self.level, "The checksum")
        except Unusable as error:
            return report_part("checksum", error)
        return PartResult("checksum", "passed", f"The checksum was compared at {day(checksum.at)}.")


def _sentence(parts: list[PartResult]) -> str:
    ended = [part.sentence for part in parts if part.outcome != "passed"]
    if ended:
        return " ".join(ended)
    return f"The artifact keeps what was asked of its {joined([part.name for part in parts])}."
