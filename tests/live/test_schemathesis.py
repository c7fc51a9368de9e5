"""Made-up requests by the thousand against the real server: nothing fails, and every answer is as described.

Bounded to 35 seconds a database. What it sends follows from the OpenAPI document alone, the same in every run.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.live.servers import serve_process
from tests.support.databases import DatabaseUrls

SECONDS: Final = 35
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def test_no_request_makes_the_server_fail_and_answers_are_as_described(
    database_urls: DatabaseUrls, tmp_path: Path
) -> None:
    quiet = {"SHIPWORTHY_LOG_LEVEL": "error"}
    with serve_process(database_urls, tmp_path, "--open", variables=quiet) as server:
        options = [
            "--checks=" + ",".join(CHECKS),
            "--phases=coverage,fuzzing",
            # NDJSON is no format that schemathesis can write; test_made_up_batches.py does.
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
            f"{server.url}/openapi.json",
            *options,
        ]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=4 * SECONDS, check=False
        )
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-2000:]
    assert "Test cases" in done.stdout
