"""provenance: where the artifact comes from: image, code and training data."""

from typing import Annotated, Literal

from pydantic import Field

from gates.release.combining import combined, worst_first
from gates.release.context import NOT_LEARNT_FROM, Context
from gates.release.criteria.base import Criterion, OwnProblem
from gates.release.facts import Snapshot, TrainingRun
from gates.release.results import Finding, PartResult
from gates.release.texts import joined, short
from gates.release.values import GRADES, Digest, Grade, Items


class Provenance(Criterion):
    """Asks at the least for a training run with an owning person, and for data that nobody revoked, a base model
    among it."""

    kind: Literal["provenance"]
    image_digest_in: Annotated[Items[Digest], Field(min_length=1)] | None = None
    git_clean: Literal[True] | None = None
    snapshot_grade: Grade | None = None
    """The least grade of each snapshot of the training data."""

    def own_problems(self) -> list[OwnProblem]:
        if self.snapshot_grade == "none":
            return [
                (
                    "snapshotGrade",
                    "none asks for nothing; write content, manifest, store, sampled or declared",
                )
            ]
        return []

    def judge(self, context: Context) -> Finding:
        run = context.training_run()
        snapshots = context.training_snapshots()
        parts = [_owner(run), *(_snapshot(each, self.snapshot_grade) for each in snapshots)]
        others = [
            each for each in run.snapshots if each not in snapshots and each.role not in NOT_LEARNT_FROM
        ]
        parts.extend(_snapshot(each, None) for each in others)
        if self.image_digest_in is not None:
            parts.append(_image(run, self.image_digest_in))
        if self.git_clean is not None:
            parts.append(_git(run))
        ordered = worst_first(self, parts)
        outcome, state = combined(self, ordered)
        ended = [part.sentence for part in ordered if part.outcome != "passed"]
        names = joined(list(dict.fromkeys(part.name.partition(" ")[0] for part in parts)))
        return Finding(
            outcome=outcome,
            state=state,
            sentence=" ".join(ended)
            or f"The run that made the artifact keeps what was asked of its {names}.",
            code="incomplete" if outcome == "error" else None,
            inputs=(
                ("training_run", run.record),
                *(("snapshot", each.record) for each in (*snapshots, *others)),
            ),
            parts=tuple(ordered),
        )


def _owner(run: TrainingRun) -> PartResult:
    if run.owner is None:
        return PartResult("owner", "error", "The training run names no owning person.")
    return PartResult("owner", "passed", "The training run has an owning person.")


def _snapshot(snapshot: Snapshot, least: Grade | None) -> PartResult:
    name = f"data {short(snapshot.digest)}"
    if snapshot.revoked:
        return PartResult(name, "failed", f"The training data {short(snapshot.digest)} was revoked.")
    if least is not None and GRADES.index(snapshot.grade) > GRADES.index(least):
        sentence = (
            f"The training data {short(snapshot.digest)} has the grade {snapshot.grade}, less than {least}."
        )
        return PartResult(name, "failed", sentence, bound=f"grade {least} or better")
    return PartResult(name, "passed", f"The training data has the grade {snapshot.grade}.")


def _image(run: TrainingRun, allowed: tuple[str, ...]) -> PartResult:
    if run.image is None:
        return PartResult("image", "error", "The image that the run trained in is not known by its digest.")
    if run.image not in allowed:
        return PartResult(
            "image", "failed", f"The image {short(run.image)} is not on the list of the policy."
        )
    return PartResult("image", "passed", "The image is on the list of the policy.")


def _git(run: TrainingRun) -> PartResult:
    if run.git is None or run.git.commit is None or run.git.dirty is None:
        return PartResult("code", "error", "It is not known whether the code was committed as it ran.")
    if run.git.dirty:
        return PartResult("code", "failed", "The code had changes that were not committed.")
    return PartResult("code", "passed", f"The code is commit {run.git.commit[:12]} without changes.")
