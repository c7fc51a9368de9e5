"""What is sealed about a version: proofs, revisions and their reasons."""

from typing import Any

import httpx

from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import leaf_hash, verify_inclusion
from shipworthy.formats.notes import parse_tree_head, verify_note
from tests.lineage.chains import chain, digest, lineage, post, register, run_id


def test_lineage_proof_verifies_offline_against_the_signed_head(client: httpx.Client) -> None:
    chain(client, 3)
    proof = lineage(client, proof=True, depth=5)["proof"]
    key = client.get("/v1/log/key").text.strip()
    head = parse_tree_head(verify_note(proof["checkpoint"], [key]))
    assert {entry["kind"] for entry in proof["records"]} == {"run.registered", "model_version"}
    for entry in proof["records"]:
        leaf = leaf_hash(leaf_entry(entry["record"], entry["kind"]))
        path = [bytes.fromhex(step) for step in entry["path"]]
        assert verify_inclusion(leaf, entry["position"], head.size, path, head.root)


def test_manifest_revision_names_reason_author_and_the_digest_before(client: httpx.Client) -> None:
    register(client, 1, reads=0, writes=1)
    post(
        client,
        "/v1/model-versions",
        {"model": "fraud", "version": "1", "artifact": digest(1), "run_id": run_id(1)},
    )
    first = lineage(client)["manifest"]
    unchanged = {"type": "note", "text": "looks good", "at": "2026-05-01T13:00:00Z"}
    post(client, f"/v1/runs/{run_id(1)}/events", unchanged)
    assert lineage(client)["manifest"] == first
    post(client, f"/v1/runs/{run_id(1)}/artifacts", {"digest": digest(5), "role": "tokenizer"})
    second = lineage(client)["manifest"]
    assert second["revision"] == 2
    document = client.get(f"/v1/lineage-manifests/{second['digest']}").json()
    assert document["previous"] == first["digest"]
    assert document["reason"] == "artifact recorded"
    assert made_of(client, document) == ["model", "tokenizer"]
    original = client.get(f"/v1/lineage-manifests/{first['digest']}").json()
    assert made_of(client, original) == ["model"]


def made_of(client: httpx.Client, manifest: dict[str, Any]) -> list[str]:
    """Roles of the artifacts in what a manifest says its version is made of."""
    document = client.get(f"/v1/ingredients/{manifest['made_of']}").json()
    return [made["role"] for made in document["artifacts"]]
