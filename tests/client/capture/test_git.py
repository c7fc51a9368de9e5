"""The source revision of real repositories in every state, and of folders where git is no help."""

import os
import stat
import time
from pathlib import Path

import pytest

from models.kinds.ingredients import Code
from shipworthy.capture.git import MAX_DIFF_BYTES, CapturedCode, capture_git, without_credentials
from shipworthy.formats.digests import sha256_digest
from tests.client.capture.repositories import ENVIRONMENT, git, make_repository


def capture(folder: Path, **environ: str) -> tuple[Code, CapturedCode]:
    captured = capture_git(folder, ENVIRONMENT | environ)
    return Code.model_validate(captured.document), captured


def fake_git(folder: Path, script: str) -> str:
    """A PATH on which git is a shell script."""
    folder.mkdir()
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"


def test_clean_repository_is_named_by_commit_tree_and_address(tmp_path: Path) -> None:
    repository = make_repository(
        tmp_path / "ranking", remote="https://ada:s3cret@git.example.org/ranking.git"
    )
    code, captured = capture(repository / "src")
    assert code.commit == git(repository, "rev-parse", "HEAD")
    assert code.tree == git(repository, "rev-parse", "HEAD^{tree}")
    assert (code.path, code.dirty, code.reason) == ("src", False, None)
    assert code.repository == "https://git.example.org/ranking.git"
    assert captured.diff is None


