"""Libraries that the program has imported already. Capture never imports a heavy one itself."""

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def attribute(module: str, path: str) -> object | None:
    """What a dotted path in an already imported module names; None without module or attribute."""
    found: object | None = sys.modules.get(module)
    for name in path.split("."):
        if found is None:
            return None
        try:
            found = getattr(found, name, None)
        except Exception:  # noqa: BLE001 - a lazy attribute of a foreign library may load and raise anything
            return None
    return found


def called(module: str, path: str) -> object | None:
    """The result of a function without arguments in an already imported module; None when it can't be had."""
    function = attribute(module, path)
    return attempted(function) if callable(function) else None


def attempted(function: Callable[[], T]) -> T | None:
    """The result, or None for whatever the call raises: drivers and broken installations raise anything."""
    try:
        return function()
    except Exception:  # noqa: BLE001 - foreign libraries at the border of the process
        return None
