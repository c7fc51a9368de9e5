"""Checkpoints, artifacts, evaluations and data of a run."""

import threading
from pathlib import Path

import pytest

import shipworthy
from shipworthy.process import PROCESS
from tests.client.journals import bodies, events
from tests.support.pipelines import run_program, token_of, told
from tests.support.service import RunningService

pytestmark = pytest.mark.usefixtures("own_folder")


def test_checkpoint_is_hashed_in_the_background_and_found_by_its_run(tmp_path: Path) -> None:
    from shipworthy.formats.manifest import hash_tree, manifest_digest

    saved = tmp_path / "ckpt"
    saved.mkdir()
    (saved / "model.bin").write_bytes(b"weights")
    (saved / "optimizer.bin").write_bytes(b"moments")
    with shipworthy.run("fraud/train", capture=False) as run:
        run.log(step=600, loss=0.1)
        product = run.checkpoint(saved, contains=["model", "optimizer"], location=("lake", "ckpt/600"))
        assert product.wait(20) == manifest_digest(hash_tree(saved))
    (body,) = bodies(run, "checkpoint.saved")
    assert body["digest"] == product.digest
    assert (body["level"], body["step"], body["size_bytes"]) == ("checksummed", 600, 14)
    assert body["location"] == {"root": "lake", "path": "ckpt/600"}
    with shipworthy.run("fraud/train", capture=False, resume_from=saved) as resumed:
        assert (resumed.id, resumed.attempt) == (run.id, 2)


def test_resumed_process_is_the_next_attempt_of_its_run(tmp_path: Path) -> None:
    source = """
        import pathlib, shipworthy, sys
        pathlib.Path("ckpt").write_bytes(b"weights")
        with shipworthy.run("fraud/train", config={"node": sys.argv[1:]}, resume_from="ckpt") as run:
            run.checkpoint("ckpt", step=1, wait=True)
        print(run.id, run.attempt)
    """
    first = run_program(source.replace(', resume_from="ckpt"', ""), tmp_path, {}).stdout.split()
    second = run_program(source, tmp_path, {}).stdout.split()
    third = run_program(source, tmp_path, {}).stdout.split()
    assert (second, third) == ([first[0], "2"], [first[0], "3"])


def test_checkpoint_that_changed_before_it_was_hashed_has_a_note_instead(tmp_path: Path) -> None:
    path = tmp_path / "latest.pt"
    path.write_bytes(b"first")
    with shipworthy.run("fraud/train", capture=False) as run:
        begun, going_on = threading.Event(), threading.Event()

        def occupy() -> None:
            begun.set()
            going_on.wait(20)

        PROCESS.hasher.submit(occupy)
        begun.wait(20)
        product = run.checkpoint(path, step=1)
        run.evaluation({"auc": 0.9}, subject=product)
        path.write_bytes(b"second, longer")
        going_on.set()
        assert product.wait(20) is None
    assert bodies(run, "checkpoint.saved") == []
    assert bodies(run, "evaluation.completed") == []
    assert any("changed before they were hashed" in each.get("text", "") for each in events(run))


def test_evaluation_follows_its_subject_and_leaves_out_what_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"weights")
    with shipworthy.run("fraud/train", capture=False) as run:
        artifact = run.artifact(path)
        slices = {"country": {"NO": {"auc": 0.8}, "SE": {"auc": float("nan")}}}
        run.evaluation({"auc": 0.9, "loss": float("inf")}, slices=slices, protocol={"threshold": 0.5})
        run.model_version("fraud", "7", artifact)
    (body,) = bodies(run, "evaluation.completed")
    assert body["subject"] == artifact.digest
    assert body["metrics"] == {"auc": 0.9}
    assert body["protocol"] == {"threshold": 0.5, "not_a_number": ["loss=Infinity", "country=SE: auc=NaN"]}
    assert body["slices"][0] == {"dimension": "country", "value": "NO", "metrics": {"auc": 0.8}}
    assert bodies(run, "model_version")[0]["artifact"] == artifact.digest


