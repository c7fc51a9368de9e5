"""`shipworthy-server serve` as a process: what it writes, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from sqlalchemy import make_url

from tests.support.databases import DatabaseUrls

COMMAND = "from api.cli.main import app; app()"
FIRST_LINE = re.compile(r"Shipworthy listens on http://127\.0\.0\.1:(\d+)")


def test_serve_logs_json_alone_and_ends_clean_when_told_to_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COMMAND, "serve", "--open", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, env=_environment({}), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            greeting = [server.stderr.readline() for _ in range(3)]
            found = FIRST_LINE.match(greeting[0])
            assert found is not None, greeting
            assert greeting[1] == f"database: SQLite in {tmp_path}/database/shipworthy.sqlite3\n"
            assert greeting[2].startswith("OPEN MODE")
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
            *logged, end = server.stderr.read().splitlines()
            assert server.wait(30) == 0
        finally:
            server.kill()
    assert {json.loads(line)["event"] for line in logged} == {"Invalid HTTP request received.", "request"}
    assert end.startswith("Shipworthy has stopped: requests under way got up to 20 s to end")


def test_serve_says_on_which_database_and_that_ctrl_c_stopped_it(
    postgresql_urls: DatabaseUrls, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", COMMAND, "serve", "--open", "--port", "0", "--data", str(tmp_path)]
    url = make_url(postgresql_urls.service_url)
    variables = {"SHIPWORTHY_DATABASE_URL": postgresql_urls.service_url, "SHIPWORTHY_DATABSE_URL": "x"}
    with subprocess.Popen(command, env=_environment(variables), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            warned, first, database, _ = [server.stderr.readline() for _ in range(4)]
            assert warned == (
                "shipworthy-server: SHIPWORTHY_DATABSE_URL is no variable of Shipworthy and changes nothing; "
                "did you mean SHIPWORTHY_DATABASE_URL?\n"
            )
            found = FIRST_LINE.match(first)
            assert found is not None
            assert database == f"database: PostgreSQL {url.database} on {url.host}:{url.port}\n"
            with socket.create_connection(("127.0.0.1", int(found[1])), timeout=20):
                server.send_signal(signal.SIGINT)
                *_, end = server.stderr.read().splitlines()
            assert server.wait(30) == 130
        finally:
            server.kill()
    assert end.startswith("Shipworthy has stopped")


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")
    } | variables
