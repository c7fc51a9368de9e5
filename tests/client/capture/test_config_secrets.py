"""Configurations: secrets are masked, seeds are found."""

import argparse

from hypothesis import given
from hypothesis import strategies as st

from shipworthy.capture.config import capture_config
from shipworthy.capture.secret_looks import MASK
from shipworthy.formats.jcs import canonicalize
from tests.client.capture.configs import capture, taken
from tests.client.capture.test_redaction import SECRETS


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
