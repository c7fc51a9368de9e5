"""How promises and windows are printed, and which exit code they come to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from shipworthy.cli.exits import Exit
from shipworthy.cli.words import moment, short_digest, span
from shipworthy.formats.times import parse_instant

STATES: Final = {
    "breached": ("BROKEN", "bad"),
    "at_risk": ("AT RISK", "weak"),
    "unknown": ("UNKNOWN", "weak"),
    "no_data": ("NO DATA", "weak"),
    "on_track": ("ON TRACK", "good"),
    "met": ("KEPT", "good"),
}
"""Worst first."""
WINDOWS: Final = {
    "breached": ("MISSED", "bad"),
    "unknown": ("UNKNOWN", "weak"),
    "excluded": ("EXCLUDED", "dim"),
    "pending": ("PENDING", "part"),
    "met_in_grace": ("MET IN GRACE", "good"),
    "met": ("MET", "good"),
}
_UNSURE: Final = frozenset({"unknown", "no_data"})


def exit_of_report(slos: Sequence[Mapping[str, Any]]) -> Exit:
    """A promise that is at risk is not broken yet; one of which nothing is known is not kept."""
    states = {slo["status"] for slo in slos}
    if "breached" in states:
        return Exit.NEGATIVE
    return Exit.NOT_JUDGED if states & _UNSURE else Exit.OK


def show_report(console: Console, slos: Sequence[Mapping[str, Any]]) -> None:
    """Two lines a promise, worst first."""
    order = list(STATES)
    for slo in sorted(slos, key=lambda slo: (order.index(slo["status"]), slo["definition"]["id"])):
        word, style = STATES[slo["status"]]
        line = Text(word.ljust(10), style).append(slo["definition"]["id"], "name")
        console.print(line.append(f"  {slo['objective']}, team {slo['team']}", "dim"))
        console.print(f"          {slo['sentence']}")
        for source in slo["sources"]:
            if not source["alive"]:
                console.print(Text(f"          its source {source['name']} is silent", "weak"))
    counted = Counter(slo["status"] for slo in slos)
    summary = ", ".join(
        f"{counted[state]:,} {word.lower()}" for state, (word, _) in STATES.items() if counted[state]
    )
    console.print(
        Text(f"{len(slos):,} promises: {summary}" if len(slos) != 1 else f"1 promise: {summary}", "dim")
    )


def exit_of_window(window: Mapping[str, Any]) -> Exit:
    if window["status"] == "breached":
        return Exit.NEGATIVE
    return Exit.NOT_JUDGED if window["status"] == "unknown" else Exit.OK


def show_window(console: Console, told: Mapping[str, Any]) -> None:
    """What became of it, and everything that led to it."""
    word, style = WINDOWS[told["status"]]
    line = Text(word, style).append(f"  {told['id']}", "name")
    console.print(line.append(f"  {_because(told)}".rstrip(), "dim"))
    _fact(console, "opens", _moment(told["opens_at"]))
    _fact(console, "deadline", f"{told['deadline_local']} ({_moment(told['deadline_utc'])} UTC)")
    if told["data_interval"] is not None:
        interval = told["data_interval"]
        _fact(console, "data", f"{_moment(interval['start'])} to {_moment(interval['end'])} UTC")
    _fact(console, "promised", f"{told['slo']['name']} version {told['slo']['version']}")
    for each in told["revisions"]:
        word, style = WINDOWS[each["status"]]
        text = Text(f"  {'revision ' + str(each['revision']):<12}").append(word.lower(), style)
        console.print(text.append(f"  {_because(each)}  {_moment(each['recorded_at'])} UTC", "dim"))
    for run in told["run_ids"]:
        _fact(console, "run", run)
    for each in told["evidence_records"]:
        _fact(console, "evidence", f"{each['kind']} {short_digest(each['record'])} ({each['level']})")
    for each in told["runs_near"]:
        if each["run_id"] not in told["run_ids"]:
            covers = "covers its data" if each["covers"] else "has other data"
            _fact(console, "run near it", f"{each['run_id']} {each['state']}, {covers}, doesn't count")
    if told["source"] is not None:
        source = told["source"]
        proven = "alive" if source["proves_life"] else "not proven alive"
        _fact(
            console,
            "source",
            f"{source['name']}, {proven}: heard over {source['coverage'] * 100:.0f} % of the window",
        )
    if told["exclusion"] is not None:
        _fact(console, "left out", told["exclusion"]["reason"])
    if told["waits_for"] is not None:
        _fact(console, "waits for", told["waits_for"])


def _because(told: Mapping[str, Any]) -> str:
    parts = [told["reason"], (told["cause"] or "").replace("_", " ")]
    if told["lateness_s"]:
        parts.append(f"{span(told['lateness_s'])} after the deadline")
    if told["status"] == "pending" and told["predicted"]:
        parts.append("will be missed")
    return ", ".join(filter(None, parts))


def _fact(console: Console, name: str, text: str) -> None:
    console.print(Text().append(f"  {name:<12}", "dim").append(text))


def _moment(text: str) -> str:
    return moment(parse_instant(text))
