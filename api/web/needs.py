"""What needs somebody now: one line each, with who can act, worst first. Pure over stored documents."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from api.web import links
from api.web.decision_words import VERDICTS, for_people
from api.web.list_view import Row
from api.web.registry_view import Look, finding_row, findings_of, refused_row, trouble_of
from api.web.run_words import RUN_STATES
from api.web.slo_words import SLO_STATES, sentence_of
from api.web.templating import instant
from api.web.verdicts import Verdict
from api.web.words import Word, person_in_words
from models.gates.queries import StoredDecision
from models.lineage.run_queries import RunSummary
from models.promotions.queries import StoredEvent
from models.slo.reporting import RECENTLY, Reported
from shipworthy.formats.times import parse_instant

_KINDS: Final = ("registry", "slo", "gate", "run", "data", "promotion", "review")
"""Of two things that are equally bad the one that is in use already comes first."""
_TONES: Final = ("bad", "broken", "open")
_NEEDED: Final = frozenset({"breached", "at_risk", "unknown"})
_NOTHING: Final = Word("none", "None", "open")
_GOOD: Final = Word("good", "Good", "good")
_NOT_JUDGED: Final = Word("not_judged", "Not judged", "broken")


@dataclass(frozen=True, slots=True)
class Need:
    """`kind` is one of _KINDS, `since` None when nobody knows."""

    kind: str
    word: Word
    title: str
    href: str
    sentence: str
    who: str
    since: datetime | None


def of_registries(looks: Sequence[Look], now: datetime) -> list[Need]:
    """Each finding; or, where there is none, that the comparison is old or not whole."""
    found = [
        Need(
            "registry",
            row.word,
            f"{row.name} at {row.target}",
            "/registry",
            row.sentence,
            ", ".join(row.who),
            row.since,
        )
        for row in map(finding_row, findings_of(looks))
    ]
    trouble = None if found else trouble_of(looks, now)
    if trouble is not None:
        found = [
            Need(
                "registry",
                trouble.word,
                "The comparison of the registry",
                "/registry",
                f"{trouble.sentence} {trouble.next_action}",
                "whoever runs the worker",
                min(look.at for look in looks),
            )
        ]
    return found


def _stands_still(reported: Reported, now: datetime) -> bool:
    """Whether windows were judged once and are no more, though none of this period was. One that was never judged was
    published a moment ago."""
    last = reported.last_evaluated_at
    return last is not None and now - last > RECENTLY


def of_slos(reported: Iterable[Reported], now: datetime) -> list[Need]:
    """Promises that are broken, at risk or not known; and, once, that windows are not judged any more."""
    found, stale = [], []
    for each in reported:
        slo, state = each.slo, each.slo.status.state
        if state in _NEEDED:
            found.append(
                Need(
                    "slo",
                    SLO_STATES[state],
                    slo.definition.display_name or slo.definition.name,
                    links.slo(slo.definition.name),
                    sentence_of(slo.status.sentence),
                    f"team {slo.definition.team}",
                    None,
                )
            )
        elif state == "no_data" and (slo.counts.judged or _stands_still(each, now)):
            stale.append(each)
    if stale:
        count = "1 promise is" if len(stale) == 1 else f"{len(stale):,} promises are"
        sentence = f"{count} not judged any more: the service's clockwork stands still. Look at its log."
        found.append(
            Need(
                "slo",
                _NOT_JUDGED,
                "Windows of promises",
                links.slos(),
                sentence,
                "whoever runs the service",
                stale[0].last_evaluated_at,
            )
        )
    return found


def of_blocked(row: StoredDecision) -> Need:
    predicate: Mapping[str, Any] = json.loads(row.document)
    unblocks = predicate["unblocks"]
    more = f"To unblock it, {for_people(unblocks[0])}" if unblocks else ""
    return _of_decision("gate", row, predicate, more, _who_unblocks(predicate))


def _who_unblocks(predicate: Mapping[str, Any]) -> str:
    """By what each criterion in the way lacks: a better artifact, people, or a measurement."""
    in_the_way = [each for each in predicate["criteria"] if each["effect"] in ("block", "review")]
    who = {
        "approvers"
        if each["state"] == "unmet"
        else "whoever trains it"
        if each["outcome"] == "failed"
        else "evaluators"
        for each in in_the_way
    }
    return ", ".join(sorted(who, reverse=True)) or "the gate's author"


def of_review(row: StoredDecision) -> Need:
    predicate: Mapping[str, Any] = json.loads(row.document)
    return _of_decision("review", row, predicate, "", "approvers who neither trained it nor wrote the policy")


def _of_decision(kind: str, row: StoredDecision, predicate: Mapping[str, Any], more: str, who: str) -> Need:
    version = f" version {predicate['version']}" if predicate["version"] else ""
    return Need(
        kind,
        VERDICTS[row.verdict],
        f"{row.model}{version} as {row.target}",
        links.decision(row.record),
        " ".join(filter(None, (predicate["sentence"], more))),
        who,
        parse_instant(predicate["evaluated_at"]),
    )


def of_lost(run: RunSummary) -> Need:
    step = "" if run.lost_at_step is None else f", at step {run.lost_at_step:,}"
    return Need(
        "run",
        RUN_STATES["lost"],
        f"{run.job_name} {run.run_id}",
        links.run(run.run_id),
        f"Last heard of {instant(run.last_sign_of_life_at)}{step}: see whether it lives, and start it again.",
        f"team {run.team}" if run.team else person_in_words(run.owner) if run.owner else "whoever started it",
        run.last_sign_of_life_at,
    )


def of_refused(event: StoredEvent) -> Need:
    row = refused_row(json.loads(event.document))
    by = f"{row.by}, who tried" if row.by else "whoever tried"
    return Need("promotion", row.word, f"{row.name} as {row.target}", "/registry", row.sentence, by, row.when)


def of_data(rows: Iterable[Row]) -> list[Need]:
    """Of each contract and data the newest check alone counts; what passed or is under way needs nobody."""
    newest: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: row.when, reverse=True):
        newest.setdefault((row.contract, row.data), row)
    return [
        Need(
            "data",
            row.word,
            row.data,
            row.href,
            f"By {row.contract} version {row.version}: {row.summary}.",
            "whoever makes the data",
            row.when,
        )
        for row in newest.values()
        if row.word.tone in _TONES and row.word.code != "cancelled"
    ]


def worst_first(needs: Iterable[Need]) -> list[Need]:
    return sorted(
        needs,
        key=lambda need: (
            _TONES.index(need.word.tone),
            _KINDS.index(need.kind),
            0.0 if need.since is None else -need.since.timestamp(),
        ),
    )


def needs_verdict(needs: Sequence[Need], *, has_more: bool, is_empty: bool) -> Verdict:
    """`needs` with the worst first; `is_empty`: nothing was recorded that could need anybody."""
    if needs:
        count = "1 thing needs" if len(needs) == 1 else f"{len(needs):,} things need"
        sentence = f"More than {count} you." if has_more else f"{count} you."
        return Verdict(needs[0].word, sentence, "Begin with the first: it is the worst.")
    if is_empty:
        return Verdict(_NOTHING, "Nothing is recorded yet.", "Begin with the first step below.")
    return Verdict(_GOOD, "Nothing needs you.", "Nothing to do; this page tells when that changes.")


def version_of(needs: Sequence[Need], *, has_more: bool) -> str:
    """Changes with whatever the lines say, and with nothing else."""
    said = [[need.word.code, need.title, need.href, need.sentence, need.who] for need in needs]
    return sha256(json.dumps([said, has_more]).encode()).hexdigest()[:16]
