"""How a run ended, from the exception that left its block."""

from typing import NamedTuple

from shipworthy.capture.redaction import redact_text
from shipworthy.values import first_line


class Ending(NamedTuple):
    """`state` is completed, failed or aborted."""

    state: str
    reason: str | None = None


def ending_of(error: BaseException | None) -> Ending:
    """Aborted by a person, failed by an error; `sys.exit(0)` is no failure. Secrets in the text are
    masked."""
    if error is None:
        return Ending("completed")
    reason = describe_error(error)
    if isinstance(error, SystemExit):
        if error.code in (None, 0):
            return Ending("completed")
        return Ending("failed", f"the program left with exit code {redact_text(first_line(str(error.code)))}")
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        return Ending("aborted", reason)
    return Ending("failed", reason)


def describe_error(error: BaseException) -> str:
    """Type and first line, with secrets masked."""
    text = redact_text(first_line(str(error)))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
