"""The part of `make demo` about releases: one version ships, one is blocked by a slice, one waits for a review."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final
from urllib.request import urlopen

from demo_commands import Ahead, ahead, call

GATE: Final = "tumour-champion"
EXAMPLE: Final = "examples/release_gate.py"
WHOLE: Final = ("--split-of", "screening/tumours", "--split-method", "stratified, seed 11")
FLAWED: Final = ("3:large-mislabelled", "4:small-lost")


def candidates(folder: Path, ada: Mapping[str, str]) -> AbstractContextManager[Ahead]:
    """Training of three versions, begun as soon as `folder` holds train.csv: scikit-learn takes seconds to import."""
    return ahead(["python", EXAMPLE, "train", "--out", str(folder), "2", *FLAWED], ada)


def decide_releases(
    folder: Path,
    trained: Ahead,
    *,
    ada: Mapping[str, str],
    ben: Mapping[str, str],
    eve: Mapping[str, str],
    grace: Mapping[str, str],
) -> None:
    """Three versions at one gate. `folder` holds train.csv and validation.csv."""
    out = ["--out", str(folder)]
    for part in ("train", "validation"):
        call(["shipworthy", "snapshot", str(folder / f"{part}.csv"), "--split", part, *WHOLE], ada)
    policy = folder / "policy.yaml"
    policy.write_text(call(["python", EXAMPLE, "policy", *out], ben, secret=True).stdout, encoding="utf-8")
    call(["shipworthy", "gate", "lint", str(policy)], ben)
    call(["shipworthy", "gate", "publish", GATE, str(policy)], ben)
    trained.shown()
    versions = [name.partition(":")[0] for name in ("2", *FLAWED)]
    call(["python", EXAMPLE, "evaluate", *out, *versions, "--incumbent", "2"], eve)

    evaluate = ["shipworthy", "gate", "evaluate", "--gate", GATE]
    call([*evaluate, "tumour-screening:2"], eve, expected=3)
    reason = ["--reason", "first release, looked at it"]
    call(
        [
            "shipworthy",
            "review",
            "approve",
            last_decision(eve["SHIPWORTHY_URL"], "tumour-screening:2"),
            *reason,
        ],
        grace,
    )
    call([*evaluate, "tumour-screening:2"], eve)
    call([*evaluate, "tumour-screening:3"], eve, expected=1)
    call([*evaluate, "tumour-screening:4"], eve, expected=3)
    call(["shipworthy", "check", "tumour-screening:2", "--to", "champion"], eve)


def last_decision(url: str, version: str) -> str:
    """The id of the last one about MODEL:VERSION, as `shipworthy decision list` has it too."""
    model, _, number = version.partition(":")
    with urlopen(f"{url}/v1/models/{model}/versions/{number}/decisions?limit=1", timeout=30) as answer:
        return str(json.load(answer)["items"][0]["decision"])