def test_uncommitted_change_comes_as_a_diff_that_restores_it(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    (repository / "train.py").write_text("epochs = 30\n")
    (repository / "weights.bin").write_bytes(bytes(range(256)))
    git(repository, "add", "weights.bin")
    (repository / "notes.txt").write_text("not added\n")
    code, captured = capture(repository)
    assert captured.diff is not None
    assert (code.dirty, code.diff) == (True, sha256_digest(captured.diff))
    assert b"# untracked: notes.txt\n" in captured.diff
    assert b"not added" not in captured.diff

    git(tmp_path, "clone", "--quiet", str(repository), "again")
    patch = tmp_path / "change.patch"
    patch.write_bytes(captured.diff)
    git(tmp_path / "again", "apply", str(patch))
    assert (tmp_path / "again" / "train.py").read_text() == "epochs = 30\n"
    assert (tmp_path / "again" / "weights.bin").read_bytes() == bytes(range(256))


def test_untracked_files_alone_make_it_dirty(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    (repository / "new_model.py").write_text("depth = 24\n")
    code, captured = capture(repository)
    assert (code.dirty, captured.diff) == (True, b"# untracked: new_model.py\n")


def test_large_change_is_said_but_not_kept(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    (repository / "train.py").write_text("x = 1\n" * (MAX_DIFF_BYTES // 4))
    code, captured = capture(repository)
    assert code.dirty is True
    assert code.diff is None
    assert captured.diff is None
    assert code.reason is not None
    assert "over 4 MiB" in code.reason


def test_tokens_in_a_change_are_masked(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    repository = make_repository(tmp_path / "ranking")
    (repository / "train.py").write_text(f"login('{token}')\nkept = True\n")
    code, captured = capture(repository)
    assert captured.diff is not None
    assert token.encode() not in captured.diff
    assert b"+kept = True" in captured.diff
    assert code.reason is not None
    assert "masked" in code.reason


def test_bytes_of_any_encoding_survive(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    (repository / "train.py").write_bytes("größe = 1\n".encode("latin-1"))
    assert "größe".encode("latin-1") in (capture(repository)[1].diff or b"")


def test_detached_head_is_a_commit_like_any_other(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    git(repository, "checkout", "--quiet", "--detach")
    code, _ = capture(repository)
    assert code.commit == git(repository, "rev-parse", "HEAD")
    assert code.dirty is False


def test_worktree_has_its_own_commit(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    git(repository, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    (tmp_path / "other" / "train.py").write_text("epochs = 9\n")
    git(tmp_path / "other", "commit", "--quiet", "--all", "--message", "Try nine")
    code, _ = capture(tmp_path / "other")
    assert code.commit == git(tmp_path / "other", "rev-parse", "HEAD") != git(repository, "rev-parse", "HEAD")


def test_submodules_are_listed_with_their_commits(tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    repository = make_repository(tmp_path / "ranking")
    git(
        repository,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "--quiet",
        str(library),
        "deps/lib",
    )
    git(repository, "commit", "--quiet", "--message", "Add library")
    commit = git(library, "rev-parse", "HEAD")
    for place in (repository, repository / "src"):
        code, _ = capture(place)
        assert code.submodules == {"deps/lib": commit}
        assert code.dirty is False
    inside, _ = capture(repository / "deps" / "lib")
    assert inside.commit == commit
    (repository / "deps" / "lib" / "train.py").write_text("epochs = 5\n")
    assert capture(repository)[0].dirty is True


def test_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "train.py").write_text("epochs = 1\n")
    code, _ = capture(tmp_path)
    assert (code.commit, code.dirty, code.reason) == (None, True, "the repository has no commit yet")


def test_bare_repository_holds_no_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "ranking.git")
    code, _ = capture(tmp_path / "ranking.git")
    assert code.dirty is None
    assert "bare repository" in (code.reason or "")


def test_folder_outside_of_git_is_unknown(tmp_path: Path) -> None:
    code, _ = capture(tmp_path, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert code.dirty is None
    assert "not in a git repository" in (code.reason or "")


def test_missing_folder_is_unknown(tmp_path: Path) -> None:
    code, _ = capture(tmp_path / "gone")
    assert code.dirty is None
    assert "gone" in (code.reason or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file to another user needs root")
def test_repository_of_another_user_is_explained(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    for path in (repository, repository / ".git"):
        os.chown(path, 54321, 54321)
    code, _ = capture(repository)
    assert code.dirty is None
    assert f"git config --global --add safe.directory {repository}" in (code.reason or "")


def test_machine_without_git_is_unknown(tmp_path: Path) -> None:
    code, _ = capture(tmp_path, PATH=str(tmp_path))
    assert (code.dirty, code.reason) == (None, "there is no git on PATH")


def test_git_that_hangs_is_left_after_the_budget_with_all_its_helpers(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    path = fake_git(tmp_path / "bin", f"sleep 30 & echo $! >> {pids}; echo $$ >> {pids}; wait")
    started = time.monotonic()
    code, _ = capture(tmp_path, PATH=path)
    assert time.monotonic() - started < 2.5
    assert (code.dirty, code.reason) == (None, "git rev-parse did not end within 2 s")
    for pid in map(int, pids.read_text().split()):
        assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    # A killed helper may wait for init to collect it.
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.02)
    return True


def test_what_was_known_before_git_hung_is_kept(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    script = 'for word in "$@"; do [ "$word" = status ] && exec sleep 30; done; exec /usr/bin/git "$@"'
    code, _ = capture(repository, PATH=fake_git(tmp_path / "bin", script))
    assert code.commit == git(repository, "rev-parse", "HEAD")
    assert code.dirty is None
    assert code.reason == "git status did not end within 2 s"


def test_nothing_of_the_repository_is_run(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    (repository / ".gitattributes").write_text("*.py diff=custom\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "Attributes")
    (repository / "train.py").write_text("epochs = 30\n")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho run >> {tmp_path / 'ran'}\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    for name in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.custom.textconv",
        "diff.custom.command",
    ):
        git(repository, "config", name, str(trap))
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.write_text(trap.read_text())
    hook.chmod(0o755)
    code, captured = capture(repository)
    assert code.dirty is True
    assert b"+epochs = 30" in (captured.diff or b"")
    assert not (tmp_path / "ran").exists()


def test_index_is_not_written(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    index = repository / ".git" / "index"
    before = index.stat().st_mtime_ns
    # The time of a file differs from the index: plain `git status` would refresh the index now.
    os.utime(repository / "train.py", (1, 1))
    assert capture(repository)[0].dirty is False
    assert index.stat().st_mtime_ns == before


def test_variables_for_another_repository_are_not_followed(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "ranking")
    other = make_repository(tmp_path / "other")
    git(other, "commit", "--quiet", "--allow-empty", "--message", "More")
    code, _ = capture(repository, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other))
    assert code.commit == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://ada:s3cret@git.example.org/a.git", "https://git.example.org/a.git"),
        (
            "https://s3cret@git.example.org:8443/a.git?private_token=s3cret#x",
            "https://git.example.org:8443/a.git",
        ),
        ("ssh://git:s3cret@git.example.org/a.git", "ssh://git@git.example.org/a.git"),
        ("git@git.example.org:team/a.git", "git@git.example.org:team/a.git"),
        ("/srv/git/a.git", "/srv/git/a.git"),
        ("https://ada:s3cret@[broken/a.git", "https://***@[broken/a.git"),
    ],
)
def test_addresses_keep_no_credentials(address: str, kept: str) -> None:
    assert without_credentials(address) == kept
