"""What a run of this process has written into its journals."""

import json
from typing import Any

import shipworthy


def lines(run: shipworthy.Run) -> list[dict[str, Any]]:
    assert shipworthy.flush(20)
    assert run.folder is not None
    return [
        json.loads(line)
        for path in sorted(run.folder.glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]


def bodies(run: shipworthy.Run, kind: str) -> list[dict[str, Any]]:
    return [each["body"] for each in lines(run) if each.get("kind") == kind]


def events(run: shipworthy.Run) -> list[dict[str, Any]]:
    return bodies(run, "run.event")


def merged_registration(run: shipworthy.Run) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for body in bodies(run, "run.registered"):
        merged |= body
    return merged
