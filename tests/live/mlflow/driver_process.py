"""The one Python process with MLflow in it that tests talk to: importing MLflow takes five seconds of a processor."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.live.mlflow.servers import ENVIRONMENT, clean_environment

_ROOT: Final = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Driver:
    process: subprocess.Popen[str]
    log: Path

    def ask(self, do: str, **given: object) -> Any:
        """The answer to one request; AssertionError with what the process wrote when there is none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **given}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the driver ended: {self.log.read_text(errors='replace')[-4000:]}"
        answer = json.loads(line)
        assert "failed" not in answer, answer["failed"]
        return answer["answer"]


@contextmanager
def driving(folder: Path) -> Iterator[Driver]:
    """Starts it and does not wait: it imports while the servers start."""
    log = folder / "driver.log"
    environment = clean_environment() | {
        "PYTHONPATH": str(_ROOT),
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{folder / 'unused.sqlite3'}",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(ENVIRONMENT / "bin" / "python"), "-m", "tests.live.mlflow.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=environment,
            cwd=folder,
            text=True,
        )
    try:
        yield Driver(process, log)
    finally:
        process.kill()
        process.communicate()
