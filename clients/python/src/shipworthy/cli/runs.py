"""`shipworthy runs`: which runs there are."""

import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.words import moment, span
from shipworthy.errors import UsageError
from shipworthy.formats.times import parse_instant
from shipworthy.query.results import RunSummary

STATE_STYLES: Final = {
    "completed": "good",
    "running": "part",
    "evaluating": "part",
    "checkpointing": "part",
    "resumed": "part",
    "queued": "dim",
    "preempted": "weak",
    "lost": "weak",
    "unknown": "weak",
    "failed": "bad",
    "aborted": "bad",
}
_AGO: Final = re.compile(r"(?P<count>\d{1,6})(?P<unit>min|h|d|w)")
_SECONDS: Final = {"min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_ROOMY: Final = 100


def runs(
    job: Annotated[str | None, typer.Option(help="NAMESPACE/NAME, or a name in any namespace.")] = None,
    state: Annotated[str | None, typer.Option(help="State at the moment, such as running or lost.")] = None,
    team: Annotated[str | None, typer.Option(help="Team that a run was registered for.")] = None,
    family: Annotated[str | None, typer.Option(help="Family digest: runs that differ by seed.")] = None,
    recipe: Annotated[str | None, typer.Option(help="Recipe digest: exact repeats.")] = None,
    since: Annotated[str | None, typer.Option(help="Started since: 12h, 7d, or a time with a zone.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 20,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """List runs, the last registered first."""
    namespace, _, name = (job or "").rpartition("/")
    with ask(url) as client:
        found = client.runs(
            job_namespace=namespace or None,
            job=name or None,
            team=team,
            state=state,
            family_digest=family,
            recipe_digest=recipe,
            started_after=None if since is None else moment_of(since, datetime.now(UTC)),
            page=min(limit + 1, 500),
        )
        listed = list(islice(found, limit + 1))
    if as_json:
        print_json([dict(run.document) for run in listed[:limit]])
        return
    if not listed:
        messages().print(
            "No run matches." if _is_filtered(job, state, team, family, recipe, since) else NO_RUNS
        )
        return
    console = output()
    console.print(table_of(listed[:limit], datetime.now(UTC), console.width >= _ROOMY))
    if len(listed) > limit:
        messages().print(f"There are more than {limit}; see them with --limit.", style="dim")


NO_RUNS: Final = "No run was recorded yet; try: shipworthy exec -- python train.py"


def moment_of(text: str, now: datetime) -> datetime:
    """Raises UsageError for what is neither a span such as 7d nor a time."""
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now - timedelta(seconds=int(ago["count"]) * _SECONDS[ago["unit"]])
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UsageError(f"--since {text!r}: write 30min, 12h, 7d, 4w, or 2026-05-01T12:00:00Z") from error


def table_of(listed: list[RunSummary], now: datetime, is_roomy: bool) -> Table:
    """One line a run. Run ids are never cut: those made in one minute share their first eight digits."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("RUN", no_wrap=True)
    table.add_column("JOB", overflow="fold")
    table.add_column("STATE", no_wrap=True)
    table.add_column("STARTED (UTC)" if is_roomy else "AGE", no_wrap=True)
    if is_roomy:
        table.add_column("TOOK", no_wrap=True, justify="right")
    for run in listed:
        started = moment(run.started_at) if is_roomy else age(run.started_at, now)
        cells = [Text(run.run_id), Text(run.job), state_text(run), Text(started)]
        if is_roomy:
            cells.append(Text(took(run)))
        table.add_row(*cells)
    return table


def state_text(run: RunSummary) -> Text:
    text = Text(run.state, STATE_STYLES.get(run.state, ""))
    if run.state == "lost" and run.lost_at_step is not None:
        text.append(f" at step {run.lost_at_step:,}", "dim")
    for mark in run.document.get("marks", ()):
        text.append(f" {mark['effect']}", "bad")
        break
    return text


def age(when: datetime | None, now: datetime) -> str:
    """The largest unit alone, which fits a narrow screen."""
    return "–" if when is None else " ".join(span((now - when).total_seconds()).split()[:2])


def took(run: RunSummary) -> str:
    if run.started_at is None or run.ended_at is None:
        return "–"
    return span((run.ended_at - run.started_at).total_seconds())


def _is_filtered(*filters: str | None) -> bool:
    return any(each is not None for each in filters)
