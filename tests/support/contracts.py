"""Contracts, results and baselines as tests need them: small, complete, different only where a test says so."""

from typing import Any

import httpx

from models.actor import Actor
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from tests.support.bodies import Body, digest_of
from tests.support.histories import History
from tests.support.service import RunningService

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
{pinned}schema:
  - name: orders
    properties:
      - name: id
        logicalType: integer
        required: true
      - name: amount
        logicalType: number
        logicalTypeOptions:
          minimum: {minimum}
"""
YAML = {"Content-Type": "application/yaml"}


def make_contract(minimum: int = 0, baseline: str | None = None) -> str:
    """An ODCS document; another minimum is another contract."""
    pinned = ""
    if baseline is not None:
        pinned = f"customProperties:\n  - property: shipworthy.baseline\n    value: {baseline}\n"
    return CONTRACT.format(minimum=minimum, pinned=pinned)


def publish(client: httpx.Client, name: str = "orders", text: str | None = None) -> Body:
    answer = client.put(f"/v1/contracts/{name}", content=text or make_contract(), headers=YAML)
    assert answer.status_code in (200, 201), answer.text
    published: Body = answer.json()
    return published


def ask(client: httpx.Client, **changes: object) -> str:
    """The id of a check that was asked for."""
    body = {"contract": "orders", "root": "lake", "path": "orders/2026-05.parquet"} | changes
    answer = client.post("/v1/contract-checks", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def claim(worker: httpx.Client, **changes: object) -> Body | None:
    body = {"kinds": ["contract_check", "baseline"], "roots": ["lake"]} | changes
    answer = worker.post("/v1/work:claim", json=body)
    assert answer.status_code in (200, 204), answer.text
    return None if answer.status_code == 204 else answer.json()


def complete(worker: httpx.Client, work: Body, result: Body) -> httpx.Response:
    return worker.post(f"/v1/work/{work['id']}:complete", json={"lease": work["lease"], "result": result})


def give_up(worker: httpx.Client, work: Body, *, retry: bool) -> httpx.Response:
    error = {"code": "worker.killed", "message": "the child was killed at its memory limit", "retry": retry}
    return worker.post(f"/v1/work/{work['id']}:complete", json={"lease": work["lease"], "error": error})


def make_result(
    published: Body,
    *,
    failed: int = 0,
    manifest: str | None = None,
    asked: Body | None = None,
    check: str | None = None,
) -> Body:
    """A result of the first object of a published contract, of which the first `failed` checks failed."""
    listed = published["objects"][0]
    outcomes = ["failed"] * failed + ["passed"] * (listed["checks"] - failed)
    result = {
        "contract": {name: published[name] for name in ("name", "version", "digest", "suite_digest")},
        "object": listed["name"],
        "baseline": published["baseline"],
        "parameters": {},
        "as_of": "2026-05-01T12:00:00.000000Z",
        "data": {
            "manifest": manifest or digest_of("orders"),
            "root": "lake",
            "path": "orders/2026-05.parquet",
            "format": "parquet",
            "files": 1,
            "bytes": 4096,
            "rows": 1000,
            "schema_digest": digest_of("schema"),
            "footer_digest": None,
        },
        "engine": {"name": "duckdb", "versions": {"duckdb": "2.0.1"}},
        "started_at": "2026-05-01T12:00:01Z",
        "completed_at": "2026-05-01T12:00:02Z",
        "outcome": "failed" if failed else "passed",
        "counts": {
            "passed": listed["checks"] - failed,
            "failed": failed,
            "error": 0,
            "not_evaluated": 0,
        },
        "checks": [
            {
                "id": f"check {number}",
                "type": "expect_column_values_to_not_be_null",
                "column": "id",
                "severity": "error",
                "blocking": True,
                "outcome": outcome,
                "observed": 0.25 if outcome == "failed" else 0,
                "bound": "at most 0",
                "reason": "a quarter of the rows has no id" if outcome == "failed" else None,
            }
            for number, outcome in enumerate(outcomes)
        ],
    }
    if check is not None:
        result["check"] = check
    return result


def result_of(work: Body, published: Body, **changes: Any) -> Body:
    """The result of claimed work."""
    request = work["request"]
    result = make_result(published, check=work["id"], **changes)
    result |= {name: request[name] for name in ("object", "baseline", "parameters", "as_of")}
    result["data"] |= {"root": request["root"], "path": request["path"]}
    return result


def make_baseline(**changes: object) -> Body:
    return {
        "schema": "shipworthy.baseline/1",
        "data": {
            "manifest": digest_of("orders"),
            "schema_digest": digest_of("schema"),
            "rows": 10,
            "files": 1,
        },
        "engine": {"name": "duckdb", "version": "2.0.1"},
        "columns": [
            {
                "name": "amount",
                "kind": "number",
                "n": 10,
                "nulls": 1,
                "nans": 0,
                "bins": {"edges": [0, 0.5, 1e16], "counts": [4, 5], "below": 0, "above": 0},
                "labels": None,
                "other": 0,
                "distinct": 9,
                "quantiles": {"definition": "linear (type 7)", "values": {"0.5": 0.25}},
            },
            {
                "name": "country",
                "kind": "label",
                "n": 10,
                "nulls": 0,
                "nans": 0,
                "bins": None,
                "labels": [["NO", 7], ["Ærø", 2], [None, 1]],
                "other": 0,
                "distinct": 2,
                "quantiles": None,
            },
        ],
    } | changes


def baseline_digest(baseline: Body) -> str:
    return sha256_digest(canonicalize(baseline))


SUITE: Body = {
    "schema": "shipworthy.suite/1",
    "compiler": "1",
    "format": "odcs",
    "objects": [
        {
            "name": "orders",
            "columns": None,
            "checks": [
                {
                    "id": f"check {number}",
                    "type": "expect_column_values_to_not_be_null",
                    "kwargs": {"column": "id"},
                    "blocking": True,
                    "severity": "error",
                    "dimension": None,
                    "rule": "/schema/0/properties/0",
                    "description": None,
                    "baseline": False,
                }
                for number in range(2)
            ],
            "not_evaluated": [],
        }
    ],
    "baseline": None,
    "waived": [],
}
"""A compiled contract of two checks."""


def publish_suite(service: RunningService, author: Actor, version: int = 1, **changes: object) -> Body:
    """Publishes version n of contract "orders" as this suite, without a document to compile."""
    suite = SUITE | changes
    data = canonicalize(suite)
    for content in (data, b"document"):
        writer = service.services.blobs.writer(author.namespace, sha256_digest(content))
        writer.update(content)
        writer.commit()
    body = {
        "name": "orders",
        "version": version,
        "format": "odcs",
        "media_type": "application/yaml",
        "digest": sha256_digest(b"document"),
        "size_bytes": 8,
        "suite_digest": sha256_digest(data),
        "baseline": suite["baseline"],
        "objects": [{"name": "orders", "checks": 2, "blocking": 2, "not_evaluated": 0}],
    }
    History(service.services.ledger, service.services.ring).add(author, "contract.published", body)
    return body
