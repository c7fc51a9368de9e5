"""`shipworthy verify PATH`: on the extra `verify` alone, without a service and without a network."""

import argparse
import importlib.util
import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from shipworthy.cli.exits import Exit
from shipworthy.errors import UsageError
from shipworthy.formats.times import parse_instant
from shipworthy.verifying.outcome import Report, VerificationFailed, Verified
from shipworthy.verifying.verify import artifact_digest
from shipworthy.verifying.verify import verify as verify_bundle

_HEADINGS = {
    Verified.FORGED: "FORGED OR DAMAGED",
    Verified.NOT_ACCEPTED: "NOT ACCEPTED",
    Verified.INCOMPLETE: "INCOMPLETE",
}


def verify(arguments: list[str]) -> int:
    """Raises UsageError for a time that is none and a pin that is no text, for main() to tell."""
    given = _parser().parse_args(arguments)
    if importlib.util.find_spec("cryptography") is None:
        raise UsageError(
            "checking signatures needs cryptography; install it with: pip install 'shipworthy[verify]'"
        )
    now = _time(given.at)
    try:
        pin = _pinned(given.pin)
        evidence, trusted = _bytes(given.evidence, "--evidence"), _bytes(given.trust, "--trust")
        artifact = artifact_digest(given.path)
        report, head = verify_bundle(
            artifact, evidence, trusted, now, pin, model=given.model, target=given.to
        )
    except VerificationFailed as failed:
        _say_failed(failed, as_json=given.json)
        return failed.outcome
    if given.pin is not None:
        _keep(given.pin, head)
    _say(report, as_json=given.json)
    return Exit.OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shipworthy verify",
        description="Prove offline that these files were allowed to ship: by whom, on which evidence, until when.",
        epilog="Exit codes: 0 proven, 2 forged or damaged, 3 genuine but not trusted or not a pass now, "
        "4 something needed is missing.",
    )
    parser.add_argument("path", type=Path, help="the model: the file or folder whose digest was decided on")
    parser.add_argument(
        "--evidence",
        type=Path,
        required=True,
        metavar="BUNDLE",
        help="what `shipworthy decision bundle` fetched",
    )
    parser.add_argument(
        "--trust",
        type=Path,
        required=True,
        metavar="FILE",
        help="the keys you trust, as `shipworthy trust` fetches them",
    )
    parser.add_argument(
        "--pin",
        type=Path,
        metavar="FILE",
        help="the log's last head you saw; made at the first use, then moved on",
    )
    parser.add_argument("--model", metavar="NAME", help="take a pass of this model only")
    parser.add_argument("--to", metavar="TARGET", help="take a pass to this alias or stage only")
    parser.add_argument("--at", metavar="TIME", help="judge as of this time (RFC 3339) and not now")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    return parser


def _time(text: str | None) -> datetime:
    try:
        return datetime.now(UTC) if text is None else parse_instant(text)
    except ValueError as error:
        raise UsageError(f"--at: {error}") from error


def _bytes(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        # No exit code 2, which is said of what was forged.
        sentence = f"{option} {path} can't be read: {error.strerror}"
        raise VerificationFailed(Verified.INCOMPLETE, sentence) from error


def _pinned(path: Path | None) -> str | None:
    """An absent file is the first use; one that is there but no text would be no pin, so it is refused."""
    if path is None or not path.exists():
        return None
    try:
        return _bytes(path, "--pin").decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--pin {path} is not a signed head; it is made by an earlier run of this command"
        ) from error


def _keep(path: Path, head: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(head, encoding="utf-8")
    temporary.replace(path)


def _say(report: Report, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"outcome": "proven", **asdict(report)}, indent=2) + "\n")
        return
    lines = [f"PROVEN: {report.model} may go to {report.target}", *(f"  ✓ {each}" for each in report.proven)]
    lines += ["Not proven by these files:", *(f"  - {each}" for each in report.not_proven)]
    sys.stdout.write("\n".join(lines) + "\n")


def _say_failed(failed: VerificationFailed, *, as_json: bool) -> None:
    if as_json:
        document = {
            "outcome": failed.outcome.name.lower(),
            "code": int(failed.outcome),
            "why": failed.sentence,
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        sys.stdout.write(f"{_HEADINGS[failed.outcome]}: {failed.sentence}\n")
