"""Head, key and proofs of the log over HTTP, checked as a stranger would: from the answers alone."""

import base64
import json
from hashlib import sha256

import httpx
import pytest

from models.keys.administration import prepare_key
from shipworthy.formats.merkle import verify_consistency, verify_inclusion
from shipworthy.formats.notes import parse_tree_head, verify_note
from tests.support.facts import digest, get, make_run, post
from tests.support.service import RunningService

LEAVES = 700
"""More than two stored tiles of 256 leaves and a part of a third."""


@pytest.fixture
def filled(service: RunningService) -> tuple[RunningService, httpx.Client]:
    client = service.client("recorder")
    services = service.services
    futures = [
        services.ledger.append(prepare_key(services.ring, namespace="team-b", roles=["reader"]).item)
        for _ in range(LEAVES)
    ]
    for future in futures:
        future.result(60)
    return service, client


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1 as it is written."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + naive_root(leaves[:split]) + naive_root(leaves[split:])).digest()


def naive_path(index: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962 section 2.1.1 as it is written."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if index < split:
        return [*naive_path(index, leaves[:split]), naive_root(leaves[split:])]
    return [*naive_path(index - split, leaves[split:]), naive_root(leaves[:split])]


def all_leaves(service: RunningService) -> list[bytes]:
    """Leaf hashes made anew from digest and kind."""
    with service.services.database.read() as session:
        rows = session.connection().exec_driver_sql("SELECT digest, kind FROM record ORDER BY position")
        return [
            sha256(b"\x00" + f'{{"d":"{named}","k":"{kind}","v":1}}'.encode()).digest()
            for named, kind in rows
        ]


def hashes(path: list[str]) -> list[bytes]:
    return [bytes.fromhex(node) for node in path]


def test_proofs_hold_against_a_tree_made_anew(filled: tuple[RunningService, httpx.Client]) -> None:
    service, client = filled
    key = client.get("/v1/log/key").text.strip()
    head = parse_tree_head(verify_note(client.get("/v1/log/checkpoint").text, [key]))
    leaves = all_leaves(service)
    assert head.size == len(leaves) > LEAVES
    assert head.root == naive_root(leaves)
    for position in (0, 1, 255, 256, 511, 512, 640, head.size - 1):
        for size in {position + 1, 513, 600, head.size}:
            if position >= size:
                continue
            proof = get(client, "/v1/log/proof/inclusion", position=position, size=size)
            path = hashes(proof["path"])
            leaf = sha256(b"\x00" + proof["leaf_entry"].encode()).digest()
            assert (proof["position"], proof["size"]) == (position, size)
            assert leaf == bytes.fromhex(proof["leaf_hash"]) == leaves[position]
            assert path == naive_path(position, leaves[:size])
            assert verify_inclusion(leaf, position, size, path, naive_root(leaves[:size]))
    for old, new in ((0, 5), (1, 700), (256, 512), (255, 700), (513, 514), (600, head.size), (700, 700)):
        proof = get(client, "/v1/log/proof/consistency", **{"from": old, "to": new})
        old_root = naive_root(leaves[:old]) if old else sha256(b"").digest()
        assert verify_consistency(old, old_root, new, naive_root(leaves[:new]), hashes(proof["path"]))


def test_record_is_proven_against_the_signed_head_of_the_same_answer(
    filled: tuple[RunningService, httpx.Client],
) -> None:
    _, client = filled
    stored = post(client, "/v1/runs", make_run(1))
    proof = get(client, "/v1/log/proof/inclusion", record=stored["record"])
    head = parse_tree_head(verify_note(proof["checkpoint"], [client.get("/v1/log/key").text.strip()]))
    assert json.loads(proof["leaf_entry"]) == {"d": stored["record"], "k": "run.registered", "v": 1}
    assert proof["position"] == stored["position"]
    leaf = bytes.fromhex(proof["leaf_hash"])
    assert verify_inclusion(leaf, proof["position"], head.size, hashes(proof["path"]), head.root)
    grown = get(client, "/v1/log/proof/consistency", **{"from": 300})
    assert grown["to"] == head.size


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("inclusion", "record"),
        (f"inclusion?record={digest(1)}&position=0", "record"),
        ("inclusion?position=99", "position"),
        ("inclusion?position=9999999999999999999999", "position"),
        ("inclusion?position=0&size=99", "size"),
        ("inclusion?position=1&size=1", "size"),
        ("inclusion?position=-1", "position"),
        ("inclusion?record=sha256:1", "record"),
        ("consistency", "from"),
        ("consistency?from=1&to=99", "to"),
        ("consistency?from=2&to=1", "from"),
        ("consistency?from=99", "from"),
    ],
)
def test_question_beyond_the_log_is_refused(sqlite_service: RunningService, query: str, field: str) -> None:
    client = sqlite_service.client()
    sqlite_service.client()
    response = client.get(f"/v1/log/proof/{query}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == f"/query/{field}"


def test_record_of_another_namespace_is_not_found(sqlite_service: RunningService) -> None:
    stored = post(sqlite_service.client("recorder", namespace="team-b"), "/v1/runs", make_run(1))
    client = sqlite_service.client(namespace="team-a")
    assert client.get(f"/v1/log/proof/inclusion?record={stored['record']}").status_code == 404
    leaf = get(client, "/v1/log/proof/inclusion", position=stored["position"])["leaf_entry"]
    assert set(json.loads(leaf)) == {"d", "k", "v"}


def test_key_line_holds_the_public_key(sqlite_service: RunningService) -> None:
    name, _, encoded = sqlite_service.client().get("/v1/log/key").text.strip().split("+", 2)
    assert name.startswith("shipworthy/log/")
    public_key = sqlite_service.services.ring.log_key.public_key().public_bytes_raw()
    assert base64.b64decode(encoded) == b"\x01" + public_key
