"""What a baseline says of data: counts, bins, labels and quantiles of its columns, with how they were made.

The bins are fixed here so that later data falls into the same ones; the digest over the whole is what contracts pin.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from models.fields import Count, Digest, Label, Line, Value


class BaselineData(Value):
    """The snapshot that was measured."""

    manifest: Digest
    schema_digest: Digest | None = None
    rows: Count
    files: Count


class BaselineEngine(Value):
    name: Label
    version: Label


class Bins(Value):
    """Counts between neighbouring edges; `below` and `above` count what lies outside. Data with one value has one bin
    from it to itself."""

    edges: Annotated[list[float], Field(min_length=1, max_length=1001)]
    counts: Annotated[list[Count], Field(max_length=1000)]
    below: Count = 0
    above: Count = 0

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.counts) != len(self.edges) - 1:
            raise ValueError(
                f"has {len(self.edges)} edges, which bound {len(self.edges) - 1} bins; give a count for each"
            )
        if self.edges != sorted(self.edges):
            raise ValueError("has `edges` that don't rise; give them in ascending order")
        return self


class Quantiles(Value):
    """`definition` says how a quantile between two values is chosen: libraries differ."""

    definition: Line
    values: Annotated[dict[Label, float | Label | None], Field(max_length=100)]


LabelCount = Annotated[list[str | int | float | bool | None], Field(min_length=2, max_length=2)]
"""[value, count]"""


class BaselineColumn(Value):
    """One column; `labels` are there only for columns for which they were asked."""

    name: Label
    kind: Literal["number", "label"]
    n: Count
    nulls: Count
    nans: Count = 0
    bins: Bins | None = None
    labels: Annotated[list[LabelCount], Field(max_length=200)] | None = None
    other: Count = 0
    distinct: Count | None = None
    quantiles: Quantiles | None = None


class BaselineContent(Value):
    """One baseline, at most 200 KiB of JSON."""

    format: Literal["shipworthy.baseline/1"] = Field(alias="schema")
    data: BaselineData
    engine: BaselineEngine
    columns: Annotated[list[BaselineColumn], Field(max_length=1000)]
