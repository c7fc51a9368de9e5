"""Checks from the request to the record, through a real service and real worker processes."""

from collections.abc import Callable
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from shipworthy.formats.manifest import hash_tree, manifest_digest
from tests.live.workers.conftest import Crew, write_numbers
from tests.support.parquet_bombs import write_bomb
from tests.support.workers import request_check, wait_for_end


def check(crew: Crew, contract: str, root: str, path: str, **members: Any) -> dict[str, Any]:
    return wait_for_end(crew.author, request_check(crew.author, contract, root, path, **members))


def outcomes(ended: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["outcome"] for each in ended["result"]["checks"]}


def test_warming_up_leaves_no_temporary_file(crew: Crew) -> None:
    """The worker's own folder and the socket of its fork server go when it ends."""
    own = {name for name in crew.left if name.startswith(("shipworthy-worker-", "pymp-"))}
    assert len(own) == 2
    assert crew.left == own | {crew.roomy.output.name}


def test_taxi_months_are_checked_and_bound_to_their_bytes(crew: Crew) -> None:
    """January 2019 is as agreed; in the month of the lockdown 803 trips have no vendor."""
    january, lockdown = "yellow_tripdata_sample_2019-01.csv", "yellow_tripdata_sample_2020-04.csv"
    good = check(crew, "trips", "lake", january)
    assert (good["state"], good["result"]["outcome"], good["evidence_level"]) == (
        "done",
        "passed",
        "trusted_runner",
    )
    assert good["result"]["data"]["manifest"] == manifest_digest(hash_tree(crew.lake / january))
    assert (good["result"]["data"]["rows"], good["result"]["data"]["root"]) == (10_000, "lake")
    bad = check(crew, "trips", "lake", lockdown)
    assert bad["result"]["outcome"] == "failed"
    nulls = next(each for each in bad["result"]["checks"] if each["id"] == "not_null:vendor_id")
    assert (nulls["outcome"], nulls["unexpected"], nulls["rows"]) == ("failed", 803, 10_000)


def test_folder_is_one_table_and_has_the_digest_of_all_its_files(crew: Crew) -> None:
    folder = crew.lake / "parts"
    folder.mkdir()
    write_numbers(folder / "b.parquet", 10, start=100)
    write_numbers(folder / "a.parquet", 10)
    (folder / "_SUCCESS").touch()
    found = check(crew, "numbers", "lake", "parts")["result"]
    assert (found["outcome"], found["data"]["rows"], found["data"]["files"]) == ("passed", 20, 3)
    assert found["data"]["manifest"] == manifest_digest(hash_tree(folder))


def test_two_checks_at_once_on_one_contract_give_each_its_own_answer(crew: Crew) -> None:
    for number in range(6):
        table = pa.table({"n": pa.array([*range(1000), *[7] * number], pa.int64())})
        parquet.write_table(table, crew.lake / f"twice-{number}.parquet")
    asked = [
        (number, request_check(crew.author, "numbers", "lake", f"twice-{number}.parquet"))
        for number in range(6)
    ]
    for number, id in asked:
        found = wait_for_end(crew.author, id)["result"]
        assert found["data"]["rows"] == 1000 + number
        assert found["outcome"] == ("failed" if number else "passed")


def test_baseline_is_made_by_a_worker(crew: Crew) -> None:
    body = {
        "root": "lake",
        "path": "yellow_tripdata_sample_2019-01.csv",
        "numbers": ["trip_distance"],
        "labels": ["payment_type"],
        "bins": 10,
    }
    asked = crew.author.post("/v1/baselines", json=body)
    assert asked.status_code == 202, asked.text
    ended = crew.author.get(f"/v1/work/{asked.json()['id']}?wait=30").json()
    assert ended["state"] == "done", ended
    made = crew.author.get(f"/v1/baselines/{ended['baseline']}").json()
    assert "trip_distance" in str(made)


@pytest.mark.parametrize(
    ("path", "word"),
    [("link.csv", "symbolic link"), ("out/passwd", "symbolic link"), ("none.csv", "there is no none.csv")],
)
def test_path_that_leads_out_of_the_root_fails_with_the_reason(crew: Crew, path: str, word: str) -> None:
    for name, target in (("link.csv", "/etc/passwd"), ("out", "/etc")):
        link = crew.lake / name
        if not link.is_symlink():
            link.symlink_to(target)
    ended = check(crew, "trips", "lake", path)
    assert (ended["state"], ended["result"]) == ("failed", None)
    assert word in ended["reason"]


def test_objects_of_an_s3_store_are_checked_like_files(crew: Crew) -> None:
    put = object_store(crew)
    local = crew.lake / "yellow_tripdata_sample_2019-02.csv"
    put("taxi/2019/02.csv", local.read_bytes())
    found = check(crew, "trips", "bucket", "2019/02.csv")
    assert found["state"] == "done", found["reason"]
    assert (found["result"]["outcome"], found["result"]["data"]["rows"]) == ("passed", 10_000)
    copy = crew.lake / "2019"
    copy.mkdir()
    (copy / "02.csv").write_bytes(local.read_bytes())
    assert found["result"]["data"]["manifest"] == manifest_digest(hash_tree(copy / "02.csv"))
    folder = check(crew, "trips", "bucket", "2019")["result"]
    assert folder["data"]["manifest"] == manifest_digest(hash_tree(copy))


def test_small_file_that_expands_to_100_gigabytes_ends_at_a_limit(crew: Crew) -> None:
    bomb = crew.lake / "bomb.parquet"
    assert write_bomb(bomb, 1250) == 100 * 10**9
    assert bomb.stat().st_size < 250_000
    ended = check(crew, "numbers", "tight", "bomb.parquet")
    assert ended["state"] == "done", ended["reason"]
    assert ended["result"]["outcome"] == "error"
    told = f"{ended['result'].get('reason')} {[each['reason'] for each in ended['result']['checks']]}"
    assert "limit" in told
    assert not list((crew.tight.output.parent).glob("shipworthy-worker-*/check-*"))


def test_value_that_does_not_fit_into_the_memory_limit_is_an_error_that_names_it(crew: Crew) -> None:
    text = pa.table({"text": pa.array(["a" * (300 << 20)], pa.large_string())})
    parquet.write_table(text, crew.lake / "long.parquet", compression="zstd", use_dictionary=False)
    ended = check(crew, "texts", "tight", "long.parquet")
    assert ended["state"] == "done", ended["reason"]
    assert ended["result"]["outcome"] == "error"
    told = f"{ended['result'].get('reason')} {[each['reason'] for each in ended['result']['checks']]}"
    assert "memory" in told


def object_store(crew: Crew) -> Callable[[str, bytes], None]:
    """Puts an object under a key of the bucket `lake`, in the way of an S3 client without one."""
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request"}
    httpx.put(f"{crew.bucket}/lake", headers=headers, timeout=60).raise_for_status()

    def put(key: str, data: bytes) -> None:
        answer = httpx.put(f"{crew.bucket}/lake/{key}", content=data, headers=headers, timeout=60)
        answer.raise_for_status()

    return put
