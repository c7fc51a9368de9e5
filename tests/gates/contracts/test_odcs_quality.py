"""Quality rules of ODCS and its agreements."""

import pytest

from gates.contracts.compiling import compile_contract
from gates.contracts.linting import lint_contract
from tests.gates.contracts.contracts import checks, errors, left, odcs, one_column, one_rule

RULE = "/schema/0/properties/0/quality/0"


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("mustBe", "0"),
        ("mustNotBe", "3.14"),
        ("mustBeGreaterThan", "59"),
        ("mustBeGreaterOrEqualTo", "60"),
        ("mustBeLessThan", "1000"),
        ("mustBeLessOrEqualTo", "5"),
        ("mustBeBetween", "[0, 100]"),
        ("mustNotBeBetween", "[0, 100]"),
    ],
)
def test_every_operator_travels(operator: str, value: str) -> None:
    (check,) = checks(one_rule(f"metric: nullValues\n{operator}: {value}"))
    assert check.type == "expect_library_metric"
    assert check.kwargs["operator"] == operator
    assert str(check.kwargs["value"]) == value
    assert check.kwargs["metric"] == "nullValues"
    assert check.kwargs["unit"] == "rows"
    assert check.kwargs["column"] == "amount"


def test_at_most_five_percent_invalid_with_all_it_says_about_itself() -> None:
    document = one_rule(
        """
        id: valid_amounts
        metric: invalidValues
        mustBeLessOrEqualTo: 5
        unit: percent
        arguments: {validValues: ["", null, "n/a"], pattern: "^[0-9]+$"}
        description: Amounts are numbers.
        dimension: conformity
        severity: warning
        """
    )
    (check,) = checks(document)
    assert check.id == "valid_amounts"
    assert check.kwargs["unit"] == "percent"
    assert check.kwargs["arguments"] == {"validValues": ["", None, "n/a"], "pattern": "^[0-9]+$"}
    assert (check.about.severity, check.about.blocking) == ("warning", False)
    assert (check.about.dimension, check.about.description) == ("conformity", "Amounts are numbers.")
    assert check.rule == RULE


def test_rules_of_the_object() -> None:
    document = odcs(
        """
        schema:
          - name: orders
            properties: [{name: tenant, physicalName: tenant_id}, {name: order}]
            quality:
              - {metric: rowCount, mustBeBetween: [100, 120]}
              - {metric: duplicateValues, mustBe: 0, arguments: {properties: [tenant, order]}}
        """
    )
    rows, duplicates = checks(document)
    assert rows.kwargs["metric"] == "rowCount"
    assert rows.kwargs["column"] is None
    assert duplicates.kwargs["columns"] == ["tenant_id", "order"]
    assert duplicates.kwargs["arguments"] == {}


def test_two_operators_of_one_rule_are_two_checks() -> None:
    first, second = checks(one_rule("metric: nullValues\nmustBeGreaterThan: 0\nmustBeLessThan: 100"))
    assert (first.id, second.id) == ("nullValues:amount", "nullValues:amount#2")
    assert first.rule == second.rule


