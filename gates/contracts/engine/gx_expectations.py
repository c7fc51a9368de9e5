"""Great Expectations' own expectations, each of which writes its configuration down once.

GX makes the configuration anew whenever a single kwarg of it is looked up, a hundred times for each check: a quarter
of the processor time of checks on a small file.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from great_expectations.compatibility.pydantic import PrivateAttr
from great_expectations.expectations.expectation import Expectation
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from great_expectations.expectations.registry import get_expectation_impl

from gates.contracts.engine.gx_values import JUDGED

_PREFIX: Final = "Settled"
_TYPE_PREFIX: Final = "settled_"


class _Settled:
    """Goes before a class of GX. No field of an expectation may change after it was first looked at."""

    _written: Any

    @property
    def configuration(self) -> ExpectationConfiguration:
        if self._written is None:
            self._written = super().configuration  # type: ignore[misc]
        return cast(ExpectationConfiguration, self._written)


def expectation(type_name: str, kwargs: Mapping[str, object], meta: Mapping[str, object]) -> Expectation:
    """Raises what GX raises for kwargs that it does not take."""
    return cast(Expectation, _CLASSES[type_name](**kwargs, meta=dict(meta)))


def type_of(configuration: ExpectationConfiguration) -> str:
    """The type as contracts write it."""
    return configuration.type.removeprefix(_TYPE_PREFIX)


def _settled(type_name: str) -> Callable[..., object]:
    """A subclass under a name of its own: GX keeps one class for each type, and its own stay what they are."""
    theirs = get_expectation_impl(type_name)
    metaclass: Any = type(theirs)
    members = {"__module__": __name__, "_written": PrivateAttr(None)}
    made: Callable[..., object] = metaclass(_PREFIX + theirs.__name__, (_Settled, theirs), members)
    return made


_CLASSES: Final = {type_name: _settled(type_name) for type_name in JUDGED}