def test_data_is_named_by_its_bytes_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("a,b\n1,2\n")
    digest = "sha256:" + "0" * 64
    data = {
        "train": str(tmp_path / "train.csv"),
        "test": "s3://bucket/test/v42?X-Amz-Signature=secret",
        "base_model": digest,
        "gone": tmp_path / "missing.csv",
        "lake": shipworthy.snapshot("lakefs://repo/main/x", dataset="fraud/x", version=("lakefs", "9f3c")),
    }
    with shipworthy.run("fraud/train", capture=False, data=data) as run:
        pass
    inputs = {each["role"]: each for body in bodies(run, "run.registered") for each in body.get("inputs", ())}
    assert inputs["train"]["snapshot"]["grade"] == "content"
    assert inputs["train"]["snapshot"]["digest"] == shipworthy.snapshot(tmp_path / "train.csv").digest
    assert inputs["test"]["snapshot"] == {
        "dataset": {"namespace": "s3://bucket", "name": "test/v42"},
        "uri": "s3://bucket/test/v42",
        "grade": "none",
        "reason": "only its address is known: neither a version nor a digest was given",
    }
    assert inputs["base_model"] == {"role": "base_model", "digest": digest}
    assert inputs["gone"]["snapshot"]["grade"] == "none"
    assert inputs["lake"]["snapshot"]["grade"] == "store"


def test_evaluation_without_a_subject_is_of_the_training_state_at_its_step(tmp_path: Path) -> None:
    path = tmp_path / "600.pt"
    path.write_bytes(b"weights")
    with shipworthy.run("fraud/train", capture=False, strict=True) as run:
        run.evaluation({"loss": 0.9}, step=100)
        run.log(step=600, loss=0.1)
        saved = run.checkpoint(path)
        run.evaluation({"loss": 0.5})
        run.log(step=700, loss=0.1)
        run.evaluation({"loss": 0.4})
        run.evaluation({"loss": 0.6}, step=600)
        run.evaluation({"loss": 0.3}, subject=saved)
    found = {body["metrics"]["loss"]: body for body in bodies(run, "evaluation.completed")}
    subjects = {loss: (body.get("subject"), body.get("step")) for loss, body in found.items()}
    assert subjects == {
        0.9: (None, 100),
        0.5: (saved.digest, None),
        0.4: (None, 700),
        0.6: (saved.digest, 600),
        0.3: (saved.digest, None),
    }


def test_training_state_is_measured_in_the_service(sqlite_service: RunningService) -> None:
    client = sqlite_service.client("recorder")
    with shipworthy.run(
        "fraud/train", capture=False, strict=True, url=sqlite_service.url, token=token_of(client)
    ) as run:
        run.log(step=300, loss=0.2)
        run.evaluation({"auc": 0.8})
    (measured,) = client.get(f"/v1/runs/{run.id}/evaluations").json()["items"]
    assert (measured.get("subject"), measured["step"], measured["metrics"]) == (None, 300, {"auc": 0.8})


def test_same_bytes_saved_again_are_one_checkpoint_and_a_note(
    tmp_path: Path, sqlite_service: RunningService
) -> None:
    source = """
        import pathlib, shipworthy
        with shipworthy.run("again/train", capture=False) as run:
            for step, folder in ((20, "best"), (20, "last"), (40, "last")):
                pathlib.Path(folder).mkdir(exist_ok=True)
                pathlib.Path(folder, "model.pt").write_bytes(b"weights")
                run.checkpoint(f"{folder}/model.pt", step=step, wait=True)
            run.artifact("best/model.pt")
            run.artifact("last/model.pt")
        print(run.id)
    """
    client = sqlite_service.client("recorder")
    variables = {"SHIPWORTHY_URL": sqlite_service.url, "SHIPWORTHY_TOKEN": token_of(client)}
    done = run_program(source, tmp_path, variables)
    assert done.stderr == ""
    recorded = told(client, done.stdout.strip())
    (checkpoint,) = recorded.bodies["checkpoint.saved"]
    (artifact,) = recorded.bodies["artifact"]
    assert (checkpoint["step"], checkpoint["uri"]) == (20, "best/model.pt")
    assert recorded.notes() == [
        f"The checkpoint of step 20 at last/model.pt has the bytes of one that this run recorded before: "
        f"{checkpoint['digest']}",
        f"The checkpoint of step 40 at last/model.pt has the bytes of one that this run recorded before: "
        f"{checkpoint['digest']}",
        f"The artifact 'model' at last/model.pt has the bytes of one that this run recorded before: "
        f"{artifact['digest']}",
    ]
    assert not list(tmp_path.glob("**/*.refused"))
