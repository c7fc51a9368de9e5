"""The commands of `shipworthy`, put together: of a call only the command that it names is imported, because all of them
take four times as long as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Final

import typer

from shipworthy.cli.wrong_values import Commands

_TOLD: Final = "Record training runs, ask what models are made of, and whether they may ship."


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where a command or a group of commands is, and what the list of `--help` says beside its name."""

    place: str
    says: str


_ENTRIES: Final = {
    "exec": _Entry("passed_on:exec_command", "Run a program as a recorded run: shipworthy exec -- CMD."),
    "runs": _Entry("runs:runs", "List runs, the last registered first."),
    "lineage": _Entry("lineage:lineage", "Show what a model version is made of."),
    "check": _Entry("check:check", "Tell whether a model version may ship now."),
    "snapshot": _Entry("snapshot:snapshot", "Hash data and record it as a snapshot."),
    "sync": _Entry("passed_on:sync_command", "Send what journals in a folder still keep."),
    "verify": _Entry("passed_on:verify_command", "Prove offline that files may ship."),
    "doctor": _Entry("doctor:doctor", "Say what keeps runs from being recorded."),
    "waive": _Entry("review:waive", "Let an artifact pass without one criterion for a while."),
    "promote": _Entry("promote:promote", "Give a model version an alias or stage in MLflow."),
    "rollback": _Entry("promote:rollback", "Go back to the version before."),
    "demote": _Entry("promote:demote", "Take an alias or stage away."),
    "reconcile": _Entry("reconcile:reconcile", "Show where registry and decisions differ."),
    "trust": _Entry("decision:trust", "Fetch the service's keys once, to verify with them."),
    "import": _Entry("imports:imports", "Record runs that other tools logged."),
    "contract": _Entry("contract:contracts", "Look data contracts over, publish them, check data."),
    "baseline": _Entry("baseline:baselines", "Measure data that is known to be good."),
    "gate": _Entry("gate:gates", "Release gates: what has to hold before a model may ship."),
    "decision": _Entry("decision:decisions", "Decisions of gates, and what proves them."),
    "slo": _Entry("slo:slos", "SLOs: what is promised by when, and what came of it."),
    "checkpoint": _Entry(
        "checkpoint:checkpoints", "Saved training states, and whether they can be restored."
    ),
    "review": _Entry("review:reviews", "Approve or deny what a gate left to people."),
}
_PASSED_ON: Final = frozenset({"exec", "sync", "verify"})
"""Their arguments are read by themselves, since they work without typer too."""


def commands(arguments: Sequence[str]) -> typer.Typer:
    """What answers these arguments: the named command, and for a list of all their names alone."""
    app = typer.Typer(
        name="shipworthy",
        cls=Commands,
        help=_TOLD,
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
    app.callback()(_all_commands)
    if arguments and arguments[0] in _ENTRIES:
        _add(app, arguments[0])
        return app
    for name, entry in _ENTRIES.items():
        if name in arguments:  # After an option of all commands.
            _add(app, name)
        else:
            app.command(name, short_help=entry.says)(_unnamed)
    return app


def _add(app: typer.Typer, name: str) -> None:
    entry = _ENTRIES[name]
    module, _, attribute = entry.place.partition(":")
    command = getattr(import_module(f"shipworthy.cli.{module}"), attribute)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, short_help=entry.says)
    elif name in _PASSED_ON:
        settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
        app.command(name, context_settings=settings, short_help=entry.says)(command)
    else:
        app.command(name, short_help=entry.says)(command)


def _all_commands(
    # main() answers it before anything heavy is imported; here it is for the list that --help prints.
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    pass


def _unnamed() -> None:
    """A command that stands in a list and is not called."""
