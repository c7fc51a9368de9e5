"""Where compiling writes down what it finds: checks, rules left out, and problems, each at its place.

Compiling and linting are one walk, so that no rule is refused by one and passed over by the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from gates.contracts.document import ContractDocument
from gates.contracts.kwargs import parameter_name
from gates.contracts.suite import About, Check, Column, CompiledObject, NotEvaluated
from gates.documents.pointers import Json
from gates.documents.problems import Problem, ProblemSeverity

MAX_HINTS: Final = 100
MAX_HINT_LENGTH: Final = 100


@dataclass(slots=True)
class Notes:
    """What the whole contract shares: its problems, the ids already given, and the parameters it asks for."""

    document: ContractDocument
    problems: set[Problem] = field(default_factory=set)
    ids: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    baseline: str | None = None
    waived: tuple[str, ...] = ()
    hints: int = 0

    def nearest(self, word: str, choices: Iterable[str]) -> str | None:
        """The choice that a misspelt word is nearest to. A contract gets MAX_HINTS of them: each compares the word
        with all choices, and a document may hold tens of thousands of words."""
        if self.hints >= MAX_HINTS or len(word) > MAX_HINT_LENGTH:
            return None
        self.hints += 1
        return next(iter(get_close_matches(word, sorted(choices), n=1)), None)

    def problem(self, pointer: str, message: str, severity: ProblemSeverity = "error") -> None:
        self.problems.add(Problem(self.document.line(pointer), pointer, severity, message))


@dataclass(slots=True)
class Draft:
    """One object (table) while it is compiled.

    `known`: from each name that a rule may use for a column to the column's name in the data; None when the
    contract states no columns. `folded`: the same by case-folded name. `named`: columns that rules name, with the
    first place. `names`: what the object may be called. `zones`: how instants of a column without an offset are
    read; None = they must have one.
    """

    notes: Notes
    name: str
    pointer: str
    prefix: str = ""
    known: Mapping[str, str] | None = None
    folded: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[Column] | None = None
    checks: list[Check] = field(default_factory=list)
    left: list[NotEvaluated] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    zones: dict[str, str | None] = field(default_factory=dict)

    def check(
        self,
        name: str,
        expectation: str,
        kwargs: Mapping[str, Json],
        rules: Sequence[str],
        about: About | None = None,
        *,
        baseline: bool = False,
    ) -> None:
        """Adds a check; the first of `rules` speaks for it, `name` is its id unless the rule has its own."""
        about = about or About()
        for key, value in kwargs.items():
            if asked := parameter_name(value):
                self.notes.parameters.setdefault(asked, f"{rules[0]} ({key})")
        identifier = self._unused(about.identifier or f"{self.prefix}{name}")
        self.checks.append(
            Check(identifier, expectation, kwargs, about, rules[0], tuple(sorted(set(rules))), baseline)
        )

    def leave(self, rule: str, reason: str, *, blocking: bool) -> None:
        """Lists a rule as not evaluated, with a sentence that says why."""
        self.left.append(NotEvaluated(rule, reason, blocking))

    def refuse(self, rule: str, message: str, about: About | None = None, *, at: str | None = None) -> None:
        """A rule that its author must mend: an error of lint, and not evaluated. `at` is the faulty member."""
        self.notes.problem(at or rule, message)
        self.leave(rule, message, blocking=(about or About()).blocking)

    def column(self, name: str, pointer: str) -> str:
        """The name in the data of a column that a rule names. An unknown one is a problem and stays as it is:
        its check will end in `error`."""
        self.named.setdefault(name, pointer)
        if self.known is None or name in self.known:
            return name if self.known is None else self.known[name]
        near = self.folded.get(name.casefold())
        hint = (
            f"; it has {near!r}, and names are case-sensitive" if near else "; correct the name or declare it"
        )
        where = f"object {self.name!r}" if self.name else "the contract"
        self.notes.problem(pointer, f"{where} has no column {name!r}{hint}")
        return name

    def compiled(self) -> CompiledObject:
        columns = None if self.columns is None else tuple(self.columns)
        return CompiledObject(self.name, columns, tuple(self.checks), tuple(self.left))

    def _unused(self, wanted: str) -> str:
        count = self.notes.ids.get(wanted, 0) + 1
        identifier = wanted if count == 1 else f"{wanted}#{count}"
        while count > 1 and identifier in self.notes.ids:
            count += 1
            identifier = f"{wanted}#{count}"
        self.notes.ids[wanted] = count
        self.notes.ids.setdefault(identifier, 1)
        return identifier
