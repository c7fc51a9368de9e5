import json

import pytest

from gates.contracts.compiling import compile_contract
from gates.contracts.document import read_contract
from gates.documents.problems import DocumentError
from tests.gates.contracts.contracts import HEAD, gx, odcs


def refused(data: bytes, media: str = "yaml") -> str:
    with pytest.raises(DocumentError) as caught:
        read_contract(data, "yaml" if media == "yaml" else "json")
    return str(caught.value)


def test_text_stays_what_the_author_wrote() -> None:
    document = odcs(
        """
        schema:
          - name: NO
            properties:
              - name: 2020-01-01
                examples: [NO, yes, 0123, 1:30, 1_000, 0x1F, .5, 12e03, 1.10, null, true, -7]
        """
    )
    schema = document.value["schema"]
    assert isinstance(schema, list)
    assert schema[0] == {
        "name": "NO",
        "properties": [
            {
                "name": "2020-01-01",
                "examples": [
                    "NO",
                    "yes",
                    "0123",
                    "1:30",
                    "1_000",
                    "0x1F",
                    ".5",
                    12000.0,
                    1.1,
                    None,
                    True,
                    -7,
                ],
            }
        ],
    }


def test_version_that_looks_like_a_number_keeps_its_writing() -> None:
    text = "kind: DataContract\napiVersion: v3.1.0\nid: 7\nversion: 1.10\n"
    assert read_contract(text.encode(), "yaml").value["version"] == "1.10"


@pytest.mark.parametrize("media", ["yaml", "json"])
def test_lines_lead_to_members(media: str) -> None:
    text = HEAD + "schema:\n  - name: a\n    properties:\n      - name: b\n        required: true\n"
    if media == "json":
        text = (
            '{\n"kind": "DataContract", "apiVersion": "v3.1.0",\n"id": "o", "version": "1",\n"status": "a",\n'
            '"x": 1,\n"schema":\n [{"name": "a",\n "properties": [\n{"name": "b",\n"required": true}]}]}'
        )
    document = read_contract(text.encode(), "yaml" if media == "yaml" else "json")
    assert document.line("/schema") == 6
    assert document.line("/schema/0/properties/0/required") == 10
    assert document.line("/schema/0/properties/0/nothing") == 9


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"a: 1\nb:\n  c: 1\n  c: 2", "line 4, /b/c: the key 'c' stands already on line 3"),
        (b"a: !!python/object:os.system x", "remove the tag"),
        (b"a: &x [*x]", "names no complete anchor"),
        (b"<<: {a: 1}", "merge keys"),
        (b"a: 1\n---\nb: 2", "line 2, the document: holds several YAML documents"),
        (b"[1, 2]: x", "has a key that is not a text"),
        (b"a: [1, 2", "line 2, the document: is not YAML"),
        (b'a: "\\ud800"', "is not YAML"),
        (b"a: 1e999", "beyond what a number can hold"),
        (b"a: " + b"9" * 500, "more than 400 digits"),
        (b"a: \xff", "byte 3 is not UTF-8"),
        (b"a: \x00", "is not YAML"),
        (b"", "is empty"),
        (b"- a", "is no contract"),
        (b"a: " + b"[" * 45 + b"]" * 45, "nested deeper than 30 levels"),
        (b"x" * 1_100_000, "the limit is 1048576"),
        (b"name: x", "is neither an Open Data Contract Standard v3 document"),
        (b"dataContractSpecification: 1.1.0", "convert it to the Open Data Contract Standard v3"),
        (b"kind: DataContract\napiVersion: v2.2.2", "line 2, /apiVersion: is 'v2.2.2'; only v3"),
        (b"kind: Table\napiVersion: v3.0.0", "must be DataContract"),
    ],
)
def test_yaml_that_is_no_contract_is_refused_with_its_place(text: bytes, told: str) -> None:
    assert told in refused(text)


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "values with its aliases written out" in refused("\n".join(lines).encode())


