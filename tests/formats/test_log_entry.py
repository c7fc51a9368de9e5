import pytest

from shipworthy.formats.log_entry import leaf_entry


def test_leaf_entry_holds_digest_kind_and_version_only() -> None:
    digest = "sha256:" + "0a" * 32
    assert leaf_entry(digest, "run.registered") == f'{{"d":"{digest}","k":"run.registered","v":1}}'.encode()


def test_leaf_entry_refuses_a_bare_hash() -> None:
    with pytest.raises(ValueError, match="malformed"):
        leaf_entry("0a" * 32, "run.registered")
