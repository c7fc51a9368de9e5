"""`shipworthy-server keys`: the deployment's own key files, and the keys of its callers."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from api.cli.opening import DATA_DEFAULT, DataOption, existing_ledger, fail, opened_ledger, told_plainly
from models.actor import Role
from models.database import Database
from models.errors import InvalidInput, NotFound
from models.keys.administration import create_key, retire_key, revoke_key
from models.keys.key_files import FILE_NAMES, create_key_files, key_folder
from models.keys.store import KeyPosition, disclosed, find_key, list_keys
from models.keys.tables import ApiKey
from shipworthy.formats.times import format_instant

_ROLES: Final = ", ".join(Role)
_FROM_NOW_ON: Final = "From now on it writes nothing; a running service answers its reads for up to a second."

app = typer.Typer(no_args_is_help=True, help="Make, list, retire and revoke the keys of callers.")

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output.")]
_PAGE: Final = 200
_SPAN: Final = re.compile(r"([1-9][0-9]{0,4})([hdw])", re.ASCII)
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24}


@app.command("init")
def init(data: DataOption = DATA_DEFAULT) -> None:
    """Make the log key, the decision key and the token pepper of a new deployment."""
    with told_plainly(data):
        folder = key_folder(data)
        create_key_files(folder)
    typer.echo(f"Made {', '.join(FILE_NAMES)} in {folder}.")
    typer.echo(
        "Keep a copy where the database and its backups are not: without the log key the log can't go on, "
        "without the pepper no token is valid, and who has the database and the log key can rewrite history.",
        err=True,
    )


@app.command("create")
def create(
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role", metavar="ROLE", help=f"What the key may do, at least one of {_ROLES}; repeat it."
        ),
    ] = None,
    namespace: Annotated[str, typer.Option(help="Where the key reads and writes.")] = "default",
    owner: Annotated[str | None, typer.Option(help="Who answers for it: an address or a name.")] = None,
    groups: Annotated[
        list[str] | None, typer.Option(help="The owner's groups; repeat, or use commas.")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="Only server_run, for a key whose one role is worker: its results then count as the service's own. "
            "Else the level of what a key records follows from its roles."
        ),
    ] = None,
    expires_in: Annotated[
        str | None, typer.Option("--expires-in", help="Such as 12h, 90d or 26w; else the key has no end.")
    ] = None,
    as_json: AsJson = False,
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Make a key. Its token goes alone to standard output, all else to standard error."""
    if not role:
        fail(f"give the key a role with --role, one of {_ROLES}; docs/operations.md says what each may do")
    with told_plainly(data):
        expires_at = None if expires_in is None else datetime.now(UTC) + parse_span(expires_in)
        names = [name for given in groups or [] for name in given.split(",")]
        with opened_ledger(data) as service:
            created = create_key(
                service.ledger,
                service.ring,
                namespace=namespace,
                roles=role,
                owner=owner,
                groups=names,
                level=level,
                expires_at=expires_at,
            )
    end = "no end" if created.expires_at is None else format_instant(created.expires_at)
    if as_json:
        answer = {
            "key_id": created.key_id,
            "token": created.token,
            "namespace": created.namespace,
            "roles": list(created.roles),
            "groups": list(created.groups),
            "level": created.level,
            "expires_at": None if created.expires_at is None else end,
        }
        typer.echo(json.dumps(answer))
        return
    until = "no end" if created.expires_at is None else f"valid until {end}"
    typer.echo(
        f"Key {created.key_id} in namespace {created.namespace}: {', '.join(created.roles)}; evidence level "
        f"{created.level}; {until}.\nIts token follows. It is shown once and stored nowhere: keep it in your "
        f"secret store. To end it: shipworthy-server keys revoke {created.key_id} --reason TEXT",
        err=True,
    )
    typer.echo(created.token)


