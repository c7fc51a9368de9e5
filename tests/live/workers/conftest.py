"""A real service and two real workers, shared by the tests of the folder: a worker takes seconds to start."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from moto.server import ThreadedMotoServer

from tests.support.databases import sqlite_copy
from tests.support.service import RunningService, running_service
from tests.support.workers import RunningWorker, put_contract, worker

TABLES = Path(__file__).parents[2] / "data" / "tables"
NUMBERS = """\
apiVersion: v3.1.0
kind: DataContract
id: numbers
version: 1.0.0
status: active
schema:
  - name: numbers
    properties:
      - name: n
        logicalType: integer
        required: true
        unique: true
"""
TRIPS = """\
apiVersion: v3.1.0
kind: DataContract
id: trips
version: 1.0.0
status: active
schema:
  - name: trips
    properties:
      - name: vendor_id
        logicalType: integer
        required: true
      - name: trip_distance
        logicalType: number
        logicalTypeOptions:
          minimum: 0
"""
TEXTS = """\
apiVersion: v3.1.0
kind: DataContract
id: texts
version: 1.0.0
status: active
schema:
  - name: texts
    properties:
      - name: text
        logicalType: string
        logicalTypeOptions:
          maxLength: 10
"""


@dataclass(frozen=True, slots=True)
class Crew:
    """`roomy` has two slots and reads roots lake, bucket and shared; `tight` has 512 MiB and 6 s a check, and reads
    tight and shared. `lake` is the folder of all but the bucket; `left` is what `roomy` had among its temporary files
    when it had warmed up."""

    service: RunningService
    author: httpx.Client
    roomy: RunningWorker
    tight: RunningWorker
    lake: Path
    bucket: str
    left: frozenset[str]


@pytest.fixture(scope="package")
def crew(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    folder = tmp_path_factory.mktemp("workers")
    lake = folder / "lake"
    lake.mkdir()
    for table in TABLES.glob("*.csv"):
        (lake / table.name).write_bytes(table.read_bytes())
    urls = sqlite_copy(sqlite_template, folder / "shipworthy.sqlite3")
    store = ThreadedMotoServer("127.0.0.1", 0)
    store.start()
    host, port = store.get_host_and_port()
    environment = {
        "FSSPEC_S3_ENDPOINT_URL": f"http://{host}:{port}",
        "FSSPEC_S3_KEY": "key",
        "FSSPEC_S3_SECRET": "secret",
    }
    roomy = ["--root", f"lake={lake}", "--root", "bucket=s3://lake/taxi", "--root", f"shared={lake}"]
    tight = [
        "--root",
        f"tight={lake}",
        "--root",
        f"shared={lake}",
        "--memory",
        "512MiB",
        "--time-limit",
        "6s",
    ]
    try:
        with (
            running_service(urls, folder / "data") as service,
            worker(service, folder / "roomy", *roomy, "--slots", "2", environment=environment) as first,
            worker(service, folder / "tight", *tight) as second,
        ):
            author = service.client("author", "recorder")
            for name, document in (("numbers", NUMBERS), ("trips", TRIPS), ("texts", TEXTS)):
                put_contract(author, name, document)
            first.wait_until_ready()
            second.wait_until_ready()
            left = frozenset(path.name for path in first.output.parent.iterdir())
            yield Crew(service, author, first, second, lake, environment["FSSPEC_S3_ENDPOINT_URL"], left)
    finally:
        store.stop()


def write_numbers(path: Path, rows: int, *, start: int = 0) -> None:
    """Parquet with a column n of different integers."""
    parquet.write_table(pa.table({"n": pa.array(range(start, start + rows), pa.int64())}), path)
