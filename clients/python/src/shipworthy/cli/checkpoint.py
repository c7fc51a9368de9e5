"""`shipworthy checkpoint`: saved training states, and whether training can go on from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.exits import Exit
from shipworthy.cli.restoring import RESTORED_VARIABLE, Restoring, parts_of, restore
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.cli.snapshot import hash_shown
from shipworthy.cli.words import short_digest
from shipworthy.formats.manifest import manifest_digest
from shipworthy.query.client import ShipworthyClient
from shipworthy.query.results import Document

LEVELS: Final = ("checksummed", "loaded", "restore_tested")
"""What a test can show, weakest first."""
checkpoints = typer.Typer(
    help="Checkpoints: saved training states, and whether they can be restored.", no_args_is_help=True
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`level` "" means that nothing was learnt about the checkpoint."""

    level: str
    passed: bool
    detail: str

    @property
    def levels(self) -> Sequence[str]:
        """What is recorded, the last for itself: who restores has hashed and loaded, which mends what failed before."""
        return LEVELS[: LEVELS.index(self.level) + 1] if self.passed else (self.level,)

    @property
    def exit(self) -> Exit:
        if not self.level:
            return Exit.NOT_JUDGED
        return Exit.OK if self.passed and self.level == "restore_tested" else Exit.NEGATIVE


@checkpoints.callback()
def checkpoint_group() -> None:
    """Checkpoints: saved training states, and whether they can be restored."""


@checkpoints.command("restore-test")
def restore_test(
    path: Annotated[Path, typer.Argument(help="The checkpoint, a file or folder.", show_default=False)],
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- CMD…", help="Command that restores it; gets PATH last.", show_default=False
        ),
    ],
    restored: Annotated[
        str | None,
        typer.Option(metavar="PARTS", help="What CMD restores, when it does not say so: model,optimizer,…"),
    ] = None,
    timeout: Annotated[float | None, typer.Option(min=1, help="Seconds that CMD may take.")] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Restore a checkpoint by a command, and record it.

    The command is yours: it gets the path as its last argument and in SHIPWORTHY_CHECKPOINT, ends with 0 when it
    restored, and writes what to the file named by SHIPWORTHY_RESTORED: model, optimizer, scheduler, rng, data_position.

    Exit code: 0 restored, 1 it was not or not all of it, 4 nothing was learnt.
    """
    given = None if restored is None else parts_of(restored, "--restored")
    digest = manifest_digest(hash_shown(path))
    with ask(url) as client:
        # Asked first: a test of hours should not end with a digest that nobody recorded.
        expected = _contained(client.checkpoint(digest))
        done = restore(command, path, timeout)
        parts = done.restored if given is None else given
        after = manifest_digest(hash_shown(path))
        verdict = judged(done, parts, expected, digest == after)
        record = _recorded(client, digest, verdict, parts, command[0]) if verdict.level else None
    if as_json:
        print_json(_document(digest, verdict, parts, record))
    else:
        _show(digest, verdict, parts, record)
    if verdict.exit is not Exit.OK:
        raise typer.Exit(verdict.exit)


def judged(
    done: Restoring, parts: Sequence[str] | None, expected: Sequence[str], is_unchanged: bool
) -> Verdict:
    """What a command's end says about a checkpoint that is recorded to contain `expected`."""
    if not is_unchanged:
        return Verdict(
            "", False, "the command changed the checkpoint, so that nothing is known of what was saved"
        )
    if not done.is_about_the_checkpoint:
        return Verdict("", False, f"the command {done.ending}, which says nothing about the checkpoint")
    if done.status != 0:
        return Verdict("restore_tested", False, f"the command {done.ending} in {done.seconds:.1f} s")
    if not parts:
        return Verdict(
            "",
            False,
            f"the command did not say what it restored; have it write that to the file {RESTORED_VARIABLE} names, or "
            "give --restored model,optimizer",
        )
    took = f"in {done.seconds:.1f} s the command restored {', '.join(parts)}"
    missing = [part for part in expected if part not in parts]
    if missing:
        return Verdict("loaded", True, f"{took}; not restored, though it is in there: {', '.join(missing)}")
    return Verdict("restore_tested", True, took)


def _contained(found: Document) -> list[str]:
    """What whoever saved it said is in it, all savers together; a model at least."""
    said = [part for saved in found["saved_by"] for part in saved.get("contains") or ()]
    return list(dict.fromkeys(["model", *said]))


def _recorded(
    client: ShipworthyClient, digest: str, verdict: Verdict, parts: Sequence[str] | None, program: str
) -> Document:
    """The record of the highest level; the lower ones come first."""
    now = datetime.now(UTC)
    records = [
        client.record_verification(
            digest,
            level=level,
            passed=verdict.passed,
            checked_at=now,
            contains=parts or () if verdict.passed and level != LEVELS[0] else (),
            # Not its arguments, which may hold what is secret.
            method=f"shipworthy checkpoint restore-test with {Path(program).name}"[:1000],
            detail=verdict.detail,
        )
        for level in verdict.levels
    ]
    return records[-1]


def _document(
    digest: str, verdict: Verdict, parts: Sequence[str] | None, record: Document | None
) -> dict[str, Any]:
    return {
        "checkpoint": digest,
        "level": verdict.level or None,
        "outcome": ("passed" if verdict.passed else "failed") if verdict.level else "not_judged",
        "restored": list(parts or ()),
        "detail": verdict.detail,
        "record": None if record is None else record["record"],
    }


def _show(digest: str, verdict: Verdict, parts: Sequence[str] | None, record: Document | None) -> None:
    sign, style, what = {
        Exit.OK: ("✓", "good", "restore_tested"),
        Exit.NEGATIVE: ("✗", "bad", "not restore_tested"),
    }.get(verdict.exit, ("?", "weak", "not judged"))
    if verdict.passed and verdict.exit is not Exit.OK:
        what = "loaded, not restore_tested"
    output().print(Text.assemble((f"{sign} {what}", style), f"  {short_digest(digest)}  {verdict.detail}"))
    messages().print("recorded" if record is not None else "nothing was recorded", style="dim")
