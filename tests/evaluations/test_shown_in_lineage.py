"""A model's lineage shows what was measured of it, and whether anybody declared that before it was known."""

from tests.support.attempts import closed, make_scene
from tests.support.bodies import digest_of, make_artifact, make_evaluation, make_start, make_version
from tests.support.calls import post
from tests.support.service import RunningService


def test_lineage_tells_registered_evaluations_from_others(service: RunningService) -> None:
    scene = make_scene(service)
    recorder = service.client("recorder")
    run = make_start(
        artifacts=[make_artifact(digest=digest_of("model"))],
        evaluations=[make_evaluation(metrics={"while training": 0.99})],
        model_versions=[make_version(artifact=digest_of("model"))],
    )
    assert post(recorder, "/v1/runs", run).status_code == 201
    closed(scene.evaluator)
    answer = recorder.get("/v1/models/ranker/versions/1/lineage").json()
    shown = {
        next(iter(each["metrics"])): (each["registered"], each["evidence_level"])
        for each in answer["evaluations"]
    }
    assert shown == {"while training": (False, "self_reported"), "roc_auc": (True, "trusted_runner")}
    listed = recorder.get(f"/v1/runs/{run['run_id']}/evaluations").json()["items"]
    assert [each["registered"] for each in listed] == [False]
