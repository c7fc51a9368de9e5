"""Which aliases count as protected, and which only read like one that is."""

import pytest

from shipworthy.mlflow.protections import UNKNOWN, Standing
from tests.mlflow.states import make_protections

LOOKALIKES = {
    "Cyrillic first letter": "\u0441hampion",
    "Cyrillic throughout": "\u0441h\u0430m\u0440\u0456\u043en",
    "Greek omicron": "champi\u03bfn",
    "Armenian oh": "champi\u0585n",
    "full width": "\uff43\uff48\uff41\uff4d\uff50\uff49\uff4f\uff4e",
    "mathematical bold": "\U0001d41c\U0001d421\U0001d41a\U0001d426\U0001d429\U0001d422\U0001d428\U0001d427",
    "dotless i": "champ\u0131on",
    "digit one": "champ1on",
    "letter l": "champlon",
    "digit zero": "champi0n",
    "capital": "Champion",
    "capitals": "CHAMPION",
    "long s and ligature are folded": "champ\u2170on",
    "small capitals": "\u1d04hampi\u1d0fn",
}


@pytest.mark.parametrize("alias", LOOKALIKES.values(), ids=LOOKALIKES.keys())
def test_alias_that_reads_like_a_protected_one_is_a_lookalike(alias: str) -> None:
    assert make_protections().standing(alias) is Standing.LOOKALIKE


@pytest.mark.parametrize("alias", ["challenger", "champion2", "champion-eu", "champions", "чемпион", "dev"])
def test_other_alias_is_free(alias: str) -> None:
    assert make_protections().standing(alias) is Standing.FREE


def test_the_protected_spelling_is_protected_however_it_is_spelled() -> None:
    protections = make_protections(["Champion", "\u0441hallenger"])
    assert protections.standing("Champion") is Standing.PROTECTED
    assert protections.standing("champion") is Standing.LOOKALIKE
    assert protections.standing("challenger") is Standing.LOOKALIKE


def test_every_alias_is_protected_until_the_service_has_answered_and_when_it_says_all() -> None:
    assert UNKNOWN.standing("anything") is Standing.PROTECTED
    assert make_protections([], everything=True).standing("anything") is Standing.PROTECTED
    assert UNKNOWN.protects_stage("Production")
    assert UNKNOWN.protects_stage("Staging")
    assert UNKNOWN.gates_registration("anything")
