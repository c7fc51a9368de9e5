"""Texts that go into SQL, quoted so that they can't be anything else."""

import math

from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.table import NUMBERS, Column


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double_literal(value: float) -> str:
    """Exactly this IEEE 754 double; a bare 0.1 would be a decimal."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"


def as_double(column: Column) -> str:
    """The column as doubles: exact for 32-bit integers and floats, rounded beyond 2^53."""
    return (
        identifier(column.name)
        if column.types[0] == "float64"
        else f"CAST({identifier(column.name)} AS DOUBLE)"
    )


def literal_for(column: Column, value: object) -> str | None:
    """A value of a contract or baseline as the column's own type; None when the column can't hold it.

    An integral label such as 1 is found in a float column as 1.0, and in a text column as "1".
    """
    if column.kind in NUMBERS:
        return _number_literal(column, value)
    if isinstance(value, bool):
        return text_literal("true" if value else "false")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return text_literal(str(value)) if isinstance(value, str | int | float) else None


def comparable(column: Column) -> str:
    """The expression that `literal_for` is compared with."""
    name = identifier(column.name)
    return name if column.kind in NUMBERS or column.kind == "text" else f"CAST({name} AS VARCHAR)"


def one_of(column: Column, values: list[object]) -> str:
    """A condition: the column's value is one of these. Null gives null."""
    literals = [literal for value in values if (literal := literal_for(column, value)) is not None]
    return f"{comparable(column)} IN ({', '.join(literals)})" if literals else "false"


def _number_literal(column: Column, value: object) -> str | None:
    if isinstance(value, str):
        try:
            value = float(value) if "." in value or "e" in value.lower() else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) or (math.isfinite(value) and value.is_integer()):
        return str(int(value)) if column.kind != "float" else double_literal(value)
    if not math.isfinite(value):
        raise CheckRefused("A value of the rule is not finite. Write a number.")
    return double_literal(value)
