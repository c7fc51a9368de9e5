"""Aliases that a reader takes for another one: `сhampion` with a Cyrillic first letter, `Champion`, `champ1on`."""

import unicodedata
from typing import Final

from shipworthy.mlflow.confusables import LOOKS_LIKE

_SAME: Final = str.maketrans({each: letter for letter, row in LOOKS_LIKE.items() for each in row})


def skeleton(name: str) -> str:
    """Equal for two names that look alike, after UTS 39 section 4. Only for comparing, never for showing."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return folded.translate(_SAME)
