"""The part of `make demo` about releases: one version ships, one is blocked by a slice, one waits for a review."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

PEOPLE: Final = {
    "ada": ("recorder",),
    "ben": ("author",),
    "eve": ("evaluator",),
    "grace": ("approver", "--groups", "model-risk"),
}
"""Who trains, writes the policy, evaluates, and approves: nobody may do two of the last three for one release."""
GATE: Final = "tumour-champion"
EXAMPLE: Final = "examples/release_gate.py"
WHOLE: Final = ("--split-of", "screening/tumours", "--split-method", "stratified, seed 11")

Call = Callable[..., "subprocess.CompletedProcess[str]"]


def make_keys(call: Call, data: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """A key for each person, made before the service starts; their tokens are not shown."""
    made = {}
    for person, roles in PEOPLE.items():
        command = ["shipworthy-server", "keys", "create", "--data", str(data), "--role", *roles]
        done = call([*command, "--owner", f"{person}@example.org"], environ, secret=True)
        made[person] = done.stdout.strip()
    return made


def decide_releases(call: Call, folder: Path, environ: Mapping[str, str], tokens: Mapping[str, str]) -> None:
    """Three versions at one gate. `folder` holds train.csv and validation.csv."""
    ada, ben, eve, grace = ({**environ, "SHIPWORTHY_TOKEN": tokens[person]} for person in PEOPLE)
    out = ["--out", str(folder)]
    for part in ("train", "validation"):
        call(["shipworthy", "snapshot", str(folder / f"{part}.csv"), "--split", part, *WHOLE], ada)
    policy = folder / "policy.yaml"
    policy.write_text(call(["python", EXAMPLE, "policy", *out], ben, secret=True).stdout, encoding="utf-8")
    call(["shipworthy", "gate", "lint", str(policy)], ben)
    call(["shipworthy", "gate", "publish", GATE, str(policy)], ben)

    def at_the_gate(version: str, *how: str, incumbent: str | None = None) -> None:
        call(["python", EXAMPLE, "train", *out, "--version", version, *how], ada)
        against = [] if incumbent is None else ["--incumbent", incumbent]
        call(["python", EXAMPLE, "evaluate", *out, "--version", version, *against], eve)

    evaluate = ["shipworthy", "gate", "evaluate", "--gate", GATE]
    at_the_gate("2")
    call([*evaluate, "tumour-screening:2"], eve, expected=3)
    decided = call(["shipworthy", "decision", "list", "--limit", "1", "--json"], grace, secret=True)
    approve = [
        "shipworthy",
        "review",
        "approve",
        _id_of(decided.stdout),
        "--reason",
        "first release, looked at it",
    ]
    call(approve, grace)
    call([*evaluate, "tumour-screening:2"], eve)
    at_the_gate("3", "--flaw", "large-mislabelled", incumbent="2")
    call([*evaluate, "tumour-screening:3"], eve, expected=1)
    at_the_gate("4", "--flaw", "small-lost", incumbent="2")
    call([*evaluate, "tumour-screening:4"], eve, expected=3)
    call(["shipworthy", "check", "tumour-screening:2", "--to", "champion"], eve)


def _id_of(listed: str) -> str:
    return str(json.loads(listed)[0]["decision"])
