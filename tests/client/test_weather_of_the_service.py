"""A training job ends as it would without the client, whatever the service does meanwhile."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from shipworthy.sync import sync_folder
from tests.support.pipelines import environment, program, run_program, token_of, told, warnings_of
from tests.support.service import RunningService
from tests.support.weather import (
    CuttingProxy,
    answer,
    answering,
    closed_port,
    hanging,
    untrusted_tls,
)

TRAINING = """
    import pathlib, shipworthy
    loss = 1.0
    pathlib.Path("ckpt").write_bytes(b"weights")
    with shipworthy.run("weather/train", config={"lr": 0.1}) as run:
        for step in range(200):
            loss *= 0.99
            run.log(step=step, loss=loss)
        run.event("checkpointing")
        saved = run.checkpoint("ckpt", step=199)
        run.artifact("ckpt")
        run.evaluation({"loss": loss}, subject=saved)
        run.model_version("weather", "1")
        run.phase("export")
        run.note("done")
    print(f"{loss:.12f} {run.id}")
"""
LOSS = f"{0.99**200:.12f}"


@contextmanager
def refused() -> Iterator[str]:
    yield f"http://127.0.0.1:{closed_port()}"


@contextmanager
def silent() -> Iterator[str]:
    with hanging() as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def without_name() -> Iterator[str]:
    yield "http://no-such-host.invalid"


@contextmanager
def untrusted() -> Iterator[str]:
    with untrusted_tls() as port:
        yield f"https://localhost:{port}"


def replying(status: str, *headers: str) -> Callable[[], AbstractContextManager[str]]:
    @contextmanager
    def serve() -> Iterator[str]:
        with answering(lambda number: answer(status, '{"detail": "no"}', *headers)) as port:
            yield f"http://127.0.0.1:{port}"

    return serve


@contextmanager
def no_service() -> Iterator[str]:
    """A portal that answers everything with a page."""
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"
    with answering(lambda number: page) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def nesting() -> Iterator[str]:
    """Answers JSON that no parser goes down into."""
    with answering(lambda number: answer("200 OK", "[" * 100_000)) as port:
        yield f"http://127.0.0.1:{port}"


WEATHER: dict[str, tuple[Callable[[], AbstractContextManager[str]], str]] = {
    "refused": (refused, "can't be reached"),
    "silent": (silent, "does not answer in time"),
    "no name": (without_name, "has a name that can't be resolved"),
    "a certificate of its own": (untrusted, "has a certificate that is not trusted"),
    "401": (replying("401 Unauthorized"), "does not accept the key"),
    "503": (replying("503 Service Unavailable", "Retry-After: 60"), "is busy"),
    "500": (replying("500 Internal Server Error"), "has a fault"),
    "302": (replying("302 Found", "Location: http://127.0.0.1:1/"), "sends to another address"),
    "nested JSON": (nesting, "is cut or no JSON"),
    "a portal": (no_service, "does not answer as a Shipworthy service does"),
}


@pytest.mark.parametrize("weather", WEATHER)
def test_training_ends_the_same_with_one_warning_and_everything_kept(weather: str, tmp_path: Path) -> None:
    serve, sentence = WEATHER[weather]
    with serve() as url:
        done = run_program(TRAINING, tmp_path, {"SHIPWORTHY_URL": url})
    assert done.returncode == 0
    assert done.stdout.split()[0] == LOSS
    *warned, kept = warnings_of(done)
    assert len(warned) == 1
    assert sentence in warned[0]
    assert re.fullmatch(
        r"21\d records are kept, not sent yet; send them with: shipworthy sync \.shipworthy", kept
    )


def test_exit_code_and_error_of_the_program_are_its_own(tmp_path: Path) -> None:
    source = """
        import shipworthy
        with shipworthy.run("weather/train", capture=False):
            raise ValueError("the data is empty")
    """
    done = run_program(source, tmp_path, {"SHIPWORTHY_URL": f"http://127.0.0.1:{closed_port()}"})
    assert done.returncode == 1
    assert "ValueError: the data is empty" in done.stderr
    assert "shipworthy sync .shipworthy" in done.stderr


def test_kept_records_are_all_there_after_sync(tmp_path: Path, sqlite_service: RunningService) -> None:
    done = run_program(TRAINING, tmp_path, {"SHIPWORTHY_URL": f"http://127.0.0.1:{closed_port()}"})
    run_id = done.stdout.split()[1]
    client = sqlite_service.client("recorder")
    report = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (report.runs, report.refused, report.unhashed) == (1, 0, 0)
    found = told(client, run_id)
    assert found.steps() == list(range(200))
    assert found.states() == ["checkpointing", "completed"]
    assert [len(found.bodies[kind]) for kind in ("checkpoint.saved", "artifact")] == [1, 1]
    version = client.get("/v1/models/weather/versions/1").json()
    assert version["artifact"] == found.bodies["artifact"][0]["digest"]
    assert found.bodies["evaluation.completed"][0]["metrics"] == {"loss": pytest.approx(0.99**200)}
    again = sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    assert (again.sent, again.kept) == (0, 0)


def test_everything_is_sent_before_the_process_ends(tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(TRAINING, tmp_path, variables)
    assert done.stderr == ""
    found = told(client, done.stdout.split()[1])
    assert found.steps() == list(range(200))
    assert found.states()[-1] == "completed"


def test_answers_cut_after_the_commit_record_nothing_twice(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    client = sqlite_service.client("recorder")
    seen: dict[bytes, int] = {}

    def first_two(request: bytes) -> bool:
        seen[request] = seen.get(request, 0) + 1
        return seen[request] <= 2

    port = int(sqlite_service.url.rpartition(":")[2])
    with CuttingProxy(port, first_two) as proxy:
        variables = {"SHIPWORTHY_URL": f"http://127.0.0.1:{proxy.port}", "SHIPWORTHY_TOKEN": token_of(client)}
        done = run_program(TRAINING + "\n    shipworthy.flush(60)", tmp_path, variables)
        assert proxy.cut >= 4
    found = told(client, done.stdout.split()[1])
    assert found.steps() == list(range(200))
    assert found.states() == ["checkpointing", "completed"]
    assert found.notes().count("done") == 1


def test_gap_of_the_service_heals_by_itself(tmp_path: Path, sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    port = closed_port()
    source = """
        import shipworthy, sys, time
        with shipworthy.run("weather/gap", capture=False) as run:
            run.log(step=0, loss=1.0)
            time.sleep(1)
            print(run.id, flush=True)
            sys.stdin.readline()
            run.log(step=1, loss=0.5)
    """

    variables = {"SHIPWORTHY_URL": f"http://127.0.0.1:{port}", "SHIPWORTHY_TOKEN": token_of(client)}
    with subprocess.Popen(
        program(source),
        cwd=tmp_path,
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        with CuttingProxy(int(sqlite_service.url.rpartition(":")[2]), port=port):
            process.stdin.write("\n")
            process.stdin.close()
            assert process.wait(60) == 0
    found = told(client, run_id)
    assert found.steps() == [0, 1]
    assert found.states() == ["completed"]


def test_busy_service_is_left_alone_for_as_long_as_it_asks(tmp_path: Path) -> None:
    arrivals: list[float] = []

    def busy(number: int) -> bytes:
        arrivals.append(time.monotonic())
        return answer("429 Too Many Requests", '{"detail": "slow down"}', "Retry-After: 2")

    source = """
        import shipworthy, time
        with shipworthy.run("weather/busy", capture=False) as run:
            for step in range(30):
                run.note("again")
                time.sleep(0.1)
    """
    with answering(busy) as port:
        done = run_program(source, tmp_path, {"SHIPWORTHY_URL": f"http://127.0.0.1:{port}"})
    assert done.returncode == 0
    assert len(arrivals) >= 2
    assert min(later - earlier for earlier, later in pairwise(arrivals)) >= 2
