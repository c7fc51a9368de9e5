"""Limits that a check's process sets on itself, in a process of its own."""

import subprocess
import sys

_LIMITED = """
from api.workers.limits import ChildLimits, limit_this_process
limit_this_process(ChildLimits(memory_bytes=64 << 20, processor_seconds=1, threads=1, disk_bytes=1 << 20))
{then}
"""


def limited(then: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _LIMITED.format(then=then)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_memory_beyond_the_limit_is_refused_and_below_it_is_given() -> None:
    done = limited("held = bytearray(40 << 20); print(len(held))\nbytearray(80 << 20)")
    assert done.stdout.strip() == str(40 << 20)
    assert "MemoryError" in done.stderr


def test_processor_time_beyond_the_limit_ends_the_process() -> None:
    assert limited("while True: pass").returncode == -24  # SIGXCPU


def test_file_longer_than_the_limit_can_not_be_written() -> None:
    done = limited(
        "import tempfile\n"
        "with tempfile.TemporaryFile(buffering=0) as file:\n"
        "    file.write(bytes(2 << 20)); file.write(b'x')"
    )
    assert "File too large" in done.stderr


def test_process_that_crashes_leaves_no_core_file_with_data() -> None:
    done = limited("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))")
    assert done.stdout.strip() == "(0, 0)"
