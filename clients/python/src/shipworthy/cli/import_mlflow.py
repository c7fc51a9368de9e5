"""`shipworthy import mlflow`: runs, model versions and aliases of an MLflow server as records."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.exits import Exit
from shipworthy.cli.registry import Registry, TrackingUri, open_registry, registry_name
from shipworthy.cli.runs import STATE_STYLES
from shipworthy.cli.screen import messages, output
from shipworthy.cli.words import count, short_digest, size
from shipworthy.importing.mlflow.importer import Importer
from shipworthy.importing.mlflow.outcomes import Imported
from shipworthy.importing.mlflow.reading import Reading


def import_mlflow(
    tracking_uri: TrackingUri = None,
    run: Annotated[list[str] | None, typer.Option(help="MLflow's id of a run; may be repeated.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A registered model with the runs behind it; may be repeated.")
    ] = None,
    registry: Registry = None,
    history: Annotated[bool, typer.Option(help="Keep every point of every metric.")] = True,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Record what an MLflow server knows.

    All of it, or some runs and models. Doing it again records nothing twice.
    """
    console = output()
    totals: Counter[str] = Counter()
    with ask(url) as client, open_registry(tracking_uri) as server, _bar() as bar:
        reading = Reading(server)
        reading.check()
        importer = Importer(reading, client, registry_name(registry), bar, history=history)
        for imported in _chosen(importer, run or [], model or []):
            _count(totals, imported)
            bar.tell(_summary(totals))
            if as_json:
                sys.stdout.write(json.dumps(asdict(imported), ensure_ascii=False) + "\n")
            elif imported.new or imported.refused or imported.remarks:
                _show(console, imported)
    if not as_json:
        console.print(Text(_summary(totals), "name"))
    if totals["refused"]:
        raise typer.Exit(Exit.NEGATIVE)


class _Bar:
    """What is read at the moment, below how much was imported so far."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def begin(self, name: str, total: int | None) -> None:
        said = "" if total is None else size(total)
        self._progress.reset(self._task, total=total, description=f"hashing {name}", said=said)

    def advance(self, count: int) -> None:
        self._progress.advance(self._task, count)

    def tell(self, summary: str) -> None:
        self._progress.reset(self._task, total=None, description=summary, said="")


@contextmanager
def _bar() -> Iterator[_Bar]:
    """On standard error, and on a terminal only."""
    console = messages()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Bar(progress, progress.add_task("asking MLflow", total=None, said=""))


def _chosen(importer: Importer, runs: list[str], models: list[str]) -> Iterator[Imported]:
    if not runs and not models:
        return importer.everything()
    return chain(importer.runs(runs), importer.models(models))


def _count(totals: Counter[str], imported: Imported) -> None:
    totals[imported.kind] += 1
    totals[f"new {imported.kind}"] += bool(imported.new)
    totals["refused"] += bool(imported.refused)


def _summary(totals: Counter[str]) -> str:
    parts = [
        f"{count(totals[kind], kind, many)} ({totals[f'new {kind}']:,} new)"
        for kind, many in (("run", "runs"), ("version", "versions"), ("alias", "aliases"))
        if totals[kind]
    ]
    told = ", ".join(parts) or "nothing to import"
    return f"{told}; {totals['refused']:,} not recorded" if totals["refused"] else told


def _show(console: Console, imported: Imported) -> None:
    line = Text("✗ " if imported.refused else "✓ ", "bad" if imported.refused else "good")
    if imported.kind == "run":
        line.append(str(imported.run_id), "name").append(f"  {imported.name}  ")
        line.append(str(imported.state), STATE_STYLES.get(str(imported.state), ""))
    else:
        line.append(imported.name, "name")
        if imported.artifact is not None:
            line.append(f"  {short_digest(imported.artifact)}")
    told = [count(imported.new, "new record")] if imported.new else []
    told += [f"{imported.known:,} known before"] if imported.known else []
    if told:
        line.append(f"  {', '.join(told)}", "dim")
    console.print(line)
    for sentence in dict.fromkeys(imported.refused):
        console.print(Text(f"  {sentence}", "bad"))
    for remark in imported.remarks:
        console.print(Text(f"  ▲ {remark}", "weak"))
