"""The commands of `shipworthy`, put together."""

from typing import Annotated

import typer

from shipworthy.cli.baseline import baselines
from shipworthy.cli.check import check
from shipworthy.cli.checkpoint import checkpoints
from shipworthy.cli.contract import contracts
from shipworthy.cli.decision import decisions, trust
from shipworthy.cli.doctor import doctor
from shipworthy.cli.execute import execute
from shipworthy.cli.gate import gates
from shipworthy.cli.import_mlflow import import_mlflow
from shipworthy.cli.import_mlperf import import_mlperf
from shipworthy.cli.lineage import lineage
from shipworthy.cli.promote import demote, promote, rollback
from shipworthy.cli.reconcile import reconcile
from shipworthy.cli.review import reviews, waive
from shipworthy.cli.runs import runs
from shipworthy.cli.slo import slos
from shipworthy.cli.snapshot import snapshot
from shipworthy.cli.sync import sync
from shipworthy.cli.verify import verify

_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

commands = typer.Typer(
    name="shipworthy",
    help="Record training runs, ask what models are made of, and whether they may ship.",
    epilog=(
        "Exit codes: 0 done, 1 negative result, 2 usage, 3 needs review, 4 not judged, 5 service unreachable, "
        "6 key refused, 70 bug."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
imports = typer.Typer(
    help="Record runs that other tools logged.", no_args_is_help=True, rich_markup_mode=None
)


@commands.callback()
def all_commands(
    # main() answers it before anything heavy is imported; here it is for the list that --help prints.
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Record training runs, ask what models are made of, and whether they may ship."""


@commands.command("exec", context_settings=_PASSED_ON)
def exec_command(context: typer.Context) -> None:
    """Run a program as a recorded run: shipworthy exec -- CMD."""
    raise typer.Exit(execute(context.args))


commands.command()(runs)
# The list of commands has room for a few words beside each.
commands.command(short_help="Show what a model version is made of.")(lineage)
commands.command(short_help="Tell whether a model version may ship now.")(check)
commands.command(short_help="Hash data and record it as a snapshot.")(snapshot)


@commands.command("sync", context_settings=_PASSED_ON)
def sync_command(context: typer.Context) -> None:
    """Send what journals in a folder still keep: shipworthy sync DIR."""
    raise typer.Exit(sync(context.args))


@commands.command("verify", context_settings=_PASSED_ON, short_help="Prove offline that files may ship.")
def verify_command(context: typer.Context) -> None:
    """Prove offline that files were allowed to ship: shipworthy verify PATH --evidence BUNDLE --trust FILE."""
    raise typer.Exit(verify(context.args))


commands.command(short_help="Say what keeps runs from being recorded.")(doctor)
imports.command("mlperf")(import_mlperf)
imports.command("mlflow")(import_mlflow)
commands.add_typer(imports, name="import")
commands.add_typer(contracts, name="contract")
commands.add_typer(baselines, name="baseline")
commands.add_typer(gates, name="gate")
commands.add_typer(decisions, name="decision")
commands.add_typer(slos, name="slo")
commands.add_typer(checkpoints, name="checkpoint")
commands.add_typer(reviews, name="review")
commands.command()(waive)
commands.command(short_help="Give a model version an alias or stage in MLflow.")(promote)
commands.command(short_help="Go back to the version before.")(rollback)
commands.command(short_help="Take an alias or stage away.")(demote)
commands.command(short_help="Show where registry and decisions differ.")(reconcile)
commands.command()(trust)


@imports.callback()
def import_group() -> None:
    """Record runs that other tools logged."""
