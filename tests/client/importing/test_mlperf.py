"""Real MLPerf logs as runs, without a server: what the importer makes of what they say and don't say."""

import json
from pathlib import Path
from typing import Any

import pytest

from shipworthy.importing.mlperf import ImportedRun, NotMlperf, Stated, import_log

LOGS = Path(__file__).resolve().parents[2] / "data" / "mlperf"
LORA = "NVIDIA__results__eos_ngc24.04_nemo__llama2_70b_lora__result_{}.txt"
ABORTED = "NVIDIA__results__eos_n8_ngc24.04_mxnet__resnet__result_4.txt"
WITHOUT_END = "tinycorp__results__tinybox_green__resnet__result_0.txt"
INTERLEAVED = "Lenovo__results__SR675V3-8xL40S_PCIe_48GB_350W__resnet__result_2.txt"


def log(name: str) -> bytes:
    return (LOGS / name).read_bytes()


def system(name: str) -> dict[str, Any]:
    return dict(json.loads((LOGS / name).read_text(encoding="utf-8")))


def bodies(run: ImportedRun, kind: str) -> list[Any]:
    return [line["body"] for line in run.lines if line["kind"] == kind]


def states(run: ImportedRun) -> list[str]:
    return [event["state"] for event in bodies(run, "run.event") if event["type"] == "state"]


def record(key: str, value: object = None, time_ms: int = 1_700_000_000_000, **metadata: object) -> str:
    said = {
        "time_ms": time_ms,
        "event_type": "POINT_IN_TIME",
        "key": key,
        "value": value,
        "metadata": metadata,
    }
    return ":::MLLOG " + json.dumps(said)


def made_log(*lines: str) -> bytes:
    return "\n".join([record("submission_benchmark", "resnet"), *lines]).encode()


def test_completed_run_has_hyperparameters_seed_and_machines() -> None:
    run = import_log(log(LORA.format(0)), system("NVIDIA__systems__eos_ngc24.04_nemo.json"))
    (body,) = bodies(run, "run.registered")
    assert (run.job, run.state, states(run)) == (
        "mlperf/llama2_70b_lora",
        "completed",
        ["running", "completed"],
    )
    assert body["started_at"] == "2024-05-05T08:27:51.343Z"
    values = body["config"]["values"]
    assert (values["lora_rank"], values["opt_base_learning_rate"], values["seed"]) == (16, 0.0005, 31105)
    assert not {"run_start", "eval_accuracy", "tracked_stats", "cache_clear"} & values.keys()
    assert body["seeds"] == {"values": {"framework": 31105}}
    assert body["hardware"]["accelerators"] == [
        {"type": "NVIDIA H100-SXM5-80GB", "count": 8, "memory_bytes": 81559 * 2**20}
    ]
    assert (body["environment"]["cuda"], body["environment"]["packages"]["framework_name"]) == (
        "12.4.1.003",
        "ngc24.04_nemo",
    )


def test_each_eval_accuracy_is_an_evaluation_of_the_run_at_its_step() -> None:
    run = import_log(log(LORA.format(0)), None, Stated(release="v4.0"))
    found = bodies(run, "evaluation.completed")
    assert [each["step"] for each in found] == [192, 240, 288, 336, 384]
    last = found[-1]
    assert last["metrics"] == {"eval_accuracy": 0.9233128428459167}
    assert (last["started_at"], last["completed_at"]) == (
        "2024-05-05T08:55:32.397Z",
        "2024-05-05T08:56:09.711Z",
    )
    assert all("subject" not in each and each["run_id"] == run.run_id for each in found)


def test_epochs_are_not_taken_for_steps() -> None:
    found = bodies(import_log(log(INTERLEAVED)), "evaluation.completed")
    assert [each["protocol"] for each in found[:2]] == [{"epoch_num": 3}, {"epoch_num": 7}]
    assert all("step" not in each for each in found)


