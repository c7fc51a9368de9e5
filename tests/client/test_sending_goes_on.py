"""What would stop or end the sending, and does not: clocks, large files, a service that is busy."""

import socket
from pathlib import Path

import pytest

from shipworthy.errors import NotDelivered
from shipworthy.sync import count_kept, sync_folder
from tests.support.pipelines import run_program, token_of, told, warnings_of
from tests.support.service import RunningService
from tests.support.weather import CuttingProxy, Listener, answer, read_message


def test_absurd_clock_ends_neither_training_nor_sending(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
        import shipworthy, time
        with shipworthy.run("weather/clock", capture=False) as run:
            real = time.time
            for step, now in enumerate((1e15, -1e15, 0.0)):
                time.time = lambda: now
                run.log(step=step, loss=1.0)
                time.time = real
                assert shipworthy.flush(20)
            run.note("after")
        print(run.id)
    """
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(source, tmp_path, variables)
    assert done.stderr == ""
    found = told(client, done.stdout.strip())
    assert (found.steps(), found.notes(), found.states()) == ([0, 1, 2], ["after"], ["completed"])


def test_large_change_of_code_holds_up_no_record(tmp_path: Path, sqlite_service: RunningService) -> None:
    source = """
        import os, shipworthy
        with shipworthy.run("weather/diff", capture=False) as run:
            print(run.id, run.keep_blob(b"change"))
            run.log(step=1, loss=1.0)
    """
    run_id, digest = run_program(source, tmp_path, {}).stdout.split()
    client = sqlite_service.client("recorder")
    port = int(sqlite_service.url.rpartition(":")[2])
    with CuttingProxy(port, lambda request: request.startswith(f"PUT /v1/blobs/{digest}".encode())) as proxy:
        for _ in range(2):
            with pytest.raises(NotDelivered):
                sync_folder(tmp_path / ".shipworthy", f"http://127.0.0.1:{proxy.port}", token_of(client))
            found = told(client, run_id)
            assert (found.steps(), found.states()) == ([1], ["completed"])
    assert count_kept(tmp_path / ".shipworthy") == 1
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.sent, report.kept) == (1, 0)
    assert client.get(f"/v1/blobs/{digest}").content == b"change"


def test_sync_waits_for_a_busy_service_and_says_so(tmp_path: Path, sqlite_service: RunningService) -> None:
    run_program("import shipworthy; shipworthy.run('weather/busy', capture=False).finish()", tmp_path, {})
    client = sqlite_service.client("recorder")
    target = int(sqlite_service.url.rpartition(":")[2])
    turned_away: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        request = read_message(connection)
        if len(turned_away) < 2:
            turned_away.append(request)
            connection.sendall(answer("503 Service Unavailable", '{"detail": "full"}', "Retry-After: 1"))
            return
        with socket.create_connection(("127.0.0.1", target)) as server:
            server.sendall(request)
            connection.sendall(read_message(server))

    listener = Listener(handle)
    try:
        variables = {
            "SHIPWORTHY_URL": f"http://127.0.0.1:{listener.port}",
            "SHIPWORTHY_TOKEN": token_of(client),
        }
        done = run_program(
            "import sys; sys.argv[1:] = ['sync']; from shipworthy.cli.main import app; app()",
            tmp_path,
            variables,
        )
    finally:
        listener.close()
    assert warnings_of(done) == ["the service is busy: full; trying again in 1 s"] * 2
    assert (done.returncode, done.stdout) == (0, "3 records of 1 run sent\n")
