"""What a person may write on the command line of a worker, and what is said to a slip."""

from pathlib import Path

import pytest

from api.workers.settings import (
    WorkerSettings,
    check_url,
    parse_roots,
    parse_seconds,
    parse_size,
    with_registry,
)
from models.errors import StartRefused


def test_roots_are_folders_or_urls_by_name(tmp_path: Path) -> None:
    roots = parse_roots([f"taxi={tmp_path}", "lake=s3://bucket/data/", f"same=file://{tmp_path}"])
    assert roots == {"taxi": str(tmp_path), "lake": "s3://bucket/data", "same": str(tmp_path)}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (["/data"], "NAME=PATH"),
        (["=/data"], "NAME=PATH"),
        (["taxi="], "NAME=PATH"),
        (["Taxi/../=/data"], "NAME=PATH"),
        (["taxi=/no/such/folder"], "no such folder"),
        (["taxi=/etc/hostname"], "no such folder"),
        (["taxi=/", "taxi=/etc"], "given twice"),
        (["taxi=simplecache::s3://bucket"], "chain of addresses"),
    ],
)
def test_root_that_can_not_be_taken_is_named(given: list[str], word: str) -> None:
    with pytest.raises(StartRefused, match=word):
        parse_roots(given)


@pytest.mark.parametrize(
    ("text", "size"), [("2GiB", 2 << 30), ("512 MiB", 512 << 20), ("8G", 8 << 30), ("1GB", 10**9)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "2", "2 GiB extra", "-1GiB", "0GiB", "1KiB", "٢GiB"])
def test_text_that_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(StartRefused, match="2GiB"):
        parse_size(text)


def test_memory_in_which_no_check_runs_is_refused() -> None:
    with pytest.raises(StartRefused, match="256MiB or more"):
        parse_size("100MiB")


def test_times() -> None:
    assert [parse_seconds(text) for text in ("90s", "30m", "2h")] == [90, 1800, 7200]
    with pytest.raises(StartRefused, match="30m"):
        parse_seconds("soon")


@pytest.mark.parametrize("url", ["localhost:8470", "ftp://host", "http://", "http://host/?a=b", ""])
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(StartRefused, match="no address"):
        check_url(url)


def test_registry_is_named_by_the_environment() -> None:
    plain = WorkerSettings("http://host:8470", {})
    assert with_registry(plain, {"SHIPWORTHY_REGISTRY": "eu"}) == plain
    found = with_registry(plain, {"SHIPWORTHY_MLFLOW_URI": "https://mlflow/prefix/"})
    assert (found.mlflow_uri, found.registry, found.reconcile_seconds) == (
        "https://mlflow/prefix",
        "default",
        60,
    )
    more = {"SHIPWORTHY_REGISTRY": "eu", "SHIPWORTHY_RECONCILE_SECONDS": "300"}
    found = with_registry(plain, {"SHIPWORTHY_MLFLOW_URI": "http://mlflow:5000", **more})
    assert (found.registry, found.reconcile_seconds) == ("eu", 300)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"SHIPWORTHY_MLFLOW_URI": "sqlite:///mlflow.db"}, "http://HOST:5000"),
        ({"SHIPWORTHY_MLFLOW_URI": "http://ada:secret@mlflow"}, "MLFLOW_TRACKING_USERNAME"),
        ({"SHIPWORTHY_REGISTRY": "a registry"}, "is no name"),
        ({"SHIPWORTHY_RECONCILE_SECONDS": "1m"}, "from 1 to 86400"),
        ({"SHIPWORTHY_RECONCILE_SECONDS": "0"}, "from 1 to 86400"),
    ],
)
def test_registry_that_can_not_be_taken_is_named(changes: dict[str, str], word: str) -> None:
    environ = {"SHIPWORTHY_MLFLOW_URI": "http://mlflow:5000"} | changes
    with pytest.raises(StartRefused, match=word) as refused:
        with_registry(WorkerSettings("http://host:8470", {}), environ)
    assert next(iter(changes)) in str(refused.value)
    assert "secret" not in str(refused.value)


def test_settings_survive_the_way_to_the_process() -> None:
    settings = WorkerSettings("http://host:8470", {"taxi": "/data"}, slots=3, allow_sql=True, registry="eu")
    assert WorkerSettings.from_json(settings.to_json()) == settings
