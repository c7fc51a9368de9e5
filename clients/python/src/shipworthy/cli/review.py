"""`shipworthy review` and `shipworthy waive`: a person takes responsibility, by name and with a reason."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.model_names import split_version
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.errors import UsageError
from shipworthy.formats.times import format_instant, parse_instant

reviews = typer.Typer(help="Approve or deny what a gate left to people.", no_args_is_help=True)
_Id = Annotated[str, typer.Argument(metavar="DECISION", help="Its id, sha256:….", show_default=False)]
_Reason = Annotated[str, typer.Option(help="Why; it is recorded for good.", show_default=False)]
_Expires = Annotated[
    str | None, typer.Option(help="7d, or a time such as 2026-06-01T12:00:00Z; by the policy otherwise.")
]


@reviews.command("request")
def request_review(decision: _Id, reason: _Reason, url: Url = None, as_json: Json = False) -> None:
    """Ask for a review of a decision."""
    _review(decision, "request", reason, None, url, as_json)


@reviews.command()
def approve(
    decision: _Id, reason: _Reason, expires: _Expires = None, url: Url = None, as_json: Json = False
) -> None:
    """Approve what a gate left to people.

    It is cleared in the next decision; this one never changes.
    """
    _review(decision, "approve", reason, expires, url, as_json)


@reviews.command()
def deny(decision: _Id, reason: _Reason, url: Url = None, as_json: Json = False) -> None:
    """Deny what a gate left to people.

    The next decision on this artifact blocks.
    """
    _review(decision, "deny", reason, None, url, as_json)


def waive(
    what: Annotated[
        str, typer.Argument(metavar="MODEL:VERSION", help="A registered version.", show_default=False)
    ],
    gate: Annotated[str, typer.Option(help="Name of the gate.", show_default=False)],
    criterion: Annotated[str, typer.Option(help="Its id in the policy.", show_default=False)],
    reason: _Reason,
    expires: Annotated[
        str, typer.Option(help="7d, or a time such as 2026-06-01T12:00:00Z.", show_default=False)
    ],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Let an artifact pass without one criterion for a while, where the policy allows it."""
    model, version = split_version(what)
    with ask(url) as client:
        found = client.waive(
            gate,
            criterion,
            artifact=client.version(model, version).artifact,
            to=client.gate(gate).target,
            reason=reason,
            expires_at=_ends(expires),
        )
    if as_json:
        print_json(dict(found))
        return
    output().print(found["record"])
    messages().print(
        f"recorded; it counts in the next decision, once as many persons waived as the policy asks for: "
        f"shipworthy gate evaluate {what} --gate {gate}",
        style="dim",
    )


def _review(
    decision: str, action: str, reason: str, expires: str | None, url: str | None, as_json: bool
) -> None:
    with ask(url) as client:
        found = client.review(decision, action, reason, None if expires is None else _ends(expires))
        about = None if as_json else client.decision(decision)
    if about is None:
        print_json(dict(found))
        return
    output().print(found["record"])
    if action != "request":
        version = about.version or "VERSION"
        again = f"shipworthy gate evaluate {about.model}:{version} --gate {about.gate}"
        messages().print(f"recorded; it counts in the next decision: {again}", style="dim")


def _ends(text: str) -> str:
    """An instant; "7d" counts from now. Raises UsageError."""
    if text.endswith("d") and text[:-1].isdecimal() and 0 < int(text[:-1]) < 10_000:
        return format_instant(datetime.now(UTC) + timedelta(days=int(text[:-1])))
    try:
        return format_instant(parse_instant(text))
    except ValueError as error:
        raise UsageError(f"--expires {text!r}: write days such as 7d, or a time with a zone") from error
