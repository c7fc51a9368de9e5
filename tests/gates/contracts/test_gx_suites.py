"""Suites of Great Expectations: the allow-list, what is replaced, and what lint tells."""

import importlib
import warnings
from typing import Any

import pytest

from gates.contracts.compiling import compile_contract
from gates.contracts.gx_expectations import ALLOWED
from gates.contracts.linting import lint_contract
from tests.gates.contracts.contracts import checks, errors, expectation, gx, left

BINS = {"bins": [0, 1, 2], "weights": [0.4, 0.4], "tail_weights": [0.1, 0.1]}
KL = "expect_column_kl_divergence_to_be_less_than"


def test_names_and_kwargs_are_those_of_the_installed_package() -> None:
    with warnings.catch_warnings():
        # Its dependencies warn as they are imported.
        warnings.simplefilter("ignore")
        core = importlib.import_module("great_expectations.expectations.core")
        base = importlib.import_module("great_expectations.expectations.expectation").Expectation
    classes = [each for each in vars(core).values() if isinstance(each, type) and issubclass(each, base)]
    known = {getattr(each, "expectation_type", None): set(vars(each)["__fields__"]) for each in classes}
    runnable = {name: set(each.kwargs) for name, each in ALLOWED.items() if each.refused is None}
    assert len(runnable) > 40
    foreign = {name: kwargs - known.get(name, set()) for name, kwargs in runnable.items()}
    assert {name: kwargs for name, kwargs in foreign.items() if kwargs} == {}
    # A type that a later version adds is looked at by a person before it runs.
    assert {name for name in known if name is not None and name.startswith("expect_")} - set(ALLOWED) == set()