@app.command("list")
def list_command(
    namespace: Annotated[str | None, typer.Option(help="Only this namespace.")] = None,
    as_json: AsJson = False,
    data: DataOption = DATA_DEFAULT,
) -> None:
    """List the keys in the order they were made."""
    with existing_ledger(data) as service:
        rows = [_shown(key, owner) for key, owner in _all_keys(service.database, namespace)]
    if as_json:
        typer.echo(json.dumps(rows))
    elif not rows:
        where = "" if namespace is None else f" --namespace {shlex.quote(namespace)}"
        typer.echo(
            ("There are no keys" if namespace is None else f"There are no keys in the namespace {namespace}")
            + f". Make one with: shipworthy-server keys create --role reader{where}",
            err=True,
        )
    else:
        typer.echo(_table(rows))


@app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The 12 characters after sw_.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the log.")],
    data: DataOption = DATA_DEFAULT,
) -> None:
    """Revoke a key that must not be trusted: no pass of a gate rests any more on what it wrote."""
    namespace = _ended(key_id, reason, data, revoke_key)
    typer.echo(f"Key {key_id} of namespace {namespace} is revoked.")
    typer.echo(_FROM_NOW_ON, err=True)


@app.command("retire")
def retire(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The 12 characters after sw_.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the log.")],
    data: DataOption = DATA_DEFAULT,
) -> None:
    """End a key that was replaced or is not needed: what it wrote stays worth what it was."""
    namespace = _ended(key_id, reason, data, retire_key)
    typer.echo(f"Key {key_id} of namespace {namespace} is retired.")
    typer.echo(_FROM_NOW_ON, err=True)


def _ended(key_id: str, reason: str, data: Path, end: Callable[..., None]) -> str:
    """The namespace of the key that `end` ended. Raises NotFound, Conflict."""
    with existing_ledger(data) as service:
        with service.database.read() as session:
            found = find_key(session, key_id)
            namespace = None if found is None else found.namespace
        if namespace is None:
            raise NotFound(f"there is no key {key_id[:80]}; find its id with: shipworthy-server keys list")
        end(service.ledger, key_id, namespace=namespace, reason=reason)
    return namespace


def parse_span(text: str) -> timedelta:
    """A time span such as 12h, 90d or 26w; InvalidInput when it is none."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise InvalidInput(
            f"--expires-in {text[:80]!r} is no time span; write a number and h, d or w, for instance 90d"
        )
    return timedelta(hours=int(match[1]) * _HOURS[match[2]])


def _all_keys(database: Database, namespace: str | None) -> Iterator[tuple[ApiKey, str | None]]:
    """Every key with its owner in clear, where that was not erased."""
    after: KeyPosition | None = None
    with database.read() as session:
        while page := list_keys(session, namespace, after, _PAGE):
            owners = disclosed(session, [key.who for key in page if key.who is not None])
            for key in page:
                value = owners.get(key.who or "")
                yield key, None if value is None else json.loads(value)
            after = KeyPosition(page[-1].created_at, page[-1].key_id)


def _shown(key: ApiKey, owner: str | None) -> dict[str, str | list[str] | None]:
    ended = key.expires_at is not None and key.expires_at <= datetime.now(UTC)
    return {
        "key_id": key.key_id,
        "namespace": key.namespace,
        "roles": key.roles.split(","),
        "groups": json.loads(key.groups),
        "level": key.level,
        "owner": owner or key.owner,
        "state": "revoked" if key.revoked_at is not None else "expired" if ended else "active",
        "created_at": format_instant(key.created_at),
        "expires_at": None if key.expires_at is None else format_instant(key.expires_at),
        "revoked_at": None if key.revoked_at is None else format_instant(key.revoked_at),
    }


def _table(rows: list[dict[str, str | list[str] | None]]) -> str:
    columns = ("key_id", "state", "namespace", "roles", "level", "owner", "created_at", "expires_at")
    lines = [[column.removesuffix("_at").replace("_", " ").upper() for column in columns]]
    for row in rows:
        values = [row[column] for column in columns]
        lines.append([",".join(value) if isinstance(value, list) else value or "–" for value in values])
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
