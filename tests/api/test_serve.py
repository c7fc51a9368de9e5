"""`shipworthy-server serve` as a process: what it writes, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.support.postgres import SERVICE_ROLE, PostgresServer

COMMAND = "from api.cli.main import app; app()"
FIRST_LINE = re.compile(r"Shipworthy listens on http://127\.0\.0\.1:(\d+)")


def test_serve_logs_json_alone_and_ends_clean_when_told_to_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COMMAND, "serve", "--open", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, env=_environment({}), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            greeting = [server.stderr.readline(), server.stderr.readline()]
            found = FIRST_LINE.match(greeting[0])
            assert found is not None, greeting
            for sent in (
                b"nonsense\r\n\r\n",
                b"GET /v1/none HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
            ):
                with socket.create_connection(("127.0.0.1", int(found[1])), timeout=20) as connection:
                    connection.sendall(sent)
                    while connection.recv(4096):
                        pass
            # A page that waits for news is let go: else its stream would be broken off after the drain, and logged so.
            with socket.create_connection(("127.0.0.1", int(found[1])), timeout=60) as watching:
                watching.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                received = b""
                while b"event: version" not in received:
                    received += watching.recv(4096)
                server.send_signal(signal.SIGTERM)
                while chunk := watching.recv(4096):
                    received += chunk
            assert received.endswith(b"0\r\n\r\n"), "the answer came to its end"
            logged = server.stderr.read().splitlines()
            assert server.wait(30) == 0
        finally:
            server.kill()
    assert {json.loads(line)["event"] for line in logged} == {"Invalid HTTP request received.", "request"}


def test_start_that_may_not_migrate_says_which_variable_to_set(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    postgres_server.create_database("empty")
    url = postgres_server.url(SERVICE_ROLE, "empty")
    refused = _start(COMMAND, tmp_path, {"SHIPWORTHY_DATABASE_URL": url, "SHIPWORTHY_MIGRATION_URL": url})
    assert refused.returncode == 1
    (sentence,) = refused.stderr.splitlines()
    assert sentence.startswith("shipworthy-server: the schema can't be brought up to date (permission denied")
    assert sentence.endswith("SHIPWORTHY_MIGRATION_URL must name the role that owns the tables")


def test_start_whose_migration_is_cut_off_ends_with_a_sentence_and_the_next_one_serves(
    tmp_path: Path,
) -> None:
    """As by the kernel when memory is short: the process that migrates is another than the one that serves."""
    cut_off = (
        "import os, signal; from models.ledger import schema\n"
        "schema.current_revision = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n" + COMMAND
    )
    refused = _start(cut_off, tmp_path, {})
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "shipworthy-server: bringing the schema up to date was cut off and left nothing behind; start the service again"
    ]
    created = subprocess.run(
        [sys.executable, "-c", COMMAND, "keys", "create", "--role", "reader", "--data", str(tmp_path)],
        env=_environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert created.returncode == 0, created.stderr


def _start(command: str, data: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A start that is expected to be refused."""
    return subprocess.run(
        [sys.executable, "-c", command, "serve", "--port", "0", "--data", str(data)],
        env=_environment(variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")
    } | variables