def test_aborted_run_is_aborted() -> None:
    run = import_log(log(ABORTED))
    end = bodies(run, "run.event")[-1]
    assert (end["state"], end["at"]) == ("aborted", "2024-04-26T00:14:09.118Z")
    assert "target quality" in end["reason"]
    assert bodies(run, "run.registered")[0]["hardware"]["nodes"] == 8


def test_log_without_run_stop_gets_no_end_and_promises_no_heartbeat() -> None:
    run = import_log(log(WITHOUT_END))
    assert (run.state, states(run)) == ("unknown", ["running"])
    assert bodies(run, "run.registered")[0]["heartbeat"] == {"expected": False}
    assert any("no run_stop" in remark for remark in run.remarks)


def test_records_in_the_middle_of_other_output_are_found() -> None:
    text = log(INTERLEAVED).decode()
    assert "storage.cc::::MLLOG" in text
    run = import_log(text.encode())
    assert (run.state, len(bodies(run, "evaluation.completed"))) == ("completed", 9)
    assert not any("could not be read" in remark for remark in run.remarks)


def test_two_records_glued_on_one_line_are_both_read() -> None:
    glued = "::" + record("global_batch_size", 8) + " " + record("opt_name", "lars")
    (body,) = bodies(import_log(made_log(glued)), "run.registered")
    assert body["config"]["values"] == {"global_batch_size": 8, "opt_name": "lars"}


def test_a_cut_line_is_left_out_and_named() -> None:
    run = import_log(made_log(':::MLLOG {"time_ms": 17000', record("opt_name", "lars")))
    assert bodies(run, "run.registered")[0]["config"]["values"] == {"opt_name": "lars"}
    assert "lines that could not be read, and were left out: 2" in run.remarks


def test_times_that_go_backwards_pair_by_key() -> None:
    run = import_log(
        made_log(
            record("eval_start", None, 1_700_000_060_000, epoch_num=2),
            record("eval_accuracy", 0.7, 1_700_000_070_000, epoch_num=2),
            record("eval_start", None, 1_700_000_010_000, epoch_num=1),
            record("eval_accuracy", 0.5, 1_700_000_020_000, epoch_num=1),
        )
    )
    pairs = [
        (each["started_at"][14:19], each["completed_at"][14:19])
        for each in bodies(run, "evaluation.completed")
    ]
    assert pairs == [("14:20", "14:30"), ("13:30", "13:40")]
    assert any("times go backwards" in remark for remark in run.remarks)


@pytest.mark.parametrize(("metadata", "names"), [({}, ["0", "1"]), ({"rank": 7}, ["7"])])
def test_a_seed_per_rank_is_kept_per_rank(metadata: dict[str, int], names: list[str]) -> None:
    run = import_log(made_log(record("seed", 11, **metadata), record("seed", 12, **metadata)))
    body = bodies(run, "run.registered")[0]
    assert sorted(body["seeds"]["ranks"]) == names
    assert (body["config"]["values"]["seed"], body["config"]["seed_keys"]) == ([11, 12], ["/seed"])
    assert ("derivation" in body["seeds"]) == (metadata == {})


def test_old_format_of_2018_is_read() -> None:
    said = [
        "I0122 12:00:14 mlperf_log.py:136] :::MLPv0.5.0 resnet 1541711000.500000000 (main.py:10) run_start",
        ":::MLPv0.5.0 resnet 1541711001.000000000 (main.py:11) run_set_random_seed: 5",
        ":::MLPv0.5.0 resnet 1541711001.000000000 (main.py:12) input_batch_size: 256",
        ":::MLPv0.5.0 resnet 1541711001.000000000 (main.py:12) input_batch_size: 256",
        ':::MLPv0.5.0 resnet 1541712000.250000000 (main.py:20) eval_accuracy: {"epoch": 4, "value": 0.61}',
        ':::MLPv0.5.0 resnet 1541713000.000000000 (main.py:30) run_stop: {"success": true}',
    ]
    run = import_log("\n".join(said).encode())
    (body,) = bodies(run, "run.registered")
    (evaluation,) = bodies(run, "evaluation.completed")
    assert (run.job, run.state, body["started_at"]) == (
        "mlperf/resnet",
        "completed",
        "2018-11-08T21:03:20.500Z",
    )
    assert body["config"]["values"] == {"input_batch_size": 256, "run_set_random_seed": 5}
    assert body["seeds"] == {"values": {"framework": 5}}
    assert (evaluation["metrics"], evaluation["protocol"]) == ({"eval_accuracy": 0.61}, {"epoch_num": 4})


