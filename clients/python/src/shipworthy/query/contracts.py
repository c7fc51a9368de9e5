"""What the service answers about data contracts, as frozen values. `document` is the answer as it came."""

from dataclasses import dataclass, field

from shipworthy.query.results import Document


@dataclass(frozen=True, slots=True)
class ContractProblem:
    """What lint has to say: `severity` is error, warning or info; `line` counts from 1, `pointer` is a JSON pointer
    into the contract."""

    severity: str
    pointer: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ContractTable:
    """A table of a contract and how many checks it was compiled into; `unjudged` are blocking rules that nothing
    checks, so that no data passes."""

    name: str
    checks: int
    blocking: int
    not_evaluated: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class UnjudgedRule:
    """A rule that nothing checks, and why."""

    table: str
    rule: str
    reason: str
    blocking: bool


@dataclass(frozen=True, slots=True)
class Linted:
    """`ok` is False when a rule can't run as it is written; `format` is None for bytes that are no contract."""

    ok: bool
    format: str | None
    problems: tuple[ContractProblem, ...]
    tables: tuple[ContractTable, ...]
    not_evaluated: tuple[UnjudgedRule, ...]
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Contract:
    """One version. `digest` is that of its bytes, `suite_digest` that of what they were compiled into."""

    name: str
    version: int
    format: str
    digest: str
    suite_digest: str
    baseline: str | None
    tables: tuple[ContractTable, ...]
    document: Document = field(repr=False)


@dataclass(frozen=True, slots=True)
class Published:
    """A version of a contract as it was published; `is_new` is False when the current one said the same."""

    contract: Contract
    is_new: bool
    problems: tuple[ContractProblem, ...]


def linted(answer: Document) -> Linted:
    return Linted(
        ok=answer["ok"],
        format=answer["format"],
        problems=problems(answer),
        tables=tables(answer),
        not_evaluated=tuple(
            UnjudgedRule(each["object"], each["rule"], each["reason"], each["blocking"])
            for each in answer["not_evaluated"]
        ),
        document=answer,
    )


def contract(answer: Document) -> Contract:
    return Contract(
        name=answer["name"],
        version=answer["version"],
        format=answer["format"],
        digest=answer["digest"],
        suite_digest=answer["suite_digest"],
        baseline=answer.get("baseline"),
        tables=tables(answer),
        document=answer,
    )


def published(answer: Document) -> Published:
    return Published(contract(answer), answer["created"], problems(answer))


def problems(answer: Document) -> tuple[ContractProblem, ...]:
    return tuple(
        ContractProblem(each["severity"], each["pointer"], each["line"], each["message"])
        for each in answer["problems"]
    )


def tables(answer: Document) -> tuple[ContractTable, ...]:
    return tuple(
        ContractTable(
            each["name"],
            each["checks"],
            each["blocking"],
            each["not_evaluated"],
            each.get("unjudged", 0),
        )
        for each in answer["objects"]
    )
