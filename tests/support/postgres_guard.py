"""Stops a test server and removes its folder when the process that started it says so, or dies.

Run as `python postgres_guard.py FOLDER` with a pipe as standard input. A killed pytest runs no fixture's
teardown, but the kernel closes its end of the pipe: no server and no folder is left behind.
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

_PATIENCE_SECONDS = {signal.SIGINT: 30.0, signal.SIGQUIT: 10.0}
"""PostgreSQL's fast shutdown, then its immediate one, and how long each may take."""


def stop_server(data_folder: Path) -> None:
    """Stop the server of a data folder; return at once when none runs there.

    The server removes `postmaster.pid` as its last act. Its process can't be watched instead: where process 1
    reaps no orphans, it stays in the table for ever.
    """
    process_file = data_folder / "postmaster.pid"
    for stop_signal, patience in _PATIENCE_SECONDS.items():
        try:
            os.kill(int(process_file.read_text().split()[0]), stop_signal)
        except (FileNotFoundError, ProcessLookupError):
            return
        deadline = time.monotonic() + patience
        while process_file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)


def main(folder: Path) -> None:
    """Wait for a line or the end of standard input, then clean up."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sys.stdin.buffer.readline()
    stop_server(folder / "data")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
