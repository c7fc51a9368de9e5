"""A working directory that was deleted: programs run there as they do without the client, and are recorded."""

from pathlib import Path

import pytest

from shipworthy.sync import sync_folder
from tests.support.pipelines import run_program, token_of, told, warnings_of
from tests.support.service import RunningService

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
