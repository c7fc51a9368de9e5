import re

import pytest

from shipworthy.formats.digests import DIGEST_PATTERN, digest_bytes, is_digest, sha256_digest

ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-4 example "abc"


def test_sha256_digest_matches_the_published_example() -> None:
    assert sha256_digest(b"abc") == ABC
    assert digest_bytes(ABC).hex() == ABC[7:]
    assert is_digest(ABC)
    assert re.search(DIGEST_PATTERN, ABC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ABC[7:],
        ABC.upper(),
        ABC + "\n",
        ABC + "0",
        ABC[:-1],
        "sha512:" + ABC[7:],
        " " + ABC,
        ABC[:-1] + "g",
    ],
)
def test_malformed_digests_are_refused(text: str) -> None:
    assert not is_digest(text)
    with pytest.raises(ValueError, match="write sha256: followed by 64"):
        digest_bytes(text)
