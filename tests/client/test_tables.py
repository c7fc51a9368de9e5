"""What snapshots of Parquet files say of them: the same that a contract check finds."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shipworthy
from gates.contracts.engine.arrow_schema import parquet_shape
from gates.contracts.engine.opened import OpenFile
from tests.support.pipelines import run_program, token_of
from tests.support.service import RunningService

NESTED = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "Id": pa.array([1.5, None, 2.5], pa.float32()),
        "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
        "place": pa.array([{"lat": 1.0, "lon": 2.0}] * 3),
        "country": pa.array(["NO", "SE", "NO"]).dictionary_encode(),
    }
)


@contextmanager
def opened(*paths: Path) -> Iterator[list[OpenFile]]:
    """As a worker opens the files."""
    files = [
        OpenFile(
            path.name,
            os.open(path, os.O_RDONLY),
            path.stat().st_size,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in paths
    ]
    yield files
    for file in files:
        os.close(file.fd)


def test_snapshot_says_what_a_check_of_the_same_file_finds(tmp_path: Path) -> None:
    path = tmp_path / "orders.parquet"
    pq.write_table(NESTED, path)
    body = shipworthy.snapshot(path).body
    with opened(path) as files:
        shape = parquet_shape(files)
    assert (body["schema_digest"], body["footer_digest"]) == (shape.schema_digest, shape.footer_digest)
    assert body["row_count"] == 3


def test_folder_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    folder.mkdir()
    for name in ("b", "a"):
        pq.write_table(NESTED.slice(0, 2), folder / f"{name}.parquet")
    (folder / "_SUCCESS").write_text("")
    body = shipworthy.snapshot(folder).body
    with opened(folder / "a.parquet", folder / "b.parquet") as files:
        shape = parquet_shape(files)
    assert (body["schema_digest"], body["footer_digest"]) == (shape.schema_digest, shape.footer_digest)
    assert body["row_count"] == 4


def test_footer_needs_no_library(tmp_path: Path) -> None:
    pq.write_table(NESTED, tmp_path / "orders.parquet")
    source = """
        import json, sys
        from importlib.machinery import PathFinder
        find = PathFinder.find_spec
        PathFinder.find_spec = lambda name, *rest: None if name == "pyarrow" else find(name, *rest)
        import shipworthy
        print(json.dumps(shipworthy.snapshot("orders.parquet").body))
    """
    body = json.loads(run_program(source, tmp_path, {}).stdout)
    whole = shipworthy.snapshot(tmp_path / "orders.parquet").body
    assert body["footer_digest"] == whole["footer_digest"]
    assert body["digest"] == whole["digest"]
    assert not {"schema_digest", "row_count"} & body.keys()


def test_other_data_has_no_such_facts(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id\n1\n")
    assert (
        not {"schema_digest", "footer_digest", "row_count"}
        & shipworthy.snapshot(tmp_path / "orders.csv").body.keys()
    )


def test_file_that_is_only_called_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "orders.parquet"
    path.write_text("id\n1\n")
    with pytest.raises(shipworthy.UsageError, match="is called Parquet, but"):
        shipworthy.snapshot(path)


def test_files_of_two_schemas_are_no_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(shipworthy.UsageError, match="another schema"):
        shipworthy.snapshot(tmp_path)


def test_rows_that_are_given_are_believed(tmp_path: Path) -> None:
    pq.write_table(NESTED, tmp_path / "orders.parquet")
    assert shipworthy.snapshot(tmp_path / "orders.parquet", row_count=2).body["row_count"] == 2


def test_service_takes_snapshots_of_tables_with_their_location(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    pq.write_table(NESTED, tmp_path / "orders.parquet")
    taken = shipworthy.snapshot(tmp_path / "orders.parquet", location=("lake", "orders.parquet"))
    client = sqlite_service.client("recorder")
    with shipworthy.run(
        "tables/train",
        data={"train": taken},
        capture=False,
        strict=True,
        url=sqlite_service.url,
        token=token_of(client),
        dir=tmp_path / "journal",
    ):
        pass
    found = client.get(f"/v1/snapshots/{taken.digest}").json()
    told = {name: found[name] for name in ("schema_digest", "footer_digest", "row_count", "location")}
    assert told == {name: taken.body[name] for name in told}
