"""The fixed words of a decision's page."""

import pytest

from api.web.decision_words import RESULTS, result_word


@pytest.mark.parametrize(
    ("outcome", "members", "text"),
    [
        ("passed", {}, "Passed"),
        ("failed", {}, "Failed"),
        ("inconclusive", {}, "Inconclusive"),
        ("waived", {}, "Waived"),
        ("error", {"code": "no_attempt"}, "No value"),
        ("error", {"code": "stale"}, "Stale"),
        ("error", {"code": "expired"}, "Stale"),
        ("error", {"state": "unmet"}, "Needs review"),
        ("error", {"state": "first_release", "cleared_by": "sign-off"}, "Cleared by review"),
        ("inconclusive", {"cleared_by": "sign-off"}, "Cleared by review"),
    ],
)
def test_result_has_its_word(outcome: str, members: dict[str, str], text: str) -> None:
    assert result_word({"outcome": outcome, "state": None, **members}).text == text


def test_what_is_good_comes_last() -> None:
    """The page lists them in this order, and shows missing as worse than inconclusive."""
    order = list(RESULTS)
    assert (
        order.index("no_value") < order.index("inconclusive") < order.index("waived") < order.index("passed")
    )