@pytest.mark.parametrize(
    ("kind", "kwargs", "told"),
    [
        (
            "expect_column_values_to_be_between",
            {"column": "a", "min_value": 1, "mostly": 0},
            "passes on any data",
        ),
        ("expect_column_values_to_be_between", {"column": "a"}, "gives no bound"),
        ("expect_column_values_to_be_between", {"column": "a", "min_value": None}, "gives no bound"),
        ("expect_column_values_to_be_between", {"column": "a", "min_value": 2, "max_value": 1}, "swap them"),
        (
            "expect_column_values_to_be_between",
            {"column": "a", "min_value": 1, "max_value": 1, "strict_min": True},
            "no number lies between",
        ),
        ("expect_column_values_to_be_between", {"column": "a", "min_value": "soon"}, "ISO 8601"),
        ("expect_column_max_to_be_between", {"column": "a", "max_value": "9007199254740993"}, "int64"),
        ("expect_column_values_to_be_in_set", {"column": "a"}, "needs value_set"),
        ("expect_column_values_to_be_in_set", {"column": "a", "value_set": []}, "at least one value"),
        ("expect_column_values_to_be_in_set", {"column": "a", "value_set": [[1]]}, "must hold texts"),
        ("expect_column_values_to_match_regex", {"column": "a", "regex": "(?=x)"}, "RE2"),
        ("expect_column_values_to_match_regex_list", {"column": "a", "regex_list": ["x", "(a)\\1"]}, "RE2"),
        (
            "expect_column_values_to_match_like_pattern",
            {"column": "a", "like_pattern": "x", "escape": "!"},
            "no kwarg",
        ),
        ("expect_column_values_to_be_of_type", {"column": "a", "type_": "Quux"}, "is no type that is known"),
        (
            "expect_column_quantile_values_to_be_between",
            {"column": "a", "quantile_ranges": {"quantiles": [0.5], "value_ranges": [[None, None]]}},
            "passes on any data",
        ),
        (
            "expect_column_quantile_values_to_be_between",
            {
                "column": "a",
                "quantile_ranges": {"quantiles": [0.5], "value_ranges": [[0, 1]]},
                "allow_relative_error": True,
            },
            "must be false",
        ),
        (KL, {"column": "a", "threshold": 0.1}, "needs partition_object"),
        (KL, {"column": "a", "partition_object": BINS}, "needs threshold"),
        (
            KL,
            {"column": "a", "threshold": 0.1, "partition_object": {**BINS, "weights": [0.4, 0.5]}},
            "sum to 1.1; they must sum to 1",
        ),
        (
            KL,
            {"column": "a", "threshold": 0.1, "partition_object": {**BINS, "bins": [0, 1]}},
            "one bin edge more",
        ),
        (
            KL,
            {"column": "a", "threshold": 0.1, "partition_object": {**BINS, "bins": [0, 2, 1]}},
            "do not rise",
        ),
        (
            KL,
            {"column": "a", "threshold": 0.1, "partition_object": {"values": ["x"], "weights": [0.5, 0.5]}},
            "give as many values",
        ),
        (
            KL,
            {
                "column": "a",
                "threshold": 0.1,
                "partition_object": {"values": ["x", "x"], "weights": [0.5, 0.5]},
            },
            "names a value twice",
        ),
        ("expect_column_to_exist", {"column": {"$PARAMETER": "x"}}, "can't be such a parameter"),
        (
            "expect_column_values_to_not_be_null",
            {"column": "a", "mostly": {"$PARAMETER": "x"}},
            "can't be such a parameter",
        ),
        (
            "expect_column_values_to_be_between",
            {"column": "a", "min_value": {"$PARAMETER": "urn:great_expectations:stores:x"}},
            "can't be such a parameter",
        ),
        (
            "expect_column_values_to_not_be_null",
            {"column": "a", "row_condition": "__import__('os')"},
            "conditions are code",
        ),
        ("expect_column_values_to_be_increasing", {"column": "a"}, "have no order"),
        ("expect_table_row_count_to_equal_other_table", {"other_table_name": "x"}, "reads a second table"),
        ("expect_column_values_to_match_json_schema", {"column": "a", "json_schema": {}}, "has no SQL"),
        (
            "expect_column_values_to_not_be_nul",
            {"column": "a"},
            "did you mean expect_column_values_to_not_be_null?",
        ),
        ("expect_anything_at_all", {}, "is no expectation that is run"),
        ("expect_row_count_change_to_be_between", {"min_ratio": 1.5, "max_ratio": 0.5}, "swap them"),
        ("expect_row_count_change_to_be_between", {}, "gives no bound"),
        (
            "expect_quantiles_to_be_between",
            {"column": "a", "quantiles": [0.1, 0.9], "ranges": [[0, 1]]},
            "one pair for each",
        ),
        (
            "expect_age_to_be_at_most",
            {"column": "a", "max_seconds": 60, "time_zone": "Mars/North"},
            "IANA time zone",
        ),
        ("expect_label_shares_to_match_baseline", {"column": "a", "max_difference": 5}, "(5 % is 0.05)"),
    ],
)
def test_what_can_not_judge_is_told_and_blocks(kind: str, kwargs: dict[str, Any], told: str) -> None:
    document = gx(expectation(kind, **kwargs))
    assert any(told in message for message in errors(document).values()), errors(document)
    assert left(document)["/expectations/0"].blocking
    assert checks(document) == []


def test_standard_types_keep_their_name_and_kwargs() -> None:
    document = gx(
        expectation("expect_column_values_to_not_be_null", column="a", mostly=0.95),
        expectation("expect_column_values_to_be_between", column="a", max_value={"$PARAMETER": "highest"}),
    )
    first, second = checks(document)
    assert (first.id, first.type) == ("values_to_not_be_null:a", "expect_column_values_to_not_be_null")
    assert first.kwargs == {"column": "a", "mostly": 0.95}
    assert second.kwargs["max_value"] == {"$PARAMETER": "highest"}
    assert compile_contract(document).parameters == ("highest",)
    assert [each.severity for each in lint_contract(document)] == ["info"]
    assert lint_contract(document, ["highest"]) == []
    (missing,) = lint_contract(document, [])
    assert missing.severity == "error"
    assert "'highest', which is not given" in missing.message


