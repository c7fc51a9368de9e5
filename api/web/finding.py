"""What was found as a page lists it: where it leads, a page where there is one, JSON elsewhere."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from api.web import links
from models.search import Hit


@dataclass(frozen=True, slots=True)
class HitRow:
    kind: str
    id: str
    about: str
    href: str


def hit_rows(hits: Sequence[Hit], limit: int) -> tuple[list[HitRow], list[str]]:
    """Each thing once, at most `limit` of a kind; and the kinds of which there are more."""
    rows: dict[str, HitRow] = {}
    counted: Counter[str] = Counter()
    for hit in hits:
        row = _row(hit)
        if row.href in rows:
            continue
        counted[row.kind] += 1
        if counted[row.kind] <= limit:
            rows[row.href] = row
    return list(rows.values()), sorted(kind for kind, count in counted.items() if count > limit)


def _row(hit: Hit) -> HitRow:
    about, part = hit.about or "", hit.part or ""
    match hit.kind:
        case "Contract":
            return HitRow(hit.kind, hit.id, f"version {part}", links.contract_version(hit.id, part))
        case "Contract check":
            return HitRow(hit.kind, hit.id, about, links.contract_check(hit.id))
        case "Run":
            return HitRow(hit.kind, hit.id, about, links.run(hit.id))
        case "Snapshot":
            return HitRow(hit.kind, hit.id, about, links.snapshot(hit.id))
        case "Baseline":
            return HitRow(hit.kind, hit.id, "", links.baseline(hit.id))
        case "Ingredient":
            return HitRow(hit.kind, hit.id, about, links.ingredient(hit.id))
        case "Checkpoint":
            return HitRow(hit.kind, hit.id, f"of run {about}", links.checkpoint(hit.id))
        case "Artifact":
            return HitRow(hit.kind, hit.id, f"{about} of run {part}", links.artifacts_of_run(part))
        case "Lineage manifest":
            return HitRow(hit.kind, hit.id, f"{about} version {part}", links.lineage_manifest(hit.id))
        case "Model":
            return HitRow(
                hit.kind, hit.id, "" if part == "default" else f"in {part}", links.model(hit.id, part)
            )
        case "Name of a model":
            holds = f"{part} version {about}" if about else f"{part}, holds nothing"
            return HitRow(hit.kind, hit.id, holds, links.decisions(model=part, to=hit.id))
        case "Job":
            return HitRow(hit.kind, f"{part}/{hit.id}", "its runs", links.runs(job=f"{part}/{hit.id}"))
        case "Gate":
            return HitRow(hit.kind, hit.id, f"version {part}", links.gate_version(hit.id, part))
        case "SLO":
            return HitRow(hit.kind, hit.id, "", links.slo(hit.id))
        case "Data set":
            return HitRow(hit.kind, hit.id, f"in {part}", links.snapshots_of(part, hit.id))
        case _:
            return HitRow(hit.kind, hit.id, about, links.record(hit.id))