@pytest.mark.parametrize(
    ("rule", "member", "told"),
    [
        ("metric: nullValue\nmustBe: 0", "/metric", "is no metric"),
        ("mustBe: 0", "", "names no metric"),
        ("metric: rowCount\nmustBe: 5", "/metric", "is measured of the object"),
        ("metric: nullValues", "", "compares with nothing"),
        ("metric: nullValues\nmustbe: 0", "", "compares with nothing"),
        ("metric: nullValues\nmustbe: 0", "/mustbe", "did you mean `mustBe`?"),
        ("metric: nullValues\nmustBe: '0'", "/mustBe", "must be a number, without quotes"),
        ("metric: nullValues\nmustBe: true", "/mustBe", "must be a number"),
        ("metric: nullValues\nmustBe: 9007199254740992", "/mustBe", "beyond"),
        ("metric: nullValues\nmustBeBetween: [5, 6]", "/mustBeBetween", "no whole number lies between"),
        ("metric: nullValues\nmustBeBetween: [6, 5]", "/mustBeBetween", "swap them"),
        ("metric: nullValues\nunit: permille\nmustBe: 0", "/unit", "write rows or percent"),
        ("metric: missingValues\nmustBe: 0", "", "needs arguments.missingValues"),
        ("metric: invalidValues\nmustBe: 0\narguments:\npattern: a", "/pattern", "is no member"),
        ("metric: invalidValues\nmustBe: 0\narguments: {pattern: 'a++'}", "/arguments", "possessive"),
        ("metric: nullValues\nmustBe: 0\narguments: {x: 1}", "/arguments", "has no argument `x`"),
        ("metric: nullValues\nmustBe: 0\nseverity: fatal", "/severity", "is no severity"),
        ("type: regex\nmustBe: 0", "/type", "is no type of rule"),
        ("type: sql\nmustBe: 0", "", "needs a `query`"),
        ("type: custom\nimplementation: {}", "", "needs an `engine`"),
        ("type: custom\nengine: gx\nimplementation: 'a: [1'", "/implementation", "is not YAML"),
        ("type: custom\nengine: gx\nimplementation: {kwargs: {}}", "/implementation", "needs `type`"),
        (
            "type: custom\nengine: shipworthy\nimplementation: {expectation: expect_column_to_exist}",
            "/implementation/expectation",
            "is none of Shipworthy's expectations",
        ),
    ],
)
def test_faulty_rule_is_told_at_its_member_and_is_not_lost(rule: str, member: str, told: str) -> None:
    document = one_rule(rule)
    assert told in errors(document)[RULE + member]
    assert RULE in left(document) or any(
        check.rule == RULE and check.about.blocking for check in checks(document)
    )


def test_percent_between_may_lie_between_whole_numbers() -> None:
    assert errors(one_rule("metric: nullValues\nunit: percent\nmustBeBetween: [5, 6]")) == {}


def test_unknown_column_of_a_composite_rule_is_told() -> None:
    document = odcs(
        """
        schema:
          - name: orders
            properties: [{name: Id}]
            quality: [{metric: duplicateValues, mustBe: 0, arguments: {properties: [id]}}]
        """
    )
    told = errors(document)["/schema/0/quality/0/arguments/properties/0"]
    assert "has no column 'id'; it has 'Id', and names are case-sensitive" in told


def test_text_rule_is_for_people() -> None:
    document = one_rule("type: text\ndescription: Looks plausible.", members="required: true")
    assert left(document)[RULE].reason == "a text rule is for people"
    assert not left(document)[RULE].blocking
    strict = one_rule("type: text\nseverity: error", members="required: true")
    assert left(strict)[RULE].blocking


def test_contract_with_only_text_rules_never_passes() -> None:
    document = one_rule("type: text\ndescription: Looks plausible.", members="logicalType: string")
    own = left(document)["/schema/0"]
    assert own.blocking
    assert "no rule beside types can be checked" in own.reason
    assert "no rule beside types" in errors(document)["/schema/0"]
    assert "/schema/0" not in left(one_column("logicalType: string"))


def test_engines_that_are_not_run_block_as_their_rule_says() -> None:
    assert left(one_rule("type: custom\nengine: soda\nimplementation: x"))[RULE].blocking
    quiet = one_rule("type: custom\nengine: soda\nimplementation: x\nseverity: info")
    assert not left(quiet)[RULE].blocking


def test_sql_names_object_and_column_as_they_are() -> None:
    document = one_rule(
        'type: sql\nquery: "SELECT count(*) FROM ${table} WHERE {property} < 0"\nmustBe: false'
    )
    (check,) = checks(document)
    assert check.type == "expect_sql_result"
    assert check.kwargs == {
        "query": 'SELECT count(*) FROM "orders" WHERE "amount" < 0',
        "operator": "mustBe",
        "value": 0,
    }


@pytest.mark.parametrize("engine", ["greatExpectations", "great-expectations", "gx"])
def test_great_expectations_rule_takes_the_column_it_stands_under(engine: str) -> None:
    document = one_rule(
        f"""
        type: custom
        engine: {engine}
        implementation: |
          type: expect_column_values_to_be_between
          kwargs: {{min_value: 0}}
        """
    )
    (check,) = checks(document)
    assert check.type == "expect_column_values_to_be_between"
    assert check.kwargs == {"column": "amount", "min_value": 0}


