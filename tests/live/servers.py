"""`shipworthy-server serve` as a process of its own, over a test's database."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.support.databases import DatabaseUrls

_GREETING: Final = "Shipworthy listens on "
_RECORDER: Final = "  recorder  "
_LAST: Final = "More keys: "
_END_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class ServeProcess:
    """What it prints goes to the file `output`."""

    process: "subprocess.Popen[bytes]"
    output: Path

    @property
    def url(self) -> str:
        return self._printed(_GREETING).split(_GREETING, 1)[1].split(" ", 1)[0]

    @property
    def recorder_token(self) -> str:
        """Of the key that the first start makes, unless it is open to all."""
        return self._printed(_LAST).split(_RECORDER, 1)[1].split("\n", 1)[0]

    def _printed(self, awaited: str) -> str:
        while awaited not in (printed := self.output.read_text()):
            try:
                self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            pytest.fail(f"the server ended: {printed}")
        return printed


@contextmanager
def serve_process(
    urls: DatabaseUrls, folder: Path, *options: str, variables: Mapping[str, str] | None = None
) -> Iterator[ServeProcess]:
    """Told to stop when the block ends, and gone within 30 seconds."""
    environment = {**os.environ, "SHIPWORTHY_DATABASE_URL": urls.service_url, **(variables or {})}
    if urls.dialect == "postgresql":
        environment["SHIPWORTHY_MIGRATION_URL"] = urls.migration_url
    command = [str(Path(sys.executable).with_name("shipworthy-server")), "serve", "--port", "0", *options]
    output = folder / "server.log"
    with output.open("w") as log:
        server = subprocess.Popen([*command, "--data", str(folder / "data")], env=environment, stderr=log)
    try:
        yield ServeProcess(server, output)
    finally:
        server.terminate()
        server.wait(_END_SECONDS)
