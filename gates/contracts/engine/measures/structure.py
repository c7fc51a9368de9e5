"""Checks of columns and their types, answered from the Arrow schema: no query engine is asked what it renamed."""

from collections.abc import Mapping, Sequence

from gates.contracts.engine.measures.measure import Circumstances, Facts, Measure, Verdict, judged
from gates.contracts.engine.measures.volume import row_count_between
from gates.contracts.engine.opened import DeclaredColumn
from gates.contracts.engine.refusals import CheckRefused
from gates.contracts.engine.table import Column, Profile, TableShape


def column_exists(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """GX's expect_column_to_exist, with `column_index` at that place, from 0."""
    name, place = kwargs.get("column"), kwargs.get("column_index")
    names = [column.name for column in circumstances.shape.columns]
    if name in names and isinstance(place, int) and names[place : place + 1] != [name]:
        return _known(judged(False, f"Column {name!r} is at place {names.index(str(name))}, not {place}."))
    held = name in names
    return _known(judged(held, f"The data has {'a' if held else 'no'} column {name!r}."))


def column_count(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """GX's expect_table_column_count_to_equal and …_to_be_between."""
    count = len(circumstances.shape.columns)
    counted = row_count_between(kwargs, circumstances).judge(Facts(Profile(count, {})))
    return _known(Verdict(counted.outcome, f"The data has {count} columns.", observed=count))


def column_names(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """GX's expect_table_columns_to_match_set (exact_match) and …_ordered_list."""
    actual = [column.name for column in circumstances.shape.columns]
    ordered = kwargs.get("column_list")
    if isinstance(ordered, list | tuple):
        return _known(judged(actual == list(ordered), f"The data has the columns {', '.join(actual)[:200]}."))
    wanted = kwargs.get("column_set")
    if not isinstance(wanted, list | tuple):
        raise CheckRefused("The check names no columns. Add `column_set` or `column_list`.")
    missing = sorted(set(map(str, wanted)) - set(actual))
    extra = (
        sorted(set(actual) - set(map(str, wanted))) if kwargs.get("exact_match", True) is not False else []
    )
    sentence = f"Missing: {_listed(missing)}; not in the set: {_listed(extra)}."
    return _known(judged(not missing and not extra, sentence, unexpected=len(missing) + len(extra)))


def column_type(kwargs: Mapping[str, object], circumstances: Circumstances) -> Measure:
    """GX's expect_column_values_to_be_of_type and …_in_type_list, by names of Arrow types."""
    column = circumstances.column(kwargs)
    listed = kwargs.get("type_list")
    wanted = listed if isinstance(listed, list | tuple) else [kwargs.get("type_")]
    held = bool(set(map(str, wanted)) & set(column.types))
    return _known(judged(held, f"Column {column.name!r} is {column.types[0]}.", observed=column.types[0]))


def schema_differences(
    shape: TableShape, declared: Sequence[DeclaredColumn], profile: Profile | None
) -> list[str]:
    """What is wrong, one clause each. Order does not count, and columns the contract does not name are allowed.

    A column stated as never null may be nullable by its type, as most writers leave it, when it holds no null. A
    column that lacks any value in CSV has no type to compare.
    """
    twice = sorted({column.name for column in shape.columns if column.ambiguous})
    wrong = [f"{_listed(twice)} are the same name but for their case"] if twice else []
    return wrong + _compared(shape.columns, declared, "", profile)


def _compared(
    actual: Sequence[Column], declared: Sequence[DeclaredColumn], within: str, profile: Profile | None
) -> list[str]:
    wrong: list[str] = []
    by_name = {column.name: column for column in actual}
    for wanted in declared:
        shown = f"{within}{wanted.name}"
        column = by_name.get(wanted.name)
        if column is None:
            wrong.append(f"{shown} is missing")
        elif wanted.types and not set(wanted.types) & set(column.types):
            wrong.append(f"{shown} is {column.types[0]} instead of {' or '.join(wanted.types[:4])}")
        else:
            wrong += _inner(column, wanted, shown, profile)
    return wrong


def _inner(column: Column, wanted: DeclaredColumn, shown: str, profile: Profile | None) -> list[str]:
    wrong = []
    nulls = profile.nulls(column.name) if profile is not None and column.name in profile.filled else None
    if not wanted.nullable and column.nullable and nulls != 0:
        wrong.append(f"{shown} {'has nulls' if nulls else 'may be null'}")
    if not wanted.fields or not column.fields:
        return wrong
    if column.types[-1] == "struct":
        return wrong + _compared(column.fields, wanted.fields, f"{shown}.", None)
    # Elements of lists, keys and values of maps are compared by place: writers name them as they like.
    renamed = [
        DeclaredColumn(inner.name, each.types, each.nullable, each.fields)
        for inner, each in zip(column.fields, wanted.fields, strict=False)
    ]
    return wrong + _compared(column.fields, renamed, f"{shown}.", None)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or "none"


def schema_matches(declared: Sequence[DeclaredColumn], circumstances: Circumstances) -> Measure:
    """The exact comparison as a check; nulls of top-level columns are counted in the data."""

    def judge(facts: Facts) -> Verdict:
        wrong = schema_differences(circumstances.shape, declared, facts.profile)
        sentence = f"The schema differs: {'; '.join(wrong[:8])}." if wrong else "The schema is as stated."
        return judged(not wrong, sentence, observed=len(wrong), unexpected=len(wrong))

    return Measure(judge)


def _known(verdict: Verdict) -> Measure:
    return Measure(lambda facts: verdict)
