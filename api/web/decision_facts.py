"""What was decided, about what and by which evidence, as a decision's page lists it. Pure over the predicate."""

from collections.abc import Mapping
from typing import Any

from api.web import links
from api.web.check_view import Evidence
from api.web.templating import instant
from shipworthy.formats.times import parse_instant


def facts_of(predicate: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    version = f" version {predicate['version']}" if predicate["version"] else ""
    facts = [("Model", f"{predicate['model']}{version}"), ("Place", predicate["to"])]
    attempt, incumbent = predicate["attempt"], predicate["incumbent"]
    if attempt is not None:
        of_budget = "" if attempt.get("budget") is None else f" of {attempt['budget']}"
        facts.append(("Attempt", f"{attempt['number']}{of_budget} on this evaluation data"))
    if incumbent is not None:
        held = incumbent.get("artifact") or "none: nothing is there yet"
        facts.append(("Incumbent", f"{held} (by {incumbent.get('how')})"))
    facts += [("Because", ", ".join(predicate["triggers"]))] if predicate["triggers"] else []
    facts += [("Evaluated", _moment(predicate["evaluated_at"]))]
    if predicate["valid_until"] is not None:
        facts.append(("May be used until", _moment(predicate["valid_until"])))
    return tuple(facts)


def _moment(text: str) -> str:
    return instant(parse_instant(text))


def evidence_of(predicate: Mapping[str, Any]) -> tuple[Evidence, ...]:
    artifact = predicate["artifact"]["digest"]
    evidence = [Evidence("Artifact", artifact, links.search(artifact), "what is signed")]
    gate, run = predicate["gate"], predicate["training_run"]
    if gate is not None:
        named = f"{gate['name']} version {gate['version']}"
        evidence.append(Evidence("Gate", named, links.gate_version(gate["name"], gate["version"])))
    if run is not None:
        evidence.append(Evidence("Training run", run["run_id"], links.run(run["run_id"])))
    if predicate["facts"] is not None:
        evidence.append(Evidence("All facts", predicate["facts"], links.blob(predicate["facts"])))
    evidence += [
        Evidence(each["role"].replace("_", " ").capitalize(), each["record"], links.record(each["record"]))
        for each in predicate["inputs"]
    ]
    decision = predicate["decision"]
    evidence.append(
        Evidence("Proof bundle", decision, links.decision_bundle(decision), "for shipworthy verify")
    )
    return tuple(evidence)
