"""An import from beginning to end: which runs and versions, what is sent in which order, what was recorded before.

Every line has one identity however often it is sent, and how a run ended is sent when all else of it is recorded. So an
import may be killed at any point and started again: what is there is found, and not read a second time.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeVar

from shipworthy.importing.mlflow.answers import MlflowRun, RegisteredVersion
from shipworthy.importing.mlflow.artifacts import HashedArtifact, Watch, hash_artifact, was_made_by
from shipworthy.importing.mlflow.metrics import chunks_of, note_of
from shipworthy.importing.mlflow.outcomes import (
    Imported,
    details,
    imported_run,
    known_version,
    unreadable_version,
)
from shipworthy.importing.mlflow.reading import PAUSES, Reading
from shipworthy.importing.mlflow.runs import RunLines, imported_id, line, lines_of
from shipworthy.importing.mlflow.versions import (
    IN_USE,
    artifact_line,
    not_importable,
    unknown_run,
    version_line,
)
from shipworthy.query.client import ShipworthyClient
from shipworthy.query.errors import Busy, NotFound, Refused, Unreachable
from shipworthy.query.results import LineAnswer, ModelVersion
from shipworthy.registries.mlflow_artifacts import Unreadable
from shipworthy.registries.mlflow_models import RegisteredModel
from shipworthy.values import Body

ENDED: Final = frozenset({"completed", "failed", "aborted"})
_KNOWN: Final = frozenset({"conflict", "idempotency_key_reused"})
_Result = TypeVar("_Result")


class Importer:
    """Sends what `reading` finds to the service of `client`. `registry` is the name by which Shipworthy knows this
    MLflow server. Raises what the two raise; after that the same import goes on where it ended."""

    def __init__(
        self,
        reading: Reading,
        client: ShipworthyClient,
        registry: str,
        watch: Watch,
        *,
        history: bool = True,
    ) -> None:
        self._reading = reading
        self._client = client
        self._registry = registry
        self._watch = watch
        self._history = history

    def everything(self) -> Iterator[Imported]:
        """All runs that are not deleted, then all models."""
        for experiment in self._reading.experiments():
            for run in self._reading.runs(experiment):
                yield self._run(run)
        for model in self._reading.models():
            yield from self._model(model)

    def runs(self, ids: Iterable[str]) -> Iterator[Imported]:
        """These, whole: also what an import without histories left out."""
        for run_id in ids:
            yield self._run(self._reading.run(run_id), whole=True)

    def models(self, names: Iterable[str]) -> Iterator[Imported]:
        """All versions of these models, and the runs that they name."""
        for name in names:
            yield from self._model(self._reading.model(name))

    def _run(self, run: MlflowRun, *, whole: bool = False) -> Imported:
        lines = lines_of(
            run, self._reading.experiment_name(run.experiment_id), self._registry, self._parent(run)
        )
        ended = self._has_ended(lines.run_id)
        answers = list(self._send(lines.first))
        # A registration that says otherwise than the first one, which stays; the facts after it are their own.
        changed = [each for each in answers if each.code == "run_conflict"]
        is_new = any(each.status == 201 for each in answers)
        remarks = [
            *(lines.remarks if is_new else ()),
            *(f"changed in MLflow since it was imported: {each.detail}" for each in changed),
        ]
        fresh = any(each.status == 201 for each in answers[1:])
        if not any(each.code == "run_not_found" for each in answers) and (whole or fresh or not ended):
            if self._history:
                answers += self._send_history(run, lines)
            answers += self._send(lines.last)
        return imported_run(run, lines, [each for each in answers if each not in changed], remarks)

    def _send_history(self, run: MlflowRun, lines: RunLines) -> Iterator[LineAnswer]:
        points = chain.from_iterable(self._reading.history(run.id, each.key) for each in run.metrics)
        for chunk in chunks_of(points):
            note = note_of(chunk, lines.run_id, self._keep(chunk.data))
            yield from self._send([line("run.event", note, f"{lines.run_id}:{chunk.key}")])

    def _parent(self, run: MlflowRun) -> str | None:
        parent_id = run.tags.get("mlflow.parentRunId")
        parent = self._reading.find_run(parent_id) if parent_id else None
        return None if parent is None else imported_id(self._registry, parent.id, parent.started)

    def _has_ended(self, run_id: str) -> bool:
        try:
            return self._patiently(lambda: self._client.run(run_id)).get("reported_state") in ENDED
        except NotFound:
            return False

    def _model(self, model: RegisteredModel) -> Iterator[Imported]:
        targets = [(alias, version) for alias, version in model.aliases]
        held: dict[str, str | None] = {}
        pointed = {version for _, version in targets}
        for version in self._reading.versions(model.name):
            number = version.binding.version
            if version.binding.stage in IN_USE:
                targets.append((version.binding.stage, number))
                pointed.add(number)
            for imported in self._version(version, is_held=number in pointed):
                if imported.kind == "version" and number in pointed:
                    held[number] = imported.artifact
                yield imported
        for target, number in sorted(set(targets)):
            yield self._alias(model.name, target, number, held.get(number))

    def _version(self, version: RegisteredVersion, *, is_held: bool) -> Iterator[Imported]:
        """The run that made it first. What no target holds is not hashed again when it was recorded before."""
        bound = version.binding
        name = f"{bound.model}:{bound.version}"
        if (problem := not_importable(version)) is not None:
            yield Imported("version", name, name, refused=(f"not recorded, because {problem}",))
            return
        recorded = self._recorded(version)
        if recorded is not None and not is_held:
            yield Imported("version", name, name, recorded.run_id, artifact=recorded.artifact, known=1)
            return
        try:
            artifact = hash_artifact(self._reading, bound, self._watch)
        except Unreadable as error:
            yield unreadable_version(name, recorded, error.sentence)
            return
        if recorded is not None:
            yield known_version(name, recorded, artifact)
        else:
            yield from self._new_version(version, name, artifact)

    def _new_version(
        self, version: RegisteredVersion, name: str, artifact: HashedArtifact
    ) -> Iterator[Imported]:
        bound = version.binding
        run = None if bound.run_id is None else self._reading.find_run(bound.run_id)
        remarks: list[str] = []
        lines: list[Body] = []
        if run is None:
            run_id, registration = unknown_run(version, self._registry)
            lines.append(registration)
            remarks.append(
                "MLflow names no run that made it" if bound.run_id is None else "its run does not exist"
            )
        else:
            imported = self._run(run)
            run_id = str(imported.run_id)
            if imported.new or imported.refused:
                yield imported
            if was_made_by(self._reading, bound, artifact, run):
                lines.append(artifact_line(run_id, artifact))
            else:
                remarks.append(
                    "its artifact lies outside what its run wrote: it is not recorded as that run's"
                )
        lines.append(version_line(version, self._registry, run_id, artifact, remarks))
        answers = self._send(lines)
        # One artifact may stand behind several versions, from several addresses: it is the run's once.
        told = [each for each in answers if not (each.code in _KNOWN and each.line < len(lines))]
        yield Imported(
            "version",
            name,
            name,
            run_id,
            artifact=artifact.digest,
            new=sum(each.status == 201 for each in answers),
            known=sum(each.status == 200 for each in answers),
            refused=details(told),
            remarks=tuple(remarks),
        )

    def _recorded(self, version: RegisteredVersion) -> ModelVersion | None:
        bound = version.binding
        try:
            return self._patiently(lambda: self._client.version(bound.model, bound.version, self._registry))
        except NotFound:
            return None

    def _alias(self, model: str, target: str, version: str, artifact: str | None) -> Imported:
        name = f"{model}@{target}"
        try:
            answer = self._patiently(
                lambda: self._client.observe_promotion(
                    registry=self._registry, model=model, target=target, version=version, artifact=artifact
                )
            )
        except Refused as error:
            return Imported("alias", name, f"{name} → {version}", refused=(error.detail,))
        is_new = answer.get("created", True)
        return Imported(
            "alias", name, f"{name} → {version}", artifact=artifact, new=int(is_new), known=int(not is_new)
        )

    def _send(self, lines: Sequence[Body]) -> tuple[LineAnswer, ...]:
        if not lines:
            return ()
        return self._patiently(lambda: self._client.append(json.dumps(each) for each in lines))

    def _keep(self, data: bytes) -> str:
        return self._patiently(lambda: self._client.put_blob(data))

    def _patiently(self, call: Callable[[], _Result]) -> _Result:
        """What `call` returns, made again while the service is busy or away: everything here may be sent twice."""
        for pause in PAUSES:
            try:
                return call()
            except (Busy, Unreachable) as error:
                self._reading.pause(getattr(error, "retry_after", None) or pause)
        return call()
