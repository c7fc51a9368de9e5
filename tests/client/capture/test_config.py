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
from shipworthy.capture.config import MAX_DEPTH, CapturedConfig, capture_config
from shipworthy.capture.secret_looks import MASK
from shipworthy.formats.jcs import canonicalize
from tests.client.capture.test_redaction import SECRETS


def capture(config: object, *seed_keys: str) -> Config:
    return taken(capture_config(config, seed_keys))


def taken(captured: CapturedConfig) -> Config:
    """The document as the service reads it, within its limits on size and depth of a record."""
    assert len(canonicalize({"body": {"config": captured.document}})) < 256 * 1024
    return Config.model_validate(captured.document)


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


def test_secrets_are_masked_and_pointed_at() -> None:
    config = capture(
        {
            "db": {"url": "postgresql://ada:hunter2@db/runs", "pool": 5},
            "hub": {"hf_token": "abc", "use_auth_token": True, "max_tokens": 128},
            "credentials": {"user": "ada", "key": "k3y"},
            "a/b~c": {"password": 12345},
            "argv": ["train.py", "--api-key", "k3y", "--lr", "0.1"],
            "note": f"key {SECRETS['github']} works",
            "empty": {"password": "", "secret": None},
        }
    )
    assert config.values == {
        "db": {"url": "postgresql://***@db/runs", "pool": 5},
        "hub": {"hf_token": MASK, "use_auth_token": True, "max_tokens": 128},
        "credentials": MASK,
        "a/b~c": {"password": MASK},
        "argv": ["train.py", "--api-key", MASK, "--lr", "0.1"],
        "note": "key *** works",
        "empty": {"password": "", "secret": None},
    }
    assert config.redacted == [
        "/db/url", "/hub/hf_token", "/credentials", "/a~1b~0c/password", "/argv/2", "/note",
    ]  # fmt: skip


def test_secret_across_the_cut_of_a_long_text_leaves_no_half() -> None:
    for at in range(8150, 8200, 7):
        text = "x" * at + " " + SECRETS["github"]
        assert "ghp_" not in str(capture({"text": text}))


def test_seeds_are_found_by_name() -> None:
    config = capture(
        {
            "seed": 1,
            "data": {"shuffle_seed": 2, "randomState": 3, "seed_count": 4, "linseed": 5},
            "dataSeed": 6,
            "random_state": None,
            "RANDOM_SEED": "7",
            "use_seed": True,
            "lr": 0.1,
        }
    )
    assert config.seed_keys == [
        "/seed", "/data/shuffle_seed", "/data/randomState", "/dataSeed", "/random_state", "/RANDOM_SEED",
    ]  # fmt: skip


def test_seeds_can_be_named() -> None:
    captured = capture_config({"trainer": {"s": 1}, "start": 2, "lr": 0.1}, ["/trainer/s", "start", "gone"])
    assert taken(captured).seed_keys == ["/trainer/s", "/start"]
    assert captured.reasons == ("seed key 'gone' is not in the config; write it like /trainer/seed",)


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


@given(
    secret=st.sampled_from(list(SECRETS.values())),
    before=st.text(alphabet=" ,;\"'(){}[]=\n\té", max_size=5),
    after=st.text(alphabet=" ,;\"'(){}[]=\n\té", max_size=5),
    names=st.lists(st.text(max_size=8) | st.sampled_from(["text", "pad_token", "lr"]), max_size=5),
    as_list=st.booleans(),
)
def test_no_secret_survives_by_its_look(
    secret: str, before: str, after: str, names: list[str], as_list: bool
) -> None:
    config: object = f"{before}{secret}{after}"
    for name in names:
        config = [config] if as_list else {name: config}
    captured = capture_config({"top": config, f"{before}{secret}": 1})
    assert secret not in canonicalize(captured.document).decode()
    assert not any(secret in reason for reason in captured.reasons)
    assert captured.document["redacted"]


@given(
    name=st.sampled_from(
        ["password", "API_KEY", "dbPassword", "client-secret", "credentials", "private_key", "DSN"]
    ),
    prefix=st.sampled_from(["", "my_", "prod.", "x-"]),
    secret=st.text(alphabet="abcdefghijk0123456789", min_size=8, max_size=20).map(lambda text: f"Zq{text}"),
    inside=st.booleans(),
)
def test_no_secret_survives_under_its_name(name: str, prefix: str, secret: str, inside: bool) -> None:
    value: object = {"deep": [secret]} if inside else secret
    for config in (
        {prefix + name: value},
        {"a": [{prefix + name: value}]},
        argparse.Namespace(**{prefix + name: value}),
    ):
        captured = capture_config(config)
        assert secret not in canonicalize(captured.document).decode()
        assert captured.document["redacted"]
