"""What a command that failed says, in one sentence, and with which code it ends. Standard library only."""

import sys
import traceback
from collections.abc import Sequence

from shipworthy.cli.exits import Exit
from shipworthy.errors import JournalError, NotDelivered, ShipworthyError, Trouble, UsageError


def report(error: Exception, arguments: Sequence[str] = ()) -> Exit:
    """Says it on standard error, in the words of the command line that `arguments` called. A bug shows where it
    happened, for whoever mends it."""
    code = exit_code(error)
    if code is Exit.BUG:
        traceback.print_exception(error)
        sentence = "this is a bug in shipworthy; please report the lines above"
    else:
        sentence = " ".join(_words(error, arguments).split()) or type(error).__name__
        if code is Exit.UNREACHABLE and not _is_about_registry(error):
            sentence += "; `shipworthy doctor` says what to do"
    sys.stderr.write(f"shipworthy: {sentence}\n")
    return code


def _words(error: Exception, arguments: Sequence[str]) -> str:
    refused = sys.modules.get("shipworthy.query.errors")
    if refused is None or not isinstance(error, refused.Refused):
        return str(error)
    from shipworthy.cli.translating import translated

    return translated(error, arguments)


def exit_code(error: Exception) -> Exit:
    if isinstance(error, UsageError):
        return Exit.USAGE
    if isinstance(error, JournalError):
        return Exit.NEGATIVE
    if isinstance(error, NotDelivered):
        return Exit.AUTH if error.trouble is Trouble.KEY else Exit.UNREACHABLE
    if isinstance(error, ShipworthyError):
        return _query_exit_code(error)
    if isinstance(error, OSError) and error.filename is not None:
        return Exit.USAGE
    return Exit.BUG


def _query_exit_code(error: ShipworthyError) -> Exit:
    # Only commands that have imported httpx raise these: `exec` and `sync` stay light.
    from shipworthy.query import errors
    from shipworthy.registries import mlflow_server

    match error:
        case mlflow_server.MlflowAway():
            return Exit.UNREACHABLE
        case mlflow_server.MlflowRefused():
            return Exit.AUTH if error.is_about_the_user else Exit.NEGATIVE
        case errors.KeyRefused() | errors.RoleMissing():
            return Exit.AUTH
        case errors.Unreachable() | errors.NotShipworthy() | errors.Busy() | errors.ServiceFault():
            return Exit.UNREACHABLE
        case errors.InvalidRequest():
            return Exit.USAGE
        case _:
            return Exit.NEGATIVE


def _is_about_registry(error: Exception) -> bool:
    """Whether an MLflow server is meant, about which `doctor` knows nothing."""
    module = sys.modules.get("shipworthy.registries.mlflow_server")
    return module is not None and isinstance(error, module.MlflowError)