def test_format_of_2019_is_read() -> None:
    said = [
        record("submission_benchmark", "ssd"),
        ':::MLL 1556733699.717 run_start: {"value": null, "metadata": {"lineno": 77, "file": "main.py"}}',
        ':::MLL 1556733700.000 run_stop: {"value": null, "metadata": {"status": "success"}}',
    ]
    run = import_log("\n".join(said).encode())
    assert (run.job, run.state) == ("mlperf/ssd", "completed")


def test_run_id_is_the_same_each_time_and_differs_between_logs() -> None:
    ids = [import_log(log(LORA.format(number))).run_id for number in (0, 1, 2, 0)]
    assert ids[0] == ids[3]
    assert len(set(ids)) == 3
    assert all(each[14] == "7" and each[19] in "89ab" for each in ids)
    # The time in it is that of the first record: 2024-05-05T08:27:51Z or so.
    assert int(ids[0].replace("-", "")[:12], 16) == 1714897671337 or ids[0].startswith("018f47dd")


def test_names_and_addresses_of_persons_are_left_out() -> None:
    run = import_log(
        made_log(record("submission_poc_name", "Ada"), record("submission_poc_email", "ada@x.org"))
    )
    assert "ada" not in json.dumps(run.lines).lower()


def test_without_version_the_data_stays_unresolved_and_that_is_said() -> None:
    run = import_log(log(LORA.format(0)))
    grades = {each["role"]: each["snapshot"]["grade"] for each in bodies(run, "run.registered")[0]["inputs"]}
    assert grades == {"train": "none", "validation": "none", "base_model": "none"}
    assert "code" not in bodies(run, "run.registered")[0]
    assert any("--release" in remark for remark in run.remarks)
    assert any("--commit" in remark for remark in run.remarks)


def test_description_of_another_system_is_remarked() -> None:
    run = import_log(log(LORA.format(0)), system("tinycorp__systems__tinybox_green.json"))
    assert any("the log is of system Eos" in remark for remark in run.remarks)


def test_description_with_free_text_software_is_kept() -> None:
    described = system("Intel-HabanaLabs__systems__HLS-Gaudi2-PT.json")
    run = import_log(
        log("Intel-HabanaLabs__results__HLS-Gaudi2-PT__llama2_70b_lora__result_0.txt"), described
    )
    body = bodies(run, "run.registered")[0]
    assert body["environment"]["packages"]["other_software_stack"] == "Intel Gaudi Software 1.16.98"
    assert (body["hardware"]["memory_bytes"], body["hardware"]["cpus_per_node"]) == (1024 * 10**9, 80)


def test_a_value_that_is_no_number_is_left_out_and_named() -> None:
    run = import_log(made_log(':::MLLOG {"time_ms": 1700000000000, "key": "eval_accuracy", "value": NaN}'))
    assert bodies(run, "evaluation.completed") == []
    assert any("no finite number" in remark for remark in run.remarks)


@pytest.mark.parametrize("text", [b"", b"\x00\xff not a log", b"+ export SEED=26526\n"])
def test_other_files_are_refused(text: bytes) -> None:
    with pytest.raises(NotMlperf, match="no MLPerf run"):
        import_log(text)
