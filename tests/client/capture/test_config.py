"""Configurations of every make become one JSON document that the service takes."""

import argparse
import dataclasses
import enum
import math
from collections import OrderedDict, UserDict, namedtuple
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from models.kinds.ingredients import Config
from shipworthy.capture.config import MAX_DEPTH, capture_config
from shipworthy.formats.jcs import canonicalize
from tests.client.capture.configs import capture, taken


class Precision(enum.Enum):
    BF16 = "bf16"
    HALF = object()


@dataclasses.dataclass
class Optimizer:
    name: str
    betas: tuple[float, float]


class Trainer(BaseModel):
    epochs: int
    login: SecretStr


class Missing(Mapping[str, object]):
    """As omegaconf: a mapping in which reading a value may fail."""

    def __getitem__(self, name: str) -> object:
        if name == "path":
            raise RuntimeError("Missing mandatory value: path")
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter(["lr", "path"])

    def __len__(self) -> int:
        return 2


class Scalar:
    """As a number of numpy or a tensor without dimensions."""

    shape = ()

    def item(self) -> float:
        return 0.5


class Array:
    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def tolist(self) -> list[float]:
        return [0.0] * math.prod(self.shape)


class Hostile:
    def __getattr__(self, name: str) -> object:
        raise ValueError("not now")

    def __str__(self) -> str:
        raise ValueError("not now")


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (Optimizer("adam", (0.9, 0.95)), {"name": "adam", "betas": [0.9, 0.95]}),
        (argparse.Namespace(lr=0.1), {"lr": 0.1}),
        (SimpleNamespace(lr=0.1), {"lr": 0.1}),
        (UserDict(lr=0.1), {"lr": 0.1}),
        (OrderedDict(lr=0.1), {"lr": 0.1}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (Path("data") / "train.csv", "data/train.csv"),
        (PurePosixPath("a/b"), "a/b"),
        (Precision.BF16, "bf16"),
        (Precision.HALF, "HALF"),
        ({3, 1, 2}, [1, 2, 3]),
        (Scalar(), 0.5),
        (Array(2), [0.0, 0.0]),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**53, "9007199254740992"),
        (-(2**53) + 1, -(2**53) + 1),
        (True, True),
        (None, None),
        (datetime(2026, 5, 1, tzinfo=UTC), "2026-05-01T00:00:00+00:00"),
        (Decimal("0.1"), "decimal.Decimal: 0.1"),
        (b"\x00\x01", "bytes: 2"),
        (math.sqrt, "math.sqrt"),
        (Optimizer, f"{__name__}.Optimizer"),
        (
            {1: "a", None: "b", False: "c", ("x", 2): "d"},
            {"1": "a", "null": "b", "false": "c", "('x', 2)": "d"},
        ),
        ("\ud800", "?"),
    ],
)
def test_value_becomes_json(value: object, kept: object) -> None:
    assert capture({"value": value}).values["value"] == kept


def test_pydantic_model_keeps_its_secrets() -> None:
    config = capture(Trainer(epochs=3, login=SecretStr("hunter2")))
    assert config.values["epochs"] == 3
    assert "hunter2" not in str(config)


def test_unreadable_members_are_named_and_the_rest_kept() -> None:
    captured = capture_config({"data": Missing(), "callback": Hostile()})
    assert taken(captured).values["data"] == {"lr": 1, "path": None}
    assert "/data has members that could not be read: path (RuntimeError)" in captured.reasons
    assert any(reason.startswith("/callback could not be read") for reason in captured.reasons)


def test_what_is_no_json_is_said_with_its_type() -> None:
    captured = capture_config({"step": Decimal("0.1"), "weights": Array(1000)})
    assert "/step is a decimal.Decimal, kept as text" in captured.reasons
    assert any("/weights is an array of 1000 values" in reason for reason in captured.reasons)


def test_objects_have_the_same_text_in_every_process() -> None:
    first, second = (capture_config({"callback": object()}).document for _ in range(2))
    assert first == second


def test_config_without_names_stands_under_config() -> None:
    assert capture([1, 2]).values == {"config": [1, 2]}


def test_cycles_end() -> None:
    config: dict[str, object] = {"lr": 0.1}
    config["self"] = [config]
    captured = capture_config(config)
    assert taken(captured).values == {"lr": 0.1, "self": ["…"]}
    assert "/self/0 holds itself" in captured.reasons


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = {"depth": 12}
    assert capture({"student": shared, "teacher": shared}).values == {"student": shared, "teacher": shared}


def test_depth_is_bounded() -> None:
    config: Any = 1
    for _ in range(100):
        config = {"below": config}
    captured = capture_config(config)
    assert str(taken(captured).values).count("below") == MAX_DEPTH
    assert any("deeper" in reason for reason in captured.reasons)


@pytest.mark.parametrize(
    "config",
    [
        {f"key{n}": n for n in range(50_000)},
        {"vocabulary": ["word"] * 100_000},
        {f"text{n}": "x" * 5000 for n in range(1000)},
        {"text": "x" * 10_000_000},
        {"é" * 500 + str(n): "\x00" * 2000 for n in range(200)},
        {f"password{n}": "p" for n in range(4000)},
        {f"{n}_seed": n for n in range(4000)},
    ],
    ids=["keys", "list", "texts", "text", "escapes", "secrets", "seeds"],
)
def test_size_is_bounded_and_said(config: dict[str, object]) -> None:
    captured = capture_config(config)
    taken(captured)
    assert captured.reasons


_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=20) | st.datetimes()
    | st.decimals() | st.complex_numbers() | st.uuids() | st.timedeltas() | st.just(Precision.HALF)
    | st.characters(categories=["Cs"])
)  # fmt: skip
_keys = st.text() | st.integers() | st.none() | st.booleans() | st.floats() | st.tuples(st.text())
_configs = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_keys, inner, max_size=4)
        | st.tuples(inner, inner)
        | st.builds(lambda value: argparse.Namespace(value=value), inner)
        | st.frozensets(st.text() | st.integers(), max_size=4)
    ),
    max_leaves=25,
)


@given(_configs)
def test_any_config_is_a_document_of_the_service(config: object) -> None:
    captured = capture_config(config)
    assert Config.model_validate(captured.document).model_dump() == captured.document
    # The same config again is the same digest.
    assert canonicalize(captured.document) == canonicalize(capture_config(config).document)
