"""What a terminal gets, what a pipe gets, and the words for numbers."""

import os
import pty
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest

from shipworthy.cli.exits import Exit
from shipworthy.cli.failures import exit_code, report
from shipworthy.cli.words import count, moment, number, short_digest, shown, size, span
from shipworthy.errors import UsageError
from tests.client.cli.conftest import COMMAND, spawn
from tests.support.bodies import make_run, make_version

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(width: int, *arguments: str, **environ: str) -> str:
    """What a terminal of that width shows, with its control sequences."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width), **environ}
    with subprocess.Popen(
        [COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environ
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # Linux answers EIO when the other side is closed.
                break
            if not data:
                break
            shown += data
        assert process.wait(60) == 0
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def model(sqlite_recorder: httpx.Client) -> str:
    body = make_run(
        job={
            "namespace": "a-namespace-with-a-long-name",
            "name": "and-a-job-with-an-even-longer-name/nightly",
        },
        config={"values": {f"hyperparameter_{number}": "x" * 200 for number in range(20)}},
        model_versions=[make_version(model="ranker", version="1")],
    )
    sqlite_recorder.post("/v1/runs", json=body).raise_for_status()
    return str(body["run_id"])


@pytest.mark.parametrize("width", [80, 120])
def test_terminal_gets_colours_within_its_width(model: str, width: int) -> None:
    for arguments in (["lineage", "ranker:1"], ["runs"]):
        shown = on_terminal(width, *arguments)
        assert ANSI.search(shown)
        lines = ANSI.sub("", shown).splitlines()
        assert max(len(line.rstrip()) for line in lines) <= width
        assert any(model in line for line in lines)


def test_who_looks_on_is_told_what_has_to_come_before_the_lineage() -> None:
    shown = on_terminal(200, "exec", "--", "true")
    assert re.search(r"this was run (\S+); once it is sent, shipworthy lineage \1 shows it\n", shown)
    assert "SHIPWORTHY_URL names no service; set it" in shown


def test_no_color_is_honoured(model: str) -> None:
    shown = on_terminal(100, "lineage", "ranker:1", NO_COLOR="1")
    assert not re.search(r"\x1b\[(3[0-9]|9[0-9]|38;)", shown)


def test_pipe_gets_neither_colours_nor_cut_lines(model: str) -> None:
    for arguments in (["lineage", "ranker:1"], ["runs"], ["doctor"]):
        done = spawn(*arguments, TERM="xterm-256color", COLUMNS="40")
        assert done.code == 0
        assert "\x1b" not in done.out + done.err
        assert "  \n" not in done.out
    assert "a-namespace-with-a-long-name/and-a-job-with-an-even-longer-name/nightly" in spawn("runs").out


def test_help_names_every_command_and_the_exit_codes() -> None:
    done = spawn("--help")
    for name in ("exec", "runs", "lineage", "snapshot", "sync", "doctor", "import", "70 bug"):
        assert name in done.out


def test_reader_that_goes_away_is_no_bug(model: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {COMMAND} lineage ranker:1 | true; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() in ("0", "1")


def test_bug_shows_where_and_ends_with_70(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(ZeroDivisionError("division by zero")) is Exit.BUG
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert said.endswith("shipworthy: this is a bug in shipworthy; please report the lines above\n")
    assert exit_code(UsageError("…")) is Exit.USAGE


WORDS: list[tuple[Callable[[], str], str]] = [
    (lambda: span(0), "0 s"),
    (lambda: span(59.9), "59 s"),
    (lambda: span(3600 * 2 + 300), "2 h 5 min"),
    (lambda: span(86400 * 12 + 3600), "12 d"),
    (lambda: span(86400 * 365 * 2), "2 y"),
    (lambda: size(1023), "1023 B"),
    (lambda: size(1024), "1.0 KiB"),
    (lambda: size(81559 * 2**20), "80 GiB"),
    (lambda: size(2**80), "1073741824 PiB"),
    (lambda: count(1, "run"), "1 run"),
    (lambda: count(12345, "run"), "12,345 runs"),
    (lambda: number(0.123456789), "0.123457"),
    (lambda: shown(["a", "b", "c"], 2), "a, b … 1 more"),
    (lambda: moment(None), "–"),
    (lambda: moment(datetime(2026, 5, 1, 12, 30, 59, tzinfo=UTC)), "2026-05-01 12:30"),
    (lambda: short_digest("sha256:" + "a" * 64), "sha256:aaaaaaaaaaaa"),
]


@pytest.mark.parametrize(("say", "words"), WORDS)
def test_words_for_numbers(say: Callable[[], str], words: str) -> None:
    assert say() == words
