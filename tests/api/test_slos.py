"""Definitions in versions that never change, what is refused of them, and what is left out of count."""

import json

import pytest

from shipworthy.formats.digests import sha256_digest
from tests.support.calls import assert_refused, log_size
from tests.support.facts import get, get_all
from tests.support.service import RunningService
from tests.support.slos import JSON, NAME, SloScene, make_slo

YAML = {"Content-Type": "application/yaml"}


@pytest.fixture
def scene(service: RunningService) -> SloScene:
    return SloScene(service)


@pytest.fixture
def sqlite_scene(sqlite_service: RunningService) -> SloScene:
    return SloScene(sqlite_service)


def test_definition_is_kept_byte_for_byte_and_versions_are_counted(scene: SloScene) -> None:
    first, second = make_slo(), make_slo(target=0.95)
    made = scene.published(first)
    assert (made["version"], made["digest"], made["target"]) == (1, sha256_digest(first), "0.9")
    again = scene.publish(first)
    assert (again.status_code, again.json()["created"], again.json()["record"]) == (
        200,
        False,
        made["record"],
    )
    assert scene.published(second)["version"] == 2
    back = scene.published(first)
    assert (back["version"], back["document_digest"]) == (3, made["document_digest"])
    for version, document in ((1, first), (2, second), (3, first)):
        raw = scene.reader.get(f"/v1/slos/{NAME}/versions/{version}", params={"raw": 1})
        assert raw.content == document
    assert [each["version"] for each in get_all(scene.reader, f"/v1/slos/{NAME}/versions", limit=2)] == [
        3,
        2,
        1,
    ]
    (listed,) = get_all(scene.reader, "/v1/slos", team="risk")
    assert (listed["version"], listed["objective"], "definition" in listed) == (3, "deadline", False)
    assert get_all(scene.reader, "/v1/slos", team="another") == []
    record = get(scene.reader, f"/v1/records/{made['record']}")
    assert record["body"]["definition"] == json.loads(first)


def test_published_yaml_is_the_document_that_it_says(sqlite_scene: SloScene) -> None:
    as_yaml = json.dumps(json.loads(make_slo()), indent=2).encode()
    made = sqlite_scene.author.put(f"/v1/slos/{NAME}", content=b"# ours\n" + as_yaml, headers=YAML)
    assert made.status_code == 201, made.text
    assert made.json()["document_digest"] == _linted(sqlite_scene, make_slo())["document_digest"]


def _linted(scene: SloScene, document: bytes) -> dict[str, object]:
    answer = scene.author.post("/v1/slos:lint", content=document, headers=JSON)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (make_slo(onMissing=None), "onMissing"),
        (make_slo(target=1.0), "Invariant"),
        (make_slo(starts="2026-01-01"), "backfilled"),
        (make_slo().replace(b'{"team": "risk"}', b"{}"), "team"),
        (make_slo().replace(b'"Etc/UTC", "within"', b'"Mars/Olympus", "within"'), "Mars/Olympus"),
        (make_slo(expect={"schedule": "business_days", "timeZone": "Etc/UTC", "by": 123000}), "by"),
        (make_slo(grace="P1Y"), "grace"),
        (b"", "empty"),
    ],
)
def test_bad_definition_is_refused_with_the_line_and_nothing_is_stored(
    sqlite_scene: SloScene, document: bytes, said: str
) -> None:
    size = log_size(sqlite_scene.reader)
    refused = sqlite_scene.author.put(f"/v1/slos/{NAME}", content=document, headers=YAML)
    assert_refused(refused, 422, "invalid_input", said)
    assert refused.json()["detail"].startswith("line ")
    linted = sqlite_scene.author.post("/v1/slos:lint", content=document, headers=YAML).json()
    assert linted["ok"] is False
    assert log_size(sqlite_scene.reader) == size


def test_definition_is_published_under_its_own_name(sqlite_scene: SloScene) -> None:
    refused = sqlite_scene.publish(make_slo(), "another")
    assert_refused(refused, 422, "invalid_input", "/metadata/name")
    csv = sqlite_scene.author.put(
        f"/v1/slos/{NAME}", content=make_slo(), headers={"Content-Type": "text/csv"}
    )
    assert_refused(csv, 422, "invalid_input", "application/yaml")
    assert_refused(sqlite_scene.reader.get(f"/v1/slos/{NAME}"), 404, "not_found", "GET /v1/slos")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"reason": "x"}, "`windows`"),
        ({"from": "2026-01-01T00:00:00Z", "reason": "x"}, "one end"),
        ({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z", "reason": "x"}, "before it begins"),
        ({"from": "2026-01-01T00:00:00", "to": "2026-01-02T00:00:00", "reason": "x"}, "zone"),
        ({"windows": ["nightly/2020-01-01"], "reason": "x"}, "/windows/0"),
        ({"windows": ["nightly/2020-01-01"]}, "/reason"),
    ],
)
def test_exclusion_says_what_it_leaves_out_and_why(
    sqlite_scene: SloScene, body: dict[str, object], said: str
) -> None:
    sqlite_scene.published(make_slo())
    refused = sqlite_scene.approver.post(f"/v1/slos/{NAME}/exclusions", json=body)
    assert_refused(refused, 422, "invalid_input", said)


def test_exclusions_that_overlap_are_refused_and_all_are_listed(scene: SloScene) -> None:
    scene.published(make_slo())
    path = f"/v1/slos/{NAME}/exclusions"
    span = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z", "reason": "moved house"}
    made = scene.record(path, span, scene.approver)
    assert scene.record(path, span, scene.approver)["record"] == made["record"]
    other = span | {"from": "2026-01-02T12:00:00Z", "to": "2026-01-05T00:00:00Z"}
    assert_refused(scene.approver.post(path, json=other), 422, "invalid_input", "overlaps", made["record"])
    after = scene.record(path, span | {"from": span["to"], "to": "2026-01-05T00:00:00Z"}, scene.approver)
    listed = get_all(scene.reader, path, limit=1)
    assert [each["record"] for each in listed] == [after["record"], made["record"]]
    assert_refused(scene.approver.post("/v1/slos/nothing/exclusions", json=span), 404, "not_found")


def test_another_tenant_sees_nothing_of_it(scene: SloScene) -> None:
    scene.published(make_slo(**scene.past))
    scene.judged()
    id = scene.listed()[-1]["id"]
    stranger = scene.service.client("reader", namespace="team-b")
    for path in (f"/v1/slos/{NAME}", f"/v1/slos/{NAME}/windows", f"/v1/slos/{NAME}/windows/{id}"):
        assert_refused(stranger.get(path), 404, "not_found")
    assert get(stranger, "/v1/slo-report")["slos"] == []
    assert "nightly" not in stranger.get("/metrics").text
    assert "nightly" in scene.reader.get("/metrics").text


def test_heartbeats_name_a_source_and_an_interval(sqlite_scene: SloScene) -> None:
    told = sqlite_scene.record(
        "/v1/sources/airflow/prod/heartbeats".replace("/prod", ""), {"interval_seconds": 60}
    )
    assert told["alive_until"] > told["received_at"]
    for name, body in (("airflow", {"interval_seconds": 1}), ("air flow", {"interval_seconds": 60})):
        refused = sqlite_scene.recorder.post(f"/v1/sources/{name}/heartbeats", json=body)
        assert_refused(refused, 422, "invalid_input")
