"""The contracts of the documentation are contracts."""

import re

from gates.contracts.compiling import compile_contract
from gates.contracts.document import read_contract
from gates.contracts.gx_expectations import ALLOWED
from gates.contracts.linting import lint_contract
from gates.contracts.own_expectations import OWN
from gates.contracts.rules import rules_of
from tests.gates.contracts.contracts import DATA, accounted

PAGE = (DATA.parents[1] / "docs/contracts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(yaml|json)\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
CONTRACTS = [(kind, text) for kind, text in BLOCKS if "DataContract" in text or '"expectations"' in text]


def test_every_contract_in_the_page_compiles_and_lint_tells_only_what_the_page_says() -> None:
    assert [kind for kind, _ in CONTRACTS] == ["yaml", "json"]
    for kind, text in CONTRACTS:
        document = read_contract(text.encode(), "yaml" if kind == "yaml" else "json")
        compiled = compile_contract(document)
        assert [each.message for each in lint_contract(document)] == []
        assert set(rules_of(document)) <= accounted(compiled)


def test_example_contract_has_the_checks_it_shows() -> None:
    (only,) = compile_contract(read_contract(CONTRACTS[0][1].encode(), "yaml")).objects
    blocking = {check.id for check in only.checks if check.about.blocking}
    assert {"few_missing_fares", "fares_as_usual", "age:pickup_datetime", "not_null:vendor_id"} <= blocking
    assert [rule.blocking for rule in only.not_evaluated] == [False, False]


def test_page_names_every_expectation_of_ours_with_its_kwargs() -> None:
    rows = dict(re.findall(r"^\| `(expect_\w+)` \| ([^|]+) \|", PAGE, flags=re.MULTILINE))
    assert rows.keys() >= OWN.keys()
    for name, specification in OWN.items():
        assert set(re.findall(r"`(\w+)`", rows[name])) == set(specification.kwargs), name
    replaced = [name for name in ALLOWED if "quantile" in name or name == "unexpected_rows_expectation"]
    assert all(f"`{name}`" in PAGE for name in replaced)
