"""`shipworthy`: where the command line begins. `exec`, `sync` and `--version` need the core alone, `verify` the extra
`verify`, the rest the extra `cli`."""

import sys
from typing import Final, NoReturn

from shipworthy.cli.exits import Exit

_NEEDED: Final = frozenset({"typer", "rich", "httpx"})
_HELP_OF_THE_CORE: Final = """\
usage: shipworthy COMMAND [OPTION …]

Record training runs, ask what models are made of, and whether they may ship.

Commands that work here; each has a --help:
  exec    Run a program as a recorded run: shipworthy exec -- CMD.
  sync    Send what journals in a folder still keep.
  verify  Prove offline that files may ship; needs: pip install 'shipworthy[verify]'

All others (runs, lineage, check, doctor …) need: pip install 'shipworthy[cli]'
"""


def app() -> NoReturn:
    """Entry point of the console script."""
    try:
        sys.exit(_run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)  # 128 + SIGINT, as shells count.
    except Exception as error:  # noqa: BLE001 - the border of the process
        from shipworthy.cli.failures import report

        sys.exit(report(error, sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    match arguments:
        case ["exec", *rest]:
            from shipworthy.cli.execute import execute

            return execute(rest)
        case ["sync", *rest]:
            from shipworthy.cli.sync import sync

            return sync(rest)
        case ["verify", *rest]:
            from shipworthy.cli.verify import verify

            return verify(rest)
        case ["--version"]:
            from shipworthy.cli.versions import client_version

            sys.stdout.write(f"shipworthy {client_version()}\n")
            return Exit.OK
        case _:
            return _full(arguments)


def _full(arguments: list[str]) -> int:
    try:
        from shipworthy.cli.commands import commands

        command = commands(arguments)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        if not arguments or arguments[0] in ("-h", "--help"):
            sys.stdout.write(_HELP_OF_THE_CORE)
            return Exit.OK
        sys.stderr.write(
            f"shipworthy: only `exec`, `sync` and `verify` work without {error.name}; "
            "install the rest with: pip install 'shipworthy[cli]'\n"
        )
        return Exit.USAGE
    command()
    return Exit.OK
