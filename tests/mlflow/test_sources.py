"""Spellings of where a version's files lie that a reader could take for other files than the guard hashed."""

import pytest

from shipworthy.mlflow.sources import claim_of, why_not_plain


@pytest.mark.parametrize(
    "location",
    [
        "runs:/67d0/model",
        "runs:/67d0/model/",
        "runs:/67d0/my model/weights",
        "runs:/67d0",
        "models:/fraud/2",
        "models:/m-53a5a04b95f14d8aa09f253965af7c59",
        "mlflow-artifacts:/1/67d0/artifacts/model",
        "/srv/mlflow/artifacts/model",
        "file:///srv/my%20artifacts/model",
        "s3://bucket/100%/model",
    ],
)
def test_what_clients_of_mlflow_write_is_plain(location: str) -> None:
    assert why_not_plain(location) is None


@pytest.mark.parametrize(
    "location",
    [
        # Joined to the run's folder by the guard, it would be a path of the server's disk.
        "runs:/67d0//srv/mlflow/artifacts/1/good",
        # The artifact proxy decodes what it is asked for, over and over.
        "runs:/67d0/mo%64el",
        "runs:/67d0/model;",
        "runs:/67d0/model?",
        "runs:/67d0/model#",
        "runs:/67d0/x/../model",
        "runs:/67d0/./model",
        "runs://other/67d0/model",
        "RUNS:/67d0/model",
        "ru\nns:/67d0/model",
        "MODELS:/fraud/2",
        "mlflow-artifacts:/1/67d0/artifacts/mo%64el",
        "mlflow-artifacts:/1//67d0/artifacts/model",
        # Readers ask the host that it names; the guard would look on its own disk.
        "mlflow-artifacts://other.example.org/1/67d0/artifacts/model",
        "http://other.example.org/api/2.0/mlflow-artifacts/artifacts/1/67d0/artifacts/model",
        # To an object store these are names of their own.
        "s3://bucket/a//model",
        "s3://bucket/a/./model",
        "s3://bucket/a/../model",
        "s3://bucket/model?versionId=1",
    ],
)
def test_spelling_that_means_something_else_to_a_reader_is_not_plain(location: str) -> None:
    assert why_not_plain(location)


@pytest.mark.parametrize(
    "location", ["runs:/67d0/model", "runs:/67d0/model/weights", "RUNS:/67d0/model", "runs://host/67d0/model"]
)
def test_logged_model_that_would_lie_over_the_files_is_known_in_any_spelling(location: str) -> None:
    assert claim_of(location) == ("67d0", "model")


def test_only_the_files_of_runs_have_logged_models_over_them() -> None:
    assert claim_of("s3://bucket/67d0/model") is None
