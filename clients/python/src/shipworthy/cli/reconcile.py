"""`shipworthy reconcile`: what a model registry holds against what was decided, as a worker last compared it."""

from typing import Annotated, Final

import typer
from rich.text import Text

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.exits import Exit
from shipworthy.cli.registry import Registry, registry_name
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.words import count, short_digest, span
from shipworthy.query.errors import NotFound
from shipworthy.query.promotions import Finding, Reconciliation

MAX_AGE_SECONDS: Final = 900.0
_WORDS: Final = {
    "artifact_changed": "artifact changed",
    "moved_without_grant": "moved without a grant",
    "undecided": "nobody decided",
    "record_without_move": "recorded, not moved",
    "would_fail": "would not pass today",
    "unreadable": "can't be read",
    "unconfirmed_grant": "never confirmed",
}


def reconcile(
    registry: Registry = None,
    max_age: Annotated[
        float, typer.Option(min=0, help="Seconds after which a comparison no longer counts.")
    ] = MAX_AGE_SECONDS,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Show where a registry and what was decided differ, worst first.

    Exit codes: 0 they agree, 1 they differ, 4 nobody compared them, not lately or not all of it.
    """
    name = registry_name(registry)
    with ask(url) as client:
        try:
            found = client.reconciliation(name)
        except NotFound as error:
            messages().print(error.detail, style="bad")
            raise typer.Exit(Exit.NOT_JUDGED) from error
    if as_json:
        print_json(dict(found.document))
    else:
        _show(found)
    is_old = found.age_seconds > max_age
    if is_old:
        messages().print(
            f"that is {span(found.age_seconds)} old: is the worker with SHIPWORTHY_MLFLOW_URI up, and does MLflow "
            "answer it?",
            style="bad",
        )
    if not found.complete:
        messages().print("not every name could be looked at", style="weak")
    if found.findings:
        raise typer.Exit(Exit.NEGATIVE)
    if is_old or not found.complete:
        raise typer.Exit(Exit.NOT_JUDGED)


def _show(found: Reconciliation) -> None:
    console = output()
    looked = f"{count(found.observed, 'protected name')} looked at {span(found.age_seconds)} ago"
    if not found.findings:
        console.print(
            Text("✓ ", "good").append(found.registry, "name").append(f": {looked}; nothing differs")
        )
        return
    differing = count(len(found.findings), "finding")
    console.print(Text("✗ ", "bad").append(found.registry, "name").append(f": {differing}, {looked}"))
    for each in found.findings:
        console.print(_line(each))
        console.print(Text(f"    {each.sentence}"))
        if each.who:
            console.print(Text(f"    to be mended by: {', '.join(each.who)}", "dim"))


def _line(finding: Finding) -> Text:
    version = "" if finding.version is None else f":{finding.version}"
    line = Text("  ").append(_WORDS.get(finding.kind, finding.kind), "bad")
    line.append(f"  {finding.model}{version} → {finding.target}", "name")
    return line if finding.artifact is None else line.append(f"  {short_digest(finding.artifact)}", "dim")