def test_types_that_engines_read_differently_become_ours() -> None:
    document = gx(
        expectation(
            "expect_column_quantile_values_to_be_between",
            column="a",
            quantile_ranges={"quantiles": [0.1, 0.9], "value_ranges": [[0, 5], [None, 9]]},
        ),
        expectation("expect_column_values_to_be_of_type", column="a", type_="int64"),
        expectation("expect_column_values_to_be_in_type_list", column="a", type_list=["FLOAT", "LongType"]),
        expectation("expect_column_values_to_be_between", column="a", max_value="9007199254740993"),
        expectation(
            "unexpected_rows_expectation", unexpected_rows_query="SELECT * FROM {batch} WHERE a < 0;"
        ),
    )
    quantiles, exact, listed, between, rows = checks(document)
    assert quantiles.type == "expect_quantiles_to_be_between"
    assert quantiles.kwargs == {"column": "a", "quantiles": [0.1, 0.9], "ranges": [[0, 5], [None, 9]]}
    assert exact.type == listed.type == "expect_column_values_to_be_in_type_list"
    assert exact.kwargs["type_list"] == ["int64"]
    assert listed.kwargs["type_list"] == [
        "float16",
        "float32",
        "float64",
        "int64",
    ]
    assert between.type == "expect_int64_values_to_be_between"
    assert between.kwargs["max"] == "9007199254740993"
    assert rows.type == "expect_sql_result"
    assert rows.kwargs == {
        "query": 'SELECT count(*) FROM (SELECT * FROM "data" WHERE a < 0) AS unexpected_rows',
        "operator": "mustBe",
        "value": 0,
    }


def test_integers_of_2_to_the_53_are_exact_and_told() -> None:
    document = gx(expectation("expect_column_values_to_be_between", column="a", max_value=2**53))
    (check,) = checks(document)
    assert check.kwargs["max"] == "9007199254740992"
    (problem,) = lint_contract(document)
    assert problem.pointer == "/expectations/0/kwargs/max_value"
    assert '"9007199254740992"' in problem.message
    inside = gx(expectation("expect_column_values_to_be_between", column="a", max_value=2**53 - 1))
    assert lint_contract(inside) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"partition_object": {"bins": [0, 1, 2], "weights": [0.5, 0.5]}}, "a value outside the bins"),
        ({"partition_object": {"values": ["x"], "weights": [1]}}, "a label that the partition doesn't have"),
        ({"partition_object": {**BINS, "weights": [0.8, 0]}}, "a weight of 0"),
    ],
)
def test_kl_that_can_be_infinite_is_told_but_runs(change: dict[str, Any], told: str) -> None:
    document = gx(expectation(KL, column="a", threshold=0.1, **change))
    (problem,) = lint_contract(document)
    assert problem.severity == "warning"
    assert told in problem.message
    assert len(checks(document)) == 1
    finite = gx(expectation(KL, column="a", threshold=0.1, partition_object=BINS))
    assert lint_contract(finite) == []


def test_severity_dimension_and_description_travel() -> None:
    given = expectation("expect_column_values_to_be_unique", column="a")
    document = gx(
        {**given, "severity": "warning", "description": "One each.", "meta": {"dimension": "uniqueness"}}
    )
    (check,) = checks(document)
    assert not check.about.blocking
    assert (check.about.dimension, check.about.description) == ("uniqueness", "One each.")
    unknown = gx({**given, "severity": "fatal"})
    assert "critical, warning or info" in errors(unknown)["/expectations/0/severity"]
    assert checks(unknown)[0].about.blocking


def test_what_only_shapes_a_result_is_left_out_and_told() -> None:
    document = gx(expectation("expect_column_values_to_be_unique", column="a", result_format="COMPLETE"))
    (check,) = checks(document)
    assert check.kwargs == {"column": "a"}
    (problem,) = lint_contract(document)
    assert "results hold counts and no values" in problem.message


def test_empty_suite_never_passes() -> None:
    (only,) = compile_contract(gx()).objects
    assert [rule.blocking for rule in only.not_evaluated] == [True]
    assert "no rule" in errors(gx())[""]


def test_names_that_differ_in_case_only_are_told() -> None:
    document = gx(
        expectation("expect_column_to_exist", column="id"), expectation("expect_column_to_exist", column="Id")
    )
    assert "another rule 'id'; names are case-sensitive" in errors(document)["/expectations/1/kwargs/column"]


def test_suite_pins_a_baseline_and_waives_in_its_meta() -> None:
    digest = "sha256:" + "b" * 64
    meta = {
        "shipworthy": {"baseline": digest, "waive": [{"check": "no_nan:a", "reason": "NaN is a refund."}]}
    }
    document = gx(expectation("expect_binned_ks_to_be_at_most", column="a", max=0.1), meta=meta)
    compiled = compile_contract(document)
    assert (compiled.suite["baseline"], compiled.suite["waived"]) == (digest, ["no_nan:a"])
    assert compiled.needs_baseline
    assert lint_contract(document) == []
