"""`shipworthy import mlperf`: training logs of MLPerf as recorded runs."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.exits import Exit
from shipworthy.cli.runs import STATE_STYLES
from shipworthy.cli.screen import output, print_json
from shipworthy.cli.words import count, short_digest
from shipworthy.errors import UsageError
from shipworthy.importing.mlperf import ImportedRun, NotMlperf, Stated, import_log
from shipworthy.query.client import ShipworthyClient
from shipworthy.query.results import LineAnswer


@dataclass(frozen=True, slots=True)
class Imported:
    """One file with what became of its lines; `family` is the digest that runs of one configuration share."""

    path: Path
    run: ImportedRun
    answers: tuple[LineAnswer, ...]
    family: str | None

    @property
    def refused(self) -> tuple[LineAnswer, ...]:
        return tuple(answer for answer in self.answers if answer.is_refused)

    @property
    def new(self) -> int:
        return sum(answer.status == 201 for answer in self.answers)


def import_mlperf(
    files: Annotated[list[Path], typer.Argument(help="Logs with :::MLLOG lines.", show_default=False)],
    system: Annotated[
        Path | None, typer.Option(help="Description of the machines, a JSON file of MLPerf's.")
    ] = None,
    repository: Annotated[str | None, typer.Option(help="Where the code was published.")] = None,
    commit: Annotated[str | None, typer.Option(help="Its revision: logs don't name one.")] = None,
    code_path: Annotated[str | None, typer.Option(help="Folder of the code in the repository.")] = None,
    release: Annotated[str | None, typer.Option(help="Round that fixes the data, such as v4.0.")] = None,
    keep_log: Annotated[bool, typer.Option(help="Keep the log itself as a blob of the run.")] = True,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Record runs out of MLPerf training logs. Doing it again records nothing twice."""
    if repository is not None and commit is None:
        raise UsageError("--repository needs --commit: a repository without a revision says little")
    described = None if system is None else _system(system)
    stated = Stated(repository, commit, code_path, release)
    console = output()
    done: list[Imported] = []
    with ask(url) as client:
        for path in files:
            imported = _import(client, path, described, stated, keep_log)
            done.append(imported)
            if not as_json:
                _show(console, imported)
    if as_json:
        print_json([_document(each) for each in done])
    else:
        _show_families(console, done)
    if any(each.refused for each in done):
        raise typer.Exit(Exit.NEGATIVE)


def _import(
    client: ShipworthyClient, path: Path, system: Mapping[str, Any] | None, stated: Stated, keep_log: bool
) -> Imported:
    log = path.read_bytes()
    try:
        run = import_log(log, system, stated)
    except NotMlperf as error:
        raise UsageError(f"{path}: {error}") from error
    lines = run.lines
    if keep_log:
        client.put_blob(log)
    else:
        lines = tuple(line for line in lines if run.log_digest not in json.dumps(line))
    answers = client.append(json.dumps(line) for line in lines)
    family = client.run(run.run_id).get("family_digest") if not answers[0].is_refused else None
    return Imported(path, run, answers, family)


def _system(path: Path) -> dict[str, Any]:
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is no JSON: {error}") from error
    if not isinstance(described, dict):
        raise UsageError(f"{path} is no system description; give a JSON object as MLPerf publishes them")
    return described


def _show(console: Console, imported: Imported) -> None:
    run, refused = imported.run, imported.refused
    line = Text("✗ " if refused else "✓ ", "bad" if refused else "good")
    line.append(run.run_id, "name").append(f"  {run.job}  ")
    line.append(run.state, STATE_STYLES.get(run.state, ""))
    known = len(imported.answers) - imported.new - len(refused)
    told = [count(imported.new, "new record")] if imported.new else []
    told += [f"{known} known before"] if known else []
    line.append(f"  {', '.join(told)}", "dim")
    console.print(line)
    console.print(Text(f"  {imported.path}", "dim"))
    for answer in refused:
        console.print(Text(f"  line {answer.line} was refused: {answer.detail}", "bad"))
    for remark in run.remarks:
        console.print(Text(f"  ▲ {remark}", "weak"))


def _show_families(console: Console, done: list[Imported]) -> None:
    for family, members in Counter(each.family for each in done).items():
        if family is not None and members > 1:
            text = Text(f"{members} runs are one family ", "name").append(short_digest(family))
            console.print(text.append("  (same recipe, other seeds)", "dim"))
            console.print(Text(f"  shipworthy runs --family {family}", "dim"))


def _document(imported: Imported) -> dict[str, Any]:
    return {
        "file": str(imported.path),
        "run_id": imported.run.run_id,
        "job": imported.run.job,
        "state": imported.run.state,
        "family_digest": imported.family,
        "new": imported.new,
        "records": len(imported.answers),
        "refused": [{"line": each.line, "detail": each.detail} for each in imported.refused],
        "remarks": list(imported.run.remarks),
    }
