"""The sentence that a contract check comes down to, and what to do next."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.web.histograms import Histograms
from api.web.words import OUTCOMES, STATES, Word, marked, plural
from models.lineage.marks import Mark


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What is known of one contract check; `result` is the body of its record, None as long as there is none."""

    id: str
    state: str
    contract: str
    version: int
    root: str
    path: str
    table: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    progress_done: int | None = None
    progress_total: int | None = None
    progress_text: str | None = None
    reason: str | None = None
    record: str | None = None
    evidence_level: str | None = None
    result: Mapping[str, Any] | None = None
    marks: Sequence[Mark] = ()

    @property
    def data(self) -> str:
        return f"{self.root}/{self.path}"

    @property
    def is_open(self) -> bool:
        return self.state in ("queued", "running")


@dataclass(frozen=True, slots=True)
class Verdict:
    word: Word
    sentence: str
    next_action: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check; `observed` and `bound` are texts, None where there is no value."""

    id: str
    type: str
    word: Word
    subject: str
    what: str
    observed: str | None
    bound: str | None
    rows: int | None
    unexpected: int | None
    nulls: int | None
    reason: str | None
    severity: str
    blocking: bool
    dimension: str | None
    rule: str | None
    histograms: Histograms | None


def summary_sentence(counts: Mapping[str, int]) -> str:
    """`2 failed, 1 error of 23`, or `23 of 23 passed`."""
    total = sum(counts.values())
    bad = [
        f"{counts[code]:,} {OUTCOMES[code].text.lower()}"
        for code in ("failed", "error", "not_evaluated")
        if counts[code]
    ]
    return f"{', '.join(bad)} of {total:,}" if bad else f"{total:,} of {total:,} passed"


def verdict_of_result(run: CheckRun, result: Mapping[str, Any], lines: Sequence[CheckLine]) -> Verdict:
    outcome, summary = result["outcome"], summary_sentence(result["counts"])
    if run.marks:
        effect, reason = run.marks[0].effect, _beginning(run.marks[0].reason)
        sentence = f"This result was {effect}: it is no evidence, whatever it says ({summary})."
        return Verdict(marked(effect), sentence, f"{reason} Check the data again.", _command(run))
    word = OUTCOMES[outcome]
    worst = next((line for line in lines if line.blocking and line.word.code != "passed"), None)
    has_failed = any(line.blocking and line.word.code == "failed" for line in lines)
    again = _command(run)
    if outcome == "passed":
        if any(line.word.code != "passed" for line in lines):
            sentence = f"This data keeps its contract: every blocking check passed; {summary}."
            return Verdict(
                word, sentence, "Nothing blocks; the other checks that did not pass are listed first."
            )
        return Verdict(
            word,
            f"This data keeps its contract: {summary}.",
            "Nothing to do: the record below is the evidence.",
        )
    if has_failed or outcome == "failed":
        sentence = f"This data does not keep its contract: {summary}."
        action = (
            "Mend the data, or publish a new version of the contract if the rule is wrong; then check again."
        )
        # Failed is the graver news even where an error stands beside it.
        return Verdict(OUTCOMES["failed"], sentence, _first(worst, action), again)
    sentence = f"Whether this data keeps its contract is not known: {summary}."
    cause = result.get("reason")
    if cause is not None and worst is None:
        return Verdict(word, sentence, f"{_beginning(cause)} Mend that, then check again.", again)
    return Verdict(word, sentence, _first(worst, "Mend that, then check again."), again)


def _first(worst: CheckLine | None, action: str) -> str:
    """The reason of the worst check, which names its column, and what to do about it."""
    return action if worst is None or worst.reason is None else f"{_beginning(worst.reason)} {action}"


def verdict_without_result(run: CheckRun) -> Verdict:
    word = STATES[run.state]
    match run.state:
        case "queued":
            command = "shipworthy-server worker --url URL --root NAME=PATH"
            action = "Nothing to do while a worker is up that knows the root. If none is, start one:"
            return Verdict(word, "This check waits for a worker.", action, command)
        case "running":
            done = (
                f": {run.progress_done:,} of {plural(run.progress_total, 'check')} done"
                if run.progress_done is not None and run.progress_total is not None
                else ""
            )
            return Verdict(word, f"This check is running{done}.", "Wait; the page looks again by itself.")
        case "cancelled":
            sentence, action = (
                "This check was cancelled: nothing is known of the data.",
                "Ask again if needed.",
            )
        case "dead":
            sentence = "This check was given up after its last attempt: nothing is known of the data."
            action = "Mend the cause, then check again."
        case _:
            sentence = "This check broke off: nothing is known of the data."
            action = "Mend the cause, then check again."
    cause = f"{_beginning(run.reason)} " if run.reason else ""
    return Verdict(word, sentence, f"{cause}{action}", _command(run))


def _command(run: CheckRun) -> str:
    """Asks for the same check again and waits for it."""
    words = ["shipworthy", "contract", "check", run.contract, "--root", run.root, "--path", run.path]
    if run.table:
        words += ["--table", run.table]
    for name, value in run.parameters.items():
        words += ["--parameter", f"{name}={value}"]
    return shlex.join([*words, "--wait"])


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _beginning(text: str) -> str:
    """With a capital, unless it begins with a code such as `worker.killed`."""
    sentence = _sentence(text)
    return sentence[:1].upper() + sentence[1:] if sentence.split(" ")[0].isalpha() else sentence
