"""A result that fits into a record: of one that is too long all checks, or all slices, go into a blob."""

from collections.abc import Callable
from typing import Any, Final

from shipworthy.formats.digests import sha256_digest
from shipworthy.formats.jcs import canonicalize

MAX_RESULT_BYTES: Final = 240 * 1024
"""A record has at most 256 KiB; the rest is for its envelope."""
MAX_KEPT: Final = 200


def fitted(result: dict[str, Any], put_blob: Callable[[str, bytes], None]) -> dict[str, Any]:
    """The result itself when it is short enough; else with `checks_blob` and at most 200 of the checks that did not
    pass, the blocking ones first, as many as fit."""
    if "checks_blob" in result or len(canonicalize(result)) <= MAX_RESULT_BYTES:
        return result
    everything = canonicalize(result["checks"])
    digest = sha256_digest(everything)
    put_blob(digest, everything)
    bad = [check for check in result["checks"] if check["outcome"] != "passed"]
    kept = sorted(bad, key=lambda check: not check["blocking"])[:MAX_KEPT]
    short = {**result, "checks": kept, "checks_blob": digest}
    while len(canonicalize(short)) > MAX_RESULT_BYTES:
        kept = kept[: len(kept) // 2]
        short["checks"] = kept
    return short


def fitted_statistics(result: dict[str, Any], put_blob: Callable[[str, bytes], None]) -> dict[str, Any]:
    """The result itself when it is short enough; else its slices, all of them, go into a blob: `slices_blob`."""
    if "slices_blob" in result or len(canonicalize(result)) <= MAX_RESULT_BYTES:
        return result
    slices = canonicalize(result["slices"])
    digest = sha256_digest(slices)
    put_blob(digest, slices)
    return {**result, "slices": [], "slices_blob": digest}