def test_an_alias_is_written_out() -> None:
    document = odcs("tags: &t [a, b]\nschema:\n  - name: x\n    tags: *t\n")
    assert document.value["schema"] == [{"name": "x", "tags": ["a", "b"]}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,\n "a": 2}', "line 2, /a: the key 'a' stands already on line 1"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1e999}', "beyond what a number can hold"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ('{"a" 1}', "expected a colon"),
        ("{a: 1}", "expected a key in double quotes"),
        ('{"a": [1 2]}', "expected a comma or ]"),
        ('{"a": 1} x', "more text follows"),
        ("[" * 50 + "]" * 50, "nested deeper than 30 levels"),
        ("", "is not JSON"),
        ('{"a": tru}', "is not JSON"),
    ],
)
def test_json_that_is_no_contract_is_refused_with_its_place(text: str, told: str) -> None:
    assert told in refused(text.encode(), "json")


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ("schema: x", "/schema: must be a list"),
        ("schema:\n  - name: a\n    properties:\n      - name: b\n        required: yes", "line 10"),
        (
            "schema:\n  - name: a\n    properties:\n      - name: b\n        required: yes",
            "must be true or false",
        ),
        ("schema:\n  - name: a\n    quality:\n      - mustBeBetween: [1]", "must hold two numbers"),
        ("schema:\n  - name: a\n    quality: [x]", "/schema/0/quality/0: must be a mapping"),
    ],
)
def test_members_of_another_shape_are_refused(members: str, told: str) -> None:
    assert told in refused((HEAD + members).encode())


@pytest.mark.parametrize(
    "suite",
    [
        {"expectation_suite_name": "x", "expectations": []},
        {"name": "x", "expectations": [{"expectation_type": "expect_column_to_exist", "kwargs": {}}]},
        {"name": "x", "expectations": [], "meta": {"great_expectations_version": "0.18.12"}},
        {"expectations": [], "data_asset_type": "Dataset"},
    ],
)
def test_suite_of_great_expectations_0_18_is_refused_with_the_reason(suite: dict[str, object]) -> None:
    told = refused(json.dumps(suite).encode(), "json")
    assert "Great Expectations 0.18 or older" in told
    assert "save it again" in told


def test_suite_of_great_expectations_1_is_read() -> None:
    assert gx().format == "gx"
    assert "is no expectation" in refused(b'{"expectations": [1]}', "json")
    assert "must be a list" in refused(b'{"expectations": {}}', "json")


def test_deepest_contract_that_is_read_compiles() -> None:
    def nested(levels: int) -> bytes:
        items = '{"items": ' * levels + "{}" + "}" * levels
        head = '{"kind": "DataContract", "apiVersion": "v3.1.0", "schema": [{"name": "a", "properties": '
        return f'{head}[{{"name": "b", "items": {items}}}]}}]}}'.encode()

    assert "nested deeper than 30 levels" in refused(nested(26), "json")
    assert len(compile_contract(read_contract(nested(25), "json")).canonical) > 1000


def test_agreements_times_objects_are_bounded() -> None:
    objects = "schema:\n" + "  - name: a\n" * 150
    agreements = "slaProperties:\n" + "  - {property: retention, value: 1}\n" * 100
    assert "split it" in refused((HEAD + objects + agreements).encode())


@pytest.mark.parametrize(
    ("data", "media", "said"),
    [
        (
            b'{"' + b"k" * 5000 + b'":[' + b",".join([b"0"] * 2000) + b"]}",
            "json",
            "has a key of 5000 characters",
        ),
        (b"? " + b"k" * 5000 + b"\n: 1\n", "yaml", "has a key of 5000 characters"),
        (
            b"a: &a " + b"x" * 2000 + b"\nb: [" + b",".join([b"*a"] * 3000) + b"]\n",
            "yaml",
            "use fewer aliases",
        ),
        (
            (b'{"' + b"k" * 250 + b'":') * 25 + b"[" + b",".join([b"0"] * 20_000) + b"]" + b"}" * 25,
            "json",
            "is too large for how deep it is nested",
        ),
    ],
    ids=["long JSON key", "long YAML key", "aliases of a long text", "wide below deep keys"],
)
def test_small_text_that_would_fill_the_memory_is_refused(data: bytes, media: str, said: str) -> None:
    assert said in refused(data, media)
