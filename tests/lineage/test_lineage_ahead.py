"""The next level is read along with the one that is asked about: that changes the price of an answer, nothing else."""

import random

import httpx
import pytest

from models.lineage import traversal
from tests.lineage.chains import digest, post, run_id

RUNS = 30
DIGESTS = 24
"""Fewer than runs: some are written by several, some read and written in a circle."""


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_the_same_however_far_a_statement_looks_ahead(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    for number in range(1, RUNS + 1):
        read = chance.sample(range(DIGESTS), k=chance.choice((1, 1, 2, 4)))
        written = chance.sample(range(DIGESTS), k=chance.choice((0, 1, 1, 2)))
        body = {
            "run_id": run_id(number),
            "job": {"namespace": "fraud", "name": "train"},
            "inputs": [{"role": f"part-{each}", "digest": digest(each)} for each in read],
            "artifacts": [{"digest": digest(each)} for each in written],
        }
        post(client, "/v1/runs", body)
    deeper = 0
    for number in range(1, RUNS + 1, 3):
        for depth in range(7):
            answers = []
            for ahead in (0, 1, 3, traversal.AHEAD, 1000):
                monkeypatch.setattr(traversal, "AHEAD", ahead)
                response = client.get(f"/v1/runs/{run_id(number)}/lineage", params={"depth": depth})
                assert response.status_code == 200, response.text
                answers.append(response.json())
                monkeypatch.undo()
            assert all(answer == answers[0] for answer in answers), (number, depth)
            deeper += len(answers[0]["runs"]) > 3
    assert deeper > 20
