"""What is too large for the service is refused alone: what comes after it, and other runs, arrive."""

import gzip
import socket
import stat
from pathlib import Path

import pytest

from shipworthy.chunks import MAX_LINE_BYTES
from shipworthy.cli.sync import told as told_by_sync
from shipworthy.errors import NotDelivered
from shipworthy.sync import find_journals, sync_folder
from tests.support.pipelines import run_program, token_of, told
from tests.support.service import RunningService
from tests.support.weather import Listener, answer, read_message

TWO_RUNS = """
    import shipworthy
    with shipworthy.run("large/first", capture=False) as first:
        first.log(step=1, loss=1.0)
        first.note({text})
        first.note("after")
        first.log(step=2, loss=1.0)
    with shipworthy.run("large/second", capture=False) as second:
        second.log(step=3, loss=1.0)
    print(first.id, second.id)
"""


@pytest.mark.parametrize("text", ['"x" * 300_000', '"x" * 17_000_000'])
def test_record_that_is_too_large_is_refused_alone(
    text: str, tmp_path: Path, sqlite_service: RunningService
) -> None:
    first, second = run_program(TWO_RUNS.format(text=text), tmp_path, {}).stdout.split()
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.refused, report.kept) == (1, 0)
    found = told(client, first)
    assert (found.notes(), found.steps(), found.states()) == (["after"], [1, 2], ["completed"])
    assert told(client, second).steps() == [3]
    again = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    (refused,) = tmp_path.glob(".shipworthy/*/*.refused")
    assert stat.S_IMODE(refused.stat().st_mode) == 0o600
    assert f"1 refused before: see {refused}, and try them again with --again" in told_by_sync(again)


def test_line_that_is_never_read_whole_is_passed_by(tmp_path: Path, sqlite_service: RunningService) -> None:
    first, _ = run_program(TWO_RUNS.format(text='"before"'), tmp_path, {}).stdout.split()
    journal = next(path for path in find_journals(tmp_path / ".shipworthy") if path.parent.name == first)
    lines = journal.read_bytes().splitlines(keepends=True)
    lines.insert(-1, b'{"kind":"' + b"x" * MAX_LINE_BYTES + b'"}\n')
    journal.write_bytes(b"".join(lines))
    client = sqlite_service.client("recorder")
    for again in (False, True):
        report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client), again=again)
        assert report.refused + report.refused_before == 1
        assert told(client, first).states() == ["completed"]
    (refused,) = tmp_path.glob(".shipworthy/*/*.refused")
    assert refused.stat().st_size < 1000
    assert "it stays in the journal from byte" in refused.read_text()


def test_proxy_that_takes_little_gets_little_at_once(tmp_path: Path, sqlite_service: RunningService) -> None:
    """As nginx does with its client_max_body_size: an answer without reading the body, and the end."""
    target = int(sqlite_service.url.rpartition(":")[2])

    def handle(connection: socket.socket) -> None:
        while request := read_message(connection):
            if len(request) > 2000:
                connection.sendall(answer("413 Request Entity Too Large"))
                return
            with socket.create_connection(("127.0.0.1", target)) as server:
                server.sendall(request)
                connection.sendall(read_message(server))

    source = """
        import os, shipworthy
        with shipworthy.run("large/proxied", capture=False) as run:
            for number in range(30):
                run.log(step=number, **{os.urandom(40).hex(): 1.0})
                run.note(f"{number} {os.urandom(40).hex()}")
        print(run.id)
    """
    run_id = run_program(source, tmp_path, {}).stdout.strip()
    client = sqlite_service.client("recorder")
    listener = Listener(handle)
    try:
        url = f"http://127.0.0.1:{listener.port}"
        assert sync_folder(tmp_path / ".shipworthy", url, token_of(client)).refused == 0
    finally:
        listener.close()
    found = told(client, run_id)
    assert found.steps() == list(range(30))
    assert [int(note.split()[0]) for note in found.notes()] == list(range(30))


def test_journal_that_can_not_be_sent_holds_up_no_other(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    first, second = run_program(TWO_RUNS.format(text='"cursed"'), tmp_path, {}).stdout.split()
    target = int(sqlite_service.url.rpartition(":")[2])

    def handle(connection: socket.socket) -> None:
        while request := read_message(connection):
            body = request.partition(b"\r\n\r\n")[2]
            if b"cursed" in (gzip.decompress(body) if b"Encoding: gzip" in request else body):
                connection.sendall(answer("400 Bad Request"))
                return
            with socket.create_connection(("127.0.0.1", target)) as server:
                server.sendall(request)
                connection.sendall(read_message(server))

    client = sqlite_service.client("recorder")
    listener = Listener(handle)
    try:
        with pytest.raises(NotDelivered):
            sync_folder(tmp_path / ".shipworthy", f"http://127.0.0.1:{listener.port}", token_of(client))
    finally:
        listener.close()
    assert told(client, second).states() == ["completed"]
    sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert told(client, first).states() == ["completed"]


def test_flush_says_when_something_was_refused(tmp_path: Path, sqlite_service: RunningService) -> None:
    source = """
        import shipworthy
        with shipworthy.run("large/flush", capture=False) as run:
            print(shipworthy.flush(20))
            run.note("x" * 300_000)
        print(shipworthy.flush(20))
    """
    token = token_of(sqlite_service.client("recorder"))
    done = run_program(source, tmp_path, {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token})
    assert done.stdout.split() == ["True", "False"]


def test_refusals_that_a_full_disk_cut_harm_no_later_one(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    first, _ = run_program(TWO_RUNS.format(text='"x" * 300_000'), tmp_path, {}).stdout.split()
    journal = next(path for path in find_journals(tmp_path / ".shipworthy") if path.parent.name == first)
    journal.with_suffix(".refused").write_bytes(b'{"status":422,"detail":"cut","line":{"kind":"run.ev')
    token = token_of(sqlite_service.client("recorder"))
    for again in (False, True, True):
        report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token, again=again)
        assert (report.refused, report.refused_before) == (1, 1)