def test_kwargs_in_another_case_are_told() -> None:
    document = one_rule(
        """
        type: custom
        engine: greatExpectations
        implementation: {type: expect_table_row_count_to_be_between, kwargs: {minValue: 10}}
        """
    )
    assert "did you mean min_value?" in errors(document)[f"{RULE}/implementation/kwargs/minValue"]


def test_baseline_rule_without_a_baseline_is_told() -> None:
    rule = """
        type: custom
        engine: shipworthy
        implementation: {expectation: expect_population_stability_index_to_be_at_most, max: 0.1}
        """
    document = one_rule(rule)
    (check,) = checks(document)
    assert check.baseline
    assert check.kwargs == {"column": "amount", "max": 0.1}
    assert compile_contract(document).needs_baseline
    assert [each.severity for each in lint_contract(document)] == ["warning"]
    digest = "sha256:" + "a" * 64
    top = f"customProperties:\n  - property: shipworthy.baseline\n    value: {digest}\n"
    pinned = one_rule(rule, top=top)
    assert compile_contract(pinned).suite["baseline"] == digest
    assert lint_contract(pinned) == []
    wrong = one_rule(rule, top=top.replace("sha256:", "sha1:"))
    assert "must be the digest" in errors(wrong)["/customProperties/0/value"]


def test_waivers_need_a_known_check_and_a_reason() -> None:
    top = """
        customProperties:
          - property: shipworthy.waive
            value:
              - {check: "no_nan:amount", reason: NaN marks a refund.}
              - {check: schema_to_match, reason: The file has no types.}
              - {check: row_count_at_least_one}
              - {check: primary_key, reason: Too strict.}
          - property: shipworthy.baselne
            value: x
        """
    document = one_column("logicalType: number\nrequired: true", top=top)
    compiled = compile_contract(document)
    assert compiled.suite["waived"] == ["no_nan:amount", "schema_to_match"]
    assert "waives" in left(document)["/schema/0/properties/0/logicalType"].reason
    told = errors(document)
    assert "needs a `reason`" in told["/customProperties/0/value/2"]
    assert "remove other rules instead" in told["/customProperties/0/value/3"]
    assert "is unknown" in told["/customProperties/1"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("value: 4\n    unit: d", 345_600),
        ("value: 1.5\n    unit: hours", 5400.0),
        ("value: 2\n    unit: y", 63_072_000),
        ("value: PT36H", 129_600),
        ("value: P1DT30M", 88_200),
    ],
)
def test_freshness_is_an_age_in_seconds(value: str, seconds: float) -> None:
    top = f"slaProperties:\n  - property: freshness\n    element: amount\n    {value}\n"
    (check,) = checks(one_column("logicalType: timestamp", top=top))
    assert check.type == "expect_age_to_be_at_most"
    assert check.kwargs["max_seconds"] == seconds
    assert check.kwargs["time_zone"] == "UTC"
    assert check.about.dimension == "timeliness"


@pytest.mark.parametrize(
    ("options", "zone"),
    [("{timezone: true}", None), ("{defaultTimezone: Europe/Berlin}", "Europe/Berlin"), ("{}", "UTC")],
)
def test_age_reads_times_in_the_zone_of_the_column(options: str, zone: str | None) -> None:
    top = "slaProperties:\n  - {property: latency, value: 1, unit: d, element: orders.amount}\n"
    (check,) = checks(one_column(f"logicalType: timestamp\nlogicalTypeOptions: {options}", top=top))
    assert check.kwargs["time_zone"] == zone


@pytest.mark.parametrize(
    ("agreement", "told"),
    [
        ("value: 1, unit: m, element: amount", "write s, min, h, d, w or y"),
        ("value: 1, element: amount", "has no unit"),
        ("value: soon, unit: d, element: amount", "is no age"),
        ("value: -1, unit: d, element: amount", "is no age"),
        ("value: 1, unit: d", "names no element"),
        ("value: 1, unit: d, element: other.amount", "names no object"),
        ("value: P1M, element: amount", "is no age"),
    ],
)
def test_faulty_age_is_told_and_blocks(agreement: str, told: str) -> None:
    document = one_column("required: true", top=f"slaProperties:\n  - {{property: ly, {agreement}}}\n")
    assert told in errors(document)["/slaProperties/0"]
    assert left(document)["/slaProperties/0"].blocking
