"""Folders that were deleted, of the work or of the journal: programs run as they do without the client, and are
recorded."""

from pathlib import Path

import pytest

from shipworthy.sync import sync_folder
from tests.support.pipelines import run_program, token_of, told, warnings_of
from tests.support.service import RunningService
from tests.support.weather import closed_port

GONE = """
    import os, pathlib, sys
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
"""


@pytest.mark.parametrize("capture", [True, False])
def test_training_without_a_working_directory_is_recorded(
    capture: bool, tmp_path: Path, sqlite_service: RunningService
) -> None:
    (tmp_path / "spare").mkdir()
    source = f"""{GONE}
    import shipworthy
    with shipworthy.run("gone/train", capture={capture}) as run:
        run.log(step=1, loss=1.0)
        run.checkpoint("nothing.pt", step=1)
    print(run.id)
    """
    done = run_program(source, tmp_path, {"TMPDIR": str(tmp_path / "spare")})
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    warned, *_, kept = warnings_of(done)
    assert warned.startswith(".shipworthy can't be written (No such file or directory); the journal is in ")
    (folder,) = (tmp_path / "spare").iterdir()
    assert kept.endswith(f"shipworthy sync {folder}")
    client = sqlite_service.client("recorder")
    sync_folder(folder, sqlite_service.url, token_of(client))
    assert told(client, done.stdout.strip()).steps() == [1]


def test_program_under_exec_runs_without_a_working_directory(tmp_path: Path) -> None:
    source = f"""{GONE}
    sys.argv[1:] = ["exec", "--", "sh", "-c", "exit 7"]
    from shipworthy.cli.main import app
    app()
    """
    done = run_program(source, tmp_path, {"TMPDIR": str(tmp_path)})
    assert (done.returncode, "Traceback" in done.stderr) == (7, False)


@pytest.mark.parametrize("sent", [True, False])
def test_journal_that_was_deleted_is_begun_anew(
    sent: bool, tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = f"""
        import shutil, shipworthy
        with shipworthy.run("gone/journal", capture=False) as run:
            run.log(step=1, loss=1.0)
            assert shipworthy.flush(20) is {sent}
            shutil.rmtree(".shipworthy")
            assert shipworthy.flush(3) is {sent}
            for step in range(2, 50):
                run.log(step=step, loss=1.0)
            run.note("after")
        print(run.id, shipworthy.flush(20))
    """
    client = sqlite_service.client("recorder")
    url = sqlite_service.url if sent else f"http://127.0.0.1:{closed_port()}"
    done = run_program(source, tmp_path, {"SHIPWORTHY_URL": url, "SHIPWORTHY_TOKEN": token_of(client)})
    assert done.returncode == 0
    run_id, flushed = done.stdout.split()
    assert flushed == str(sent)
    assert sum("was deleted; what was not sent of it is lost" in each for each in warnings_of(done)) == 1
    if not sent:
        sync_folder(tmp_path / ".shipworthy", sqlite_service.url, token_of(client))
    found = told(client, run_id)
    assert found.steps() == list(range(1 if sent else 2, 50))
    assert (found.notes(), found.states()) == (["after"], ["completed"])


def test_journal_that_was_moved_is_not_said_to_be_sent(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
        import os, shipworthy
        with shipworthy.run("gone/moved", capture=False) as run:
            run.log(step=1, loss=1.0)
            assert shipworthy.flush(20)
            os.rename(".shipworthy", "moved")
            assert shipworthy.flush(20)
            run.log(step=2, loss=1.0)
            print(run.id, shipworthy.flush(2))
    """
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(source, tmp_path, variables)
    run_id, flushed = done.stdout.split()
    assert (done.returncode, flushed) == (0, "False")
    assert "was moved or deleted before it was sent" in done.stderr
    sync_folder(tmp_path / "moved", sqlite_service.url, token_of(client))
    found = told(client, run_id)
    assert (found.steps(), found.states()) == ([1, 2], ["completed"])


def test_arguments_of_a_wrong_type_do_not_end_the_training(tmp_path: Path) -> None:
    source = """
        import shipworthy
        for wrong in ({"dir": 5}, {"url": 5}, {"token": 5}):
            with shipworthy.run("gone/wrong", capture=False, **wrong) as run:
                run.log(step=1, loss=1.0)
        print("done")
    """
    done = run_program(source, tmp_path, {})
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "Traceback" not in done.stderr
