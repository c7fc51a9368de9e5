"""fsck and the blobs of a real service: changed, missing, left out."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from shipworthy.formats.digests import sha256_digest
from tests.support.databases import DatabaseUrls
from tests.support.service import running_service

DEFINITION = Path(__file__).parents[2] / "examples" / "slos" / "training_in_window.yaml"
BYTES = b"predictions" * 1000


@pytest.fixture
def data(sqlite_urls: DatabaseUrls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a service that was given a blob and a definition."""
    monkeypatch.setenv("SHIPWORTHY_DATABASE_URL", sqlite_urls.service_url)
    monkeypatch.delenv("SHIPWORTHY_BLOBS", raising=False)
    with running_service(sqlite_urls, tmp_path / "data") as service:
        client = service.client("recorder", "author")
        assert client.put(f"/v1/blobs/{sha256_digest(BYTES)}", content=BYTES).status_code == 201
        kind = {"Content-Type": "application/yaml"}
        published = client.put(
            "/v1/slos/fraud-training-by-morning", content=DEFINITION.read_bytes(), headers=kind
        )
        assert published.status_code == 201, published.text
    return tmp_path / "data"


def _fsck(data: Path, *options: str) -> tuple[int, dict[str, object]]:
    result = CliRunner().invoke(app, ["fsck", "--json", *options, "--data", str(data)])
    return result.exit_code, json.loads(result.stdout)


def _file(data: Path, digest: str) -> Path:
    (found,) = (data / "blobs").rglob(digest.removeprefix("sha256:"))
    return found


def test_untouched_blobs_are_counted(data: Path) -> None:
    code, report = _fsck(data)
    assert (code, report["problems"], report["notes"]) == (0, [], [])
    assert report["checked"]["blobs"] == 2  # type: ignore[index]


def test_changed_and_missing_blobs_are_named_unless_left_out(data: Path) -> None:
    changed = _file(data, sha256_digest(BYTES))
    changed.write_bytes(b"other")
    definition = sha256_digest(DEFINITION.read_bytes())
    _file(data, definition).unlink()
    code, report = _fsck(data)
    problems = report["problems"]
    assert (code, report["problem_count"]) == (1, 2)
    assert f"needs the blob {definition} of namespace team-a, which is missing" in str(problems)
    assert f"the blob {changed} has bytes that hash to {sha256_digest(b'other')[7:]}" in str(problems)
    code, report = _fsck(data, "--no-blobs")
    assert (code, report["problems"], report["notes"]) == (0, [], ["no blob was read (--no-blobs)"])


def test_blobs_in_an_object_store_are_not_read_and_that_is_said(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIPWORTHY_BLOBS", "memory://blobs")
    assert _fsck(data)[1]["notes"] == ["no blob was read (they lie in an object store)"]
