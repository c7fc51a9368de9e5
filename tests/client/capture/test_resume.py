"""The run of a checkpoint and the number of the attempt that goes on from it."""

from pathlib import Path

import pytest

from shipworthy.capture.resume import Resumed, attempt_number, note_path, recall, remember, restart_count
from shipworthy.identity import new_run_id


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "ckpt" / "600"
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(b"weights")
    return folder


def test_next_attempt_goes_on_with_the_run(checkpoint: Path) -> None:
    run_id = new_run_id()
    assert remember(checkpoint, run_id, 1)
    assert recall(checkpoint) == Resumed(run_id, 2)


def test_checkpoint_itself_is_left_as_it_is(checkpoint: Path) -> None:
    remember(checkpoint, new_run_id(), 1)
    assert [path.name for path in checkpoint.iterdir()] == ["model.bin"]
    note = note_path(checkpoint)
    assert note == checkpoint.parent / "600.shipworthy.json"
    assert note.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in checkpoint.parent.iterdir()) == ["600", "600.shipworthy.json"]


def test_attempts_that_wrote_no_checkpoint_count(checkpoint: Path) -> None:
    run_id = new_run_id()
    remember(checkpoint, run_id, 1)
    for expected in (2, 3, 4):
        resumed = recall(checkpoint)
        assert resumed == Resumed(run_id, expected)
        remember(checkpoint, run_id, expected)


def test_slower_ranks_of_one_launch_are_the_same_attempt(checkpoint: Path) -> None:
    run_id = new_run_id()
    remember(checkpoint, run_id, 1, launch="monday")
    assert recall(checkpoint, launch="tuesday") == Resumed(run_id, 2)
    remember(checkpoint, run_id, 2, launch="tuesday")
    assert recall(checkpoint, launch="tuesday") == Resumed(run_id, 2)
    assert recall(checkpoint, launch="wednesday") == Resumed(run_id, 3)


def test_folder_of_checkpoints_means_the_newest(checkpoint: Path) -> None:
    import os

    older, newer = new_run_id(), new_run_id()
    remember(checkpoint, newer, 2)
    remember(checkpoint.parent / "500.pt", older, 1)
    os.utime(note_path(checkpoint.parent / "500.pt"), (1, 1))
    assert recall(checkpoint.parent) == Resumed(newer, 3)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"run_id": 5, "attempt": 1}', '{"run_id": "../../x", "attempt": 1}', "\xff" * 10_000]
    + [
        f'{{"run_id": "01970000-0000-7000-8000-000000000001", "attempt": {n}}}'
        for n in ("0", "true", "1e3", "100001")
    ],
)
def test_what_is_no_note_is_passed_over(checkpoint: Path, content: str) -> None:
    note_path(checkpoint).write_text(content, encoding="latin-1")
    assert recall(checkpoint) is None


def test_nothing_there_is_nothing_to_resume(tmp_path: Path) -> None:
    assert recall(tmp_path / "gone") is None
    assert recall(tmp_path) is None


def test_folder_that_takes_no_note_is_said(tmp_path: Path) -> None:
    assert remember(tmp_path / "gone" / "600", new_run_id(), 1) is False


@pytest.mark.parametrize(
    ("environ", "count"),
    [
        ({}, 0),
        ({"SLURM_RESTART_COUNT": "2"}, 2),
        ({"TORCHELASTIC_RESTART_COUNT": "1"}, 1),
        ({"SLURM_RESTART_COUNT": "1", "TORCHELASTIC_RESTART_COUNT": "3"}, 4),
        ({"JOBSET_RESTART_ATTEMPT": "5"}, 5),
        ({"LSB_RESTART": "Y"}, 1),
        ({"LSB_RESTART": "N", "SLURM_RESTART_COUNT": "many"}, 0),
    ],
)
def test_restarts_are_those_the_launcher_counts(environ: dict[str, str], count: int) -> None:
    assert restart_count(environ) == count
    assert attempt_number(environ) == count + 1


def test_attempt_is_the_later_of_launcher_and_checkpoint() -> None:
    resumed = Resumed(new_run_id(), 3)
    assert attempt_number({}, resumed) == 3
    assert attempt_number({"SLURM_RESTART_COUNT": "6"}, resumed) == 7
