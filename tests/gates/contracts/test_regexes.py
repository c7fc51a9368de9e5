import duckdb
import pytest

from gates.contracts.regexes import why_not_re2

RUNS = [
    r"^ACC[0-9]{8}$",
    r"\p{Lu}\P{L}\pN\z",
    r"(?P<year>\d{4})-(?P<month>\d\d)",
    "[[:alpha:]]+[^[:digit:]]",
    "(?i)abc(?s-i:.)",
    r"(?:(?:a|b)+c)*?",
    r"[]\]\-x]",
    "a{1000}",
    r"\d{3}\/é",
]


@pytest.mark.parametrize("pattern", RUNS)
def test_what_re2_runs_is_accepted(pattern: str) -> None:
    assert why_not_re2(pattern) is None
    # DuckDB's RE2 is the judge.
    assert duckdb.execute("SELECT regexp_matches('x', ?)", [pattern]).fetchall() in ([(True,)], [(False,)])


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)b", "looks ahead"),
        ("(?!a)b", "looks ahead"),
        ("(?<=a)b", "behind"),
        ("(?<!a)b", "behind"),
        (r"(a)\1", "refers back"),
        (r"(?P<n>a)(?P=n)", "refers back"),
        ("a++", "possessive"),
        ("(?<n>a)", "write (?P<name>…)"),
        ("(?>a)", "atomic"),
        ("(a)?(?(1)b|c)", "condition"),
        ("a{1001}", "repeats more than 1000"),
        ("(a{100}){100}", "repeats more than 1000"),
        (r"a\Z", "escape \\Z"),
        (r"\u0041", "escape \\u"),
        (r"[\b]", "in a class"),
        ("(?x)a b", "flag"),
        ("(?#why)a", "comment"),
        ("(", "is no regular expression"),
        ("[a", "is no regular expression"),
        ("\\", "is no regular expression"),
        ("a" * 1001, "the limit is 1000"),
        ("(" * 400 + "a" + ")" * 400, "nested too deeply"),
    ],
)
def test_what_re2_lacks_is_told(pattern: str, reason: str) -> None:
    told = why_not_re2(pattern)
    assert told is not None
    assert reason in told
