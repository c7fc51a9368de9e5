"""Seeds as given, as found in the config, as read from libraries in use; not known is never "unseeded"."""

import random
import sys
from types import SimpleNamespace

import pytest

from models.kinds.ingredients import Seeds
from shipworthy.capture.config import capture_config
from shipworthy.capture.seeds import capture_seeds


def use_torch(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    torch = SimpleNamespace(
        initial_seed=lambda: seed,
        are_deterministic_algorithms_enabled=lambda: True,
        backends=SimpleNamespace(cudnn=SimpleNamespace(deterministic=True, benchmark=False)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)


def test_given_seeds_are_kept() -> None:
    seeds = Seeds.model_validate(capture_seeds({"python": 7, "numpy": 8}, environ={}))
    assert (seeds.values, seeds.unseeded, seeds.derivation) == ({"python": 7, "numpy": 8}, False, None)


def test_nothing_known_is_not_unseeded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "numpy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    seeds = Seeds.model_validate(capture_seeds(environ={"PYTHONHASHSEED": "random"}))
    assert (seeds.values, seeds.unseeded) == ({}, False)
    assert seeds.derivation == "no seed is known: pass seeds={...}, or unseeded=True when there are none"
    assert Seeds.model_validate(capture_seeds(environ={}, unseeded=True)).unseeded


def test_seeds_of_the_config_are_taken_with_their_origin() -> None:
    config = capture_config({"seed": 3, "data": {"shuffle_seed": 4}, "model": {"seed": None}}).document
    seeds = Seeds.model_validate(capture_seeds(None, config, {}))
    assert seeds.values == {"config/seed": 3, "config/data/shuffle_seed": 4}
    assert seeds.derivation is not None
    assert "whether they were used is not known" in seeds.derivation
    assert Seeds.model_validate(capture_seeds({"all": 5}, config, {})).values == {"all": 5}


def test_torch_in_use_tells_its_seed_and_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    use_torch(monkeypatch, 1234)
    environ = {"PYTHONHASHSEED": "0", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    seeds = Seeds.model_validate(capture_seeds(environ=environ))
    assert seeds.values == {"PYTHONHASHSEED": 0, "torch": 1234}
    assert seeds.deterministic == {
        "torch.deterministic_algorithms": True,
        "torch.cudnn.deterministic": True,
        "torch.cudnn.benchmark": False,
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }


def test_torch_that_nobody_seeded_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    use_torch(monkeypatch, 67280421310721)
    seeds = Seeds.model_validate(capture_seeds(environ={}))
    assert "torch has the seed it starts every process with" in (seeds.derivation or "")


def test_seed_of_64_bits_is_kept_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    use_torch(monkeypatch, 2**63 + 1)
    seeds = Seeds.model_validate(capture_seeds(environ={}))
    assert "torch" not in seeds.values
    assert "the seed of torch is 9223372036854775809" in (seeds.derivation or "")


def test_numpy_says_nothing_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace(random=random))
    assert "numpy keeps its seed to itself" in str(capture_seeds(environ={}).get("derivation"))
