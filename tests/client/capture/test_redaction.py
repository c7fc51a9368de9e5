"""Secrets are masked by name and by look; what only looks like one to a careless eye stays."""

import pytest

from shipworthy.capture.redaction import is_secret_name, redact_arguments, redact_text
from shipworthy.capture.secret_looks import MASK, redact_values

# None of these is a key of anyone. Put together from parts, so that scanners for secrets pass over this file.
SECRETS = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + "a1B2c3D4e5F6" * 3,
    "github fine-grained": "github_pat_" + "11ABCDEFG0" * 4,
    "gitlab": "glpat-" + "xYz_123-abcDEF456ghi",
    "hugging face": "hf_" + "AbCdEfGhIj" * 3,
    "openai": "sk-" + "proj-abcDEF123456" * 2,
    "slack": "xoxb-" + "123456789012-abcdefABCDEF",
    "google": "AIza" + "SyA-1234567890abcdefghijklmnopqrstu",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "shipworthy": "sw_abcdefgh2345_" + "0123456789abcdef" * 4 + "_0a1b2c3d",
    "pem": "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE" + " KEY-----",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("text", ["{}", "login with {} failed", "a={};b", "'{}'", "[{}, 1]"])
def test_secret_is_masked_by_its_look_anywhere(secret: str, text: str) -> None:
    assert redact_text(text.format(secret)) == text.format(MASK)
    assert secret not in redact_values(text.format(secret))


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("postgresql://ada:hunter2@db.example.org/runs", "postgresql://***@db.example.org/runs"),
        ("could not reach mongodb+srv://a:p@ss/w@host:1/x", "could not reach mongodb+srv://***@host:1/x"),
        ("https://0123token@git.example.org/a.git", "https://***@git.example.org/a.git"),
        ("Authorization: Bearer abcdef123456", "Authorization: *** ***"),
        ("password=hunter2 user=ada", "password=*** user=ada"),
        ('{"db_password": "hunter 2", "port": 5432}', '{"db_password": "***", "port": 5432}'),
        ("train.py --api-key k3y --epochs 3", "train.py --api-key *** --epochs 3"),
        ("AccountName=a;AccountKey=MTIzNDU2Nzg5MDEyMzQ1Ng==;", "AccountName=a;AccountKey=***;"),
        ("config: password=hunter2", "config: password=***"),
        ("GET /o?X-Amz-Signature=0a1b2c&part=2", "GET /o?X-Amz-Signature=***&part=2"),
    ],
)
def test_only_the_secret_part_of_a_text_is_masked(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=1024, pad_token_id=0, eos_token=</s>, tokenizer=bpe",
        "num_train_tokens: 300000000000",
        "the password is wrong",
        "s3://bucket/key/v42 at ssh://git@git.example.org/a.git",
        "https://tracking.example.org:5000/#/experiments/1?x=a@b",
        "commit 9f3c2d1e9f3c2d1e9f3c2d1e9f3c2d1e9f3c2d1e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "monkey=1 keyboard=2 key=loss",
        "use_auth_token=False, token=None, access_token: null",
        "12:30:05 ada@example.org wrote",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "DB_PASSWORD",
        "dbPassword",
        "apiKey",
        "X-API-Key",
        "OPENAI_API_KEY",
        "wandb.api_key",
        "secretkey",
        "aws_secret_access_key",
        "client_secret",
        "hf_token",
        "authToken",
        "token",
        "api_tokens",
        "private_key",
        "Authorization",
        "credentials",
        "gcp_credential_json",
        "dsn",
        "sentry_dsn",
        "connection_string",
        "database_url",
    ],
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "pad_token",
        "eos_token_id",
        "tokenizer",
        "special_tokens",
        "num_tokens",
        "tokens",
        "maxTokens",
        "key",
        "keys",
        "monkey",
        "primary_key",
        "author",
        "passes",
        "bypass",
        "hidden_size",
        "learning_rate",
        "compass",
        "key_padding_mask",
        "sort_key",
        "attention_key_dim",
    ],
)
def test_names_that_are_none(name: str) -> None:
    assert not is_secret_name(name)


def test_command_line_keeps_its_shape() -> None:
    given = [
        "train.py",
        "--password",
        "hunter2",
        "--api-key=k3y",
        "--token",
        "--epochs",
        "3",
        "lr=0.1",
        "secret=x",
    ]
    assert redact_arguments(given) == (
        [
            "train.py",
            "--password",
            MASK,
            f"--api-key={MASK}",
            "--token",
            "--epochs",
            "3",
            "lr=0.1",
            f"secret={MASK}",
        ]
    )


def test_redaction_is_stable() -> None:
    for secret in SECRETS.values():
        once = redact_text(f"token={secret}; url=https://a:{secret}@h/ {secret}")
        assert redact_text(once) == once
