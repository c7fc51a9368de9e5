"""Made-up requests by the thousand against the real server: nothing fails, and every answer is as described.

Bounded to 35 seconds a database. What it sends follows from the OpenAPI document alone, the same in every run.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.databases import DatabaseUrls

SECONDS: Final = 35
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
GREETING: Final = "Shipworthy listens on "


@contextmanager
def open_server(urls: DatabaseUrls, folder: Path) -> Iterator[str]:
    """`shipworthy-server serve --open` as a process of its own; gives its address."""
    environment = os.environ | {"SHIPWORTHY_DATABASE_URL": urls.service_url, "SHIPWORTHY_LOG_LEVEL": "error"}
    if urls.dialect == "postgresql":
        environment["SHIPWORTHY_MIGRATION_URL"] = urls.migration_url
    command = [str(Path(sys.executable).with_name("shipworthy-server")), "serve", "--open", "--port", "0"]
    output = folder / "server.log"
    with output.open("w") as log:
        server = subprocess.Popen([*command, "--data", str(folder / "data")], env=environment, stderr=log)
    try:
        yield _address(server, output)
    finally:
        server.terminate()
        server.wait(30)


def _address(server: "subprocess.Popen[bytes]", output: Path) -> str:
    while GREETING not in (printed := output.read_text()):
        try:
            server.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"the server ended: {printed}")
    return printed.split(GREETING, 1)[1].split(" ", 1)[0]


def test_no_request_makes_the_server_fail_and_answers_are_as_described(
    database_urls: DatabaseUrls, tmp_path: Path
) -> None:
    with open_server(database_urls, tmp_path) as address:
        options = [
            "--checks=" + ",".join(CHECKS),
            "--phases=coverage,fuzzing",
            # NDJSON is no format that schemathesis can write; tests/api/test_batch.py sends it.
            "--exclude-path=/v1/records:batch",
            f"--max-time={SECONDS}",
            # A claim may wait for work for 30 seconds.
            "--request-timeout=40",
            "--max-examples=10",
            "--workers=1",
            "--no-shrink",
            "--generation-deterministic",
            "--suppress-health-check=all",
            "--warnings=off",
        ]
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"{address}/openapi.json",
            *options,
        ]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=4 * SECONDS, check=False
        )
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-2000:]
    assert "Test cases" in done.stdout
