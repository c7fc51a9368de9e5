"""The source revision: repository, commit, uncommitted change. Takes two seconds at most and never raises."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from shipworthy.capture.processes import Finished, run_command
from shipworthy.capture.secret_looks import redact_values
from shipworthy.capture.texts import LINE, label, one_line, sentences
from shipworthy.formats.digests import sha256_digest
from shipworthy.values import Body, Json

BUDGET_SECONDS: Final = 2.0
MAX_DIFF_BYTES: Final = 4 * 1024 * 1024
MAX_SUBMODULES: Final = 500
MAX_UNTRACKED: Final = 1000

# Nothing of the repository's configuration may run a program, ask a question or open a connection.
_SETTINGS: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    "submodule.recurse=false",
)
_ARGUMENTS: Final = ("--no-pager", *(word for setting in _SETTINGS for word in ("-c", setting)))
_VARIABLES: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Set by git for its hooks, or by a user for another repository: they would answer for the wrong folder.
_REMOVED: Final = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "EXTERNAL_DIFF", "PAGER")
)


class CapturedCode(NamedTuple):
    """`document` is a `Code` of the service; `diff` are the bytes of the blob it names."""

    document: Body
    diff: bytes | None = None


def unknown_code(reason: str) -> CapturedCode:
    return CapturedCode({"dirty": None, "reason": reason})


def capture_git(
    folder: Path, environ: Mapping[str, str] = os.environ, budget_seconds: float = BUDGET_SECONDS
) -> CapturedCode:
    """The revision of the repository that holds `folder`. Never raises; takes at most the budget."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _REMOVED and not name.startswith("GIT_TRACE")
    }
    git = _Git(folder, kept | _VARIABLES, time.monotonic() + budget_seconds, budget_seconds)
    try:
        return _capture(git)
    except _Unknown as unknown:
        return unknown_code(str(unknown))


class _Unknown(Exception):
    """The sentence that becomes the reason."""


class _Git(NamedTuple):
    """git for one folder, with one deadline for all calls."""

    folder: Path
    environ: Mapping[str, str]
    deadline: float
    budget: float

    def run(self, *arguments: str, limit: int = 1024 * 1024) -> Finished:
        """Raises _Unknown when git can't be started or does not end in time."""
        command = ["git", "-C", str(self.folder), *_ARGUMENTS, *arguments]
        try:
            finished = run_command(command, self.environ, self.deadline, limit)
        except FileNotFoundError:
            raise _Unknown("there is no git on PATH") from None
        except (OSError, ValueError) as error:
            raise _Unknown(f"git can't be started: {error}") from None
        if finished.code is None and finished.complete:
            raise _Unknown(f"git {arguments[0]} did not end within {self.budget:g} s")
        return finished

    def text(self, *arguments: str) -> str:
        """Standard output; "" when git says no."""
        finished = self.run(*arguments)
        return finished.output.decode("utf-8", "replace").strip() if finished.code == 0 else ""


