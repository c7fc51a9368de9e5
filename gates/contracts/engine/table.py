"""The seam: all that judging needs of an engine that holds data. DuckDB is one; others can take its place."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from gates.contracts.engine.opened import Limits, Source
from gates.contracts.engine.refusals import CheckRefused

Kind: TypeAlias = Literal[
    "integer", "float", "decimal", "text", "boolean", "date", "naive", "aware", "nested", "other"
]
"""`naive` and `aware` are instants without and with a time zone."""
NUMBERS: frozenset[Kind] = frozenset({"integer", "float", "decimal"})
TIMES: frozenset[Kind] = frozenset({"date", "naive", "aware"})


@dataclass(frozen=True, slots=True)
class Column:
    """One column as the files have it. `types` are all names its Arrow type goes by, the exact one first.

    An ambiguous column shares its name with another, or differs from it only in case: no query can tell them apart.
    """

    name: str
    types: tuple[str, ...]
    kind: Kind
    nullable: bool
    fields: "tuple[Column, ...]" = ()
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class TableShape:
    """What is known before a query runs: columns in file order, digests of the schema and of Parquet's footers."""

    columns: tuple[Column, ...]
    schema_digest: str
    footer_digest: str | None

    def column(self, name: str) -> Column:
        """The column of exactly this name; CheckRefused when there is none or more than one."""
        found = [column for column in self.columns if column.name == name]
        if not found:
            near = [column.name for column in self.columns if column.name.casefold() == name.casefold()]
            hint = f"; it has {near[0]!r}, and names are case-sensitive" if near else ""
            raise CheckRefused(f"The data has no column {name!r}{hint}. Correct the rule or the data.")
        if found[0].ambiguous:
            raise CheckRefused(
                f"Column {name!r} can't be told from another whose name is the same or differs only in case. "
                "Rename one of them."
            )
        return found[0]


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """A check of values that Great Expectations judges; kwargs as it takes them."""

    id: str
    type: str
    kwargs: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a ValueCheck. `error` is a sentence when there is no answer; then `success` is False.

    `observed` is a statistic, never a value out of a row of text; counts are None where the check has none.
    """

    success: bool
    observed: int | float | str | None = None
    rows: int | None = None
    nulls: int | None = None
    unexpected: int | None = None
    error: str | None = None


Rows: TypeAlias = Sequence[tuple[object, ...]]


class Table(Protocol):
    """Data that is open. In SQL its name is `data`."""

    @property
    def shape(self) -> TableShape: ...

    def select(self, sql: str) -> Rows:
        """The rows of a query of our own; CheckRefused says in general terms why it failed."""
        ...

    def select_rule(self, sql: str, table_name: str) -> Rows:
        """The rows of a query out of a contract, at most two; CheckRefused unless it is exactly one SELECT."""
        ...

    def judge_values(self, checks: Sequence[ValueCheck], rows: int) -> Mapping[str, Finding]:
        """One finding for each check, by its id; `rows` is the length of the table."""
        ...


class Engine(Protocol):
    """A way to open data."""

    @property
    def name(self) -> str: ...

    def versions(self) -> dict[str, str]:
        """The packages whose versions may change an answer."""
        ...

    def open(self, source: Source, limits: Limits) -> AbstractContextManager[Table]:
        """Raises DataUnreadable."""
        ...


@dataclass(frozen=True, slots=True)
class Profile:
    """Rows of the table; by column, values that are not null, and NaNs among them (float columns only).

    `distinct` is a guess, up to 4 % off: only for what it says about cost.
    """

    rows: int
    filled: Mapping[str, int]
    nans: Mapping[str, int] = field(default_factory=dict)
    distinct: Mapping[str, int] = field(default_factory=dict)

    def nulls(self, column: str) -> int:
        return self.rows - self.filled[column]
