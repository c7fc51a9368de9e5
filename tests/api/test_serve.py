"""`shipworthy-server serve` as a process: what it writes, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

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


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith("SHIPWORTHY_")
    } | variables
