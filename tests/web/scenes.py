"""A contract, checks of it with all four outcomes and with drift, and a browser that is signed in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from models.actor import Actor, EvidenceLevel, Role
from models.keys.administration import CreatedKey, create_key, revoke_key
from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize
from tests.support.bodies import Body, digest_of
from tests.support.contracts import ask, claim, complete
from tests.support.histories import History
from tests.support.service import NO_CERTIFICATES, RunningService

HTML: Final = {"Accept": "text/html"}
HOSTILE: Final = ("<img src=x onerror=alert(1)>", "javascript:alert(1)", "safe\u202egpj.exe")
"""Names that would run, lead away, or read backwards; the last only where a record takes it."""

_TYPES: Final = (
    ("expect_column_values_to_not_be_null", "pickup_at"),
    ("expect_column_values_to_not_be_null", "dropoff_at"),
    ("expect_column_values_to_not_be_null", "vendor_id"),
    ("expect_no_nan", "trip_distance"),
    ("expect_no_nan", "fare_amount"),
    ("expect_column_values_to_be_between", "trip_distance"),
    ("expect_column_values_to_be_between", "fare_amount"),
    ("expect_int64_values_to_be_between", "passenger_count"),
    ("expect_column_values_to_be_in_set", "rate_code_id"),
    ("expect_composite_key_to_be_unique", None),
    ("expect_age_to_be_at_most", "pickup_at"),
    ("expect_row_count_at_least_one", None),
    ("expect_row_count_change_to_be_between", None),
    ("expect_schema_to_match", None),
    ("expect_population_stability_index_to_be_at_most", "trip_distance"),
    ("expect_label_shares_to_match_baseline", "payment_type"),
    ("expect_null_share_to_be_at_most", "payment_type"),
    ("expect_quantiles_to_be_between", "fare_amount"),
)


def make_checks() -> list[Body]:
    """Eighteen passed checks."""
    return [
        {
            "id": f"{kind.removeprefix('expect_')}:{column or 'table'}",
            "type": kind,
            "column": column,
            "severity": "error",
            "blocking": True,
            "dimension": "completeness" if "null" in kind else None,
            "rule": f"/schema/0/properties/{place}",
            "outcome": "passed",
            "observed": 10_000 if column is None else 0.0,
            "bound": "at least 1" if column is None else "at most 0",
            "rows": 10_000,
            "unexpected": 0,
            "nulls": 0,
            "reason": None,
        }
        for place, (kind, column) in enumerate(_TYPES)
    ]


def with_trouble(checks: Sequence[Body]) -> list[Body]:
    """The lockdown month: two failed, one in error, one not evaluated, one failed that blocks nothing."""
    changed = [dict(check) for check in checks]
    changed[14] |= {
        "outcome": "failed",
        "blocking": False,
        "severity": "warning",
        "observed": 0.241,
        "bound": "at most 0.2",
        "reason": "trip_distance has drifted: PSI 0.241, at most 0.2 is allowed",
        "histogram": {
            "edges": [0.0, 0.7, 1.1, 1.5, 2.1, 3.2, 5.4, 90.0],
            "baseline": [0, 1400, 1450, 1420, 1500, 1430, 1400, 1400, 0],
            "observed": [0, 2600, 1700, 1300, 1250, 1100, 1050, 990, 10],
        },
    }
    changed[15] |= {
        "outcome": "failed",
        "observed": 0.182,
        "bound": "at most 0.05 difference of any share",
        "reason": "The share of “Cash” in payment_type went from 28.4 % to 46.6 %, at most 5 points are allowed.",
        "histogram": {
            "labels": ["Credit card", "Cash", "No charge", "Dispute"],
            "baseline": [7030, 2840, 90, 40],
            "observed": [5130, 4660, 140, 70],
        },
    }
    changed[16] |= {
        "outcome": "failed",
        "observed": 0.1237,
        "bound": "at most 0.01",
        "unexpected": 1_237,
        "nulls": 1_237,
        "reason": "12.4 % of the rows have no payment_type, at most 1 % may",
    }
    changed[17] |= {
        "outcome": "error",
        "observed": None,
        "bound": "0.5 between 8 and 12",
        "reason": "the column holds text, and quantiles need numbers; mend its type or take the rule back",
    }
    changed[10] |= {
        "outcome": "not_evaluated",
        "observed": None,
        "bound": "at most 40 days",
        "reason": "the time zone of pickup_at is not declared, so its age is not known",
    }
    return changed


def make_suite(checks: Sequence[Body], **changes: object) -> Body:
    compiled = [
        {
            "id": check["id"],
            "type": check["type"],
            "kwargs": {"column": check["column"], "max": 0.01} if check["column"] else {"min_ratio": 0.5},
            "blocking": check["blocking"],
            "severity": check["severity"],
            "dimension": check["dimension"],
            "rule": check["rule"],
            "description": None,
            "baseline": False,
        }
        for check in checks
    ]
    columns = [{"name": "vendor_id", "types": ["int64"], "nullable": True, "fields": []}]
    one: Body = {"name": "trips", "columns": columns, "checks": compiled, "not_evaluated": []}
    return {
        "schema": "shipworthy.suite/1",
        "compiler": "1",
        "format": "odcs",
        "objects": [one | changes],
        "baseline": None,
        "waived": [],
    }


def worst_of(checks: Sequence[Mapping[str, Any]]) -> str:
    found = {check["outcome"] for check in checks if check["blocking"]}
    return next((each for each in ("error", "failed", "not_evaluated") if each in found), "passed")


@dataclass
class Scene:
    """Somebody who publishes and asks, a worker, and the keys made for people."""

    service: RunningService
    namespace: str = "team-a"
    author: Actor = field(init=False)
    recorder: httpx.Client = field(init=False)
    worker: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        key = self.key("author")
        self.author = Actor(
            key_id=key.key_id,
            namespace=self.namespace,
            roles=frozenset({Role.AUTHOR}),
            level=EvidenceLevel.SELF_REPORTED,
        )
        self.recorder = self.service.client("recorder", namespace=self.namespace)
        self.worker = self.service.client("worker", namespace=self.namespace)

    def key(self, *roles: str) -> CreatedKey:
        services = self.service.services
        return create_key(services.ledger, services.ring, namespace=self.namespace, roles=roles or ["reader"])

    def revoke(self, key: CreatedKey) -> None:
        services = self.service.services
        revoke_key(services.ledger, key.key_id, namespace=self.namespace, reason="lost")
        services.authenticator.forget(key.key_id)

    def publish(self, name: str = "taxi-trips", suite: Body | None = None, version: int = 1) -> Body:
        """A contract as if it had been compiled from a document."""
        suite = suite or make_suite(make_checks())
        data = canonicalize(suite)
        for content in (data, b"document"):
            writer = self.service.services.blobs.writer(self.namespace, sha256_digest(content))
            writer.update(content)
            writer.commit()
        objects = [
            {
                "name": each["name"],
                "checks": len(each["checks"]),
                "blocking": sum(check["blocking"] for check in each["checks"]),
                "not_evaluated": len(each["not_evaluated"]),
            }
            for each in suite["objects"]
        ]
        body = {
            "name": name,
            "version": version,
            "format": "odcs",
            "media_type": "application/yaml",
            "digest": sha256_digest(b"document"),
            "size_bytes": 8,
            "suite_digest": sha256_digest(data),
            "baseline": suite["baseline"],
            "objects": objects,
        }
        services = self.service.services
        History(services.ledger, services.ring).add(self.author, "contract.published", body)
        return body

    def ask(self, name: str = "taxi-trips", path: str = "green/2020-04.parquet") -> str:
        return ask(self.recorder, contract=name, root="taxi", path=path)

    def claim(self) -> Body:
        work = claim(self.worker, roots=["taxi"])
        assert work is not None
        return work

    def progress(self, work: Body, done: int, total: int, text: str) -> None:
        sent = {"lease": work["lease"], "progress": {"done": done, "total": total, "text": text}}
        answer = self.worker.post(f"/v1/work/{work['id']}:renew", json=sent)
        assert answer.status_code == 200, answer.text

    def finish(self, work: Body, published: Body, checks: Sequence[Body], **changes: object) -> str:
        """Hands in a result; the digest of its record."""
        request = work["request"]
        counts = {
            outcome: sum(check["outcome"] == outcome for check in checks)
            for outcome in ("passed", "failed", "error", "not_evaluated")
        }
        result = {
            "check": work["id"],
            "contract": {name: published[name] for name in ("name", "version", "digest", "suite_digest")},
            "object": request["object"],
            "baseline": request["baseline"],
            "parameters": request["parameters"],
            "as_of": request["as_of"],
            "data": {
                "manifest": digest_of(request["path"]),
                "root": request["root"],
                "path": request["path"],
                "format": "parquet",
                "files": 1,
                "bytes": 314_159,
                "rows": 10_000,
                "schema_digest": digest_of("schema"),
                "footer_digest": None,
            },
            "engine": {"name": "duckdb", "versions": {"duckdb": "2.0.1", "great_expectations": "1.24.1"}},
            "started_at": "2026-05-01T12:00:01.000Z",
            "completed_at": "2026-05-01T12:00:01.412Z",
            "outcome": worst_of(checks),
            "counts": counts,
            "checks": list(checks),
        }
        answer = complete(self.worker, work, result | changes)
        assert answer.status_code == 200, answer.text
        record: str = answer.json()["record"]
        return record

    def checked(self, published: Body, checks: Sequence[Body], path: str = "green/2020-04.parquet") -> str:
        """The id of a check that was asked for and done."""
        id = self.ask(published["name"], path)
        self.finish(self.claim(), published, checks)
        return id

    def browser(self, key: CreatedKey | None = None) -> httpx.Client:
        """A client that signed in by the form, as a person does; its cookie is all it has."""
        client = httpx.Client(base_url=self.service.url, headers=HTML, timeout=30, verify=NO_CERTIFICATES)
        self.service.closing.enter_context(client)
        answer = sign_in(client, (key or self.key()).token)
        assert answer.status_code == 303, answer.text
        return client


def form_token(page: httpx.Response) -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]{64})"', page.text)
    assert found is not None, page.text
    return found[1]


def sign_in(client: httpx.Client, token: str, **fields: str) -> httpx.Response:
    form = client.get("/login")
    return client.post("/login", data={"form_token": form_token(form), "key": token, "next": "/"} | fields)