def _capture(git: _Git) -> CapturedCode:
    place = git.run("rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    if place.code != 0:
        raise _Unknown(_refusal(place.errors, git.folder))
    bare, inside = [*place.output.decode().split(), "", ""][:2]
    if bare == "true":
        raise _Unknown(f"{git.folder} is a bare repository: no files are checked out in it")
    if inside != "true":
        raise _Unknown(f"{git.folder} is inside a .git folder, not among the files of a repository")
    document: Body = {"dirty": None}
    diff: bytes | None = None
    reasons: list[str] = []
    try:
        revision = git.text("rev-parse", "HEAD", "HEAD^{tree}").split()
        for name, digits in zip(("commit", "tree"), revision, strict=False):
            if len(digits) in (40, 64) and not digits.strip("0123456789abcdef"):
                document[name] = digits
        if "commit" not in document:
            reasons.append("the repository has no commit yet")
        if prefix := one_line(git.text("rev-parse", "--show-prefix").rstrip("/")):
            document["path"] = prefix
        if repository := _repository(git):
            document["repository"] = repository
        diff = _add_change(git, document, reasons)
        _add_submodules(git, document, reasons)
    except _Unknown as unknown:
        reasons.append(str(unknown))
    if reason := sentences(reasons):
        document["reason"] = reason
    return CapturedCode(document, diff)


def _refusal(errors: str, folder: Path) -> str:
    if "dubious ownership" in errors or "unsafe repository" in errors:
        return (
            f"git does not trust {folder}, which another user owns; allow it by: "
            f"git config --global --add safe.directory {folder}"
        )
    if "not a git repository" in errors.lower():
        return f"{folder} is not in a git repository"
    return f"git refused: {one_line(redact_values(errors), 300)}"


def _repository(git: _Git) -> str | None:
    """The address of `origin`, or of the first remote; without credentials."""
    remotes: dict[str, str] = {}
    for line in git.text("config", "--get-regexp", r"^remote\..*\.url$").splitlines():
        name, _, address = line.partition(" ")
        remotes.setdefault(name, address)
    address = remotes.get("remote.origin.url") or next(iter(remotes.values()), "")
    return one_line(without_credentials(address), LINE) or None


def without_credentials(address: str) -> str:
    """The address of a remote without user, password and query; `git@host:path` and `ssh://git@…` stay."""
    if "://" not in address:
        return redact_values(address)
    try:
        parts = urlsplit(address)
    except ValueError:
        return redact_values(address)
    user, _, host = parts.netloc.rpartition("@")
    if parts.scheme in ("ssh", "git+ssh", "ssh+git") and user:
        host = f"{user.partition(':')[0]}@{host}"
    return redact_values(urlunsplit((parts.scheme, host, parts.path, "", "")))


def _add_change(git: _Git, document: Body, reasons: list[str]) -> bytes | None:
    """Says whether files differ from the commit, and returns how: names of new files, then the diff."""
    status = git.run("status", "--porcelain=v1", "-z", "--untracked-files=normal", limit=8 * 1024 * 1024)
    if status.code != 0 and status.complete:
        reasons.append(f"git status failed: {one_line(redact_values(status.errors), 300)}")
        return None
    entries = [entry for entry in status.output.decode("utf-8", "replace").split("\0") if entry]
    document["dirty"] = bool(entries)
    if not entries:
        return None
    untracked = [entry[3:] for entry in entries if entry.startswith("?? ")]
    names = "".join(f"# untracked: {one_line(name, 1024)}\n" for name in untracked[:MAX_UNTRACKED])
    if len(untracked) > MAX_UNTRACKED:
        names += f"# untracked: {len(untracked) - MAX_UNTRACKED} more\n"
    changed = b""
    if "commit" in document:
        options = ("--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short")
        finished = git.run("diff", *options, "HEAD", limit=MAX_DIFF_BYTES)
        if not finished.complete:
            reasons.append(f"the uncommitted change is over {MAX_DIFF_BYTES // 2**20} MiB and was not kept")
            return None
        if finished.code != 0:
            reasons.append(f"git diff failed: {one_line(redact_values(finished.errors), 300)}")
            return None
        changed = finished.output
    # latin-1 maps each byte to a character and back, whatever encodings the files have.
    text = changed.decode("latin-1")
    redacted = redact_values(text)
    if redacted != text:
        reasons.append("secrets in the uncommitted change were masked")
    diff = redact_values(names).encode() + redacted.encode("latin-1")
    if not diff:
        return None
    document["diff"] = sha256_digest(diff)
    return diff


def _add_submodules(git: _Git, document: Body, reasons: list[str]) -> None:
    """The commits that the index names; one that is checked out differently is in the diff."""
    top = git.text("rev-parse", "--show-toplevel")
    if not top or not os.path.exists(os.path.join(top, ".gitmodules")):
        return
    from_top = _Git(Path(top), git.environ, git.deadline, git.budget)
    listed = from_top.text("config", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    paths = [line.partition(" ")[2] for line in listed.splitlines()]
    if not paths:
        return
    if len(paths) > MAX_SUBMODULES:
        reasons.append(f"there are {len(paths)} submodules; the first {MAX_SUBMODULES} are recorded")
    submodules: dict[str, Json] = {}
    entries = from_top.run("ls-files", "--stage", "-z", "--", *paths[:MAX_SUBMODULES]).output
    for entry in entries.decode("utf-8", "replace").split("\0"):
        mode, _, rest = entry.partition(" ")
        commit, _, path = rest.partition(" ")
        if mode == "160000" and (name := one_line(path.partition("\t")[2])):
            submodules[name] = label(commit)
    document["submodules"] = submodules
