"""`column IN (many values)` with one parameter for all of them.

SQLAlchemy's own `in_` renders a parameter for each value and the driver takes the text apart again: for two hundred
names that cost more than the rest of the statement, and PostgreSQL takes 65,535 parameters at most.
"""

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Boolean, ColumnElement, String, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Mapped
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _Among(FunctionElement[bool]):
    """Of a column and a JSON list."""

    inherit_cache = True
    type = Boolean()


def among(column: ColumnElement[str] | Mapped[str], values: Collection[str]) -> ColumnElement[bool]:
    """Whether the column is one of these texts; false for none."""
    return _Among(column, bindparam(None, json.dumps(list(values)), type_=String(), unique=True))


@compiles(_Among, "sqlite")
def _on_sqlite(element: _Among, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's own
    column, values = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"


@compiles(_Among, "postgresql")
def _on_postgresql(element: _Among, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    # An array that is made once, which an index of the column is asked for.
    column, values = (compiler.process(each, **options) for each in element.clauses)
    return f"{column} = ANY(ARRAY(SELECT json_array_elements_text(CAST({values} AS json))))"
