"""A lineage as a tree: the verdict about completeness first, then what the model is made of, part by part."""

from collections.abc import Callable, Iterable
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from shipworthy.cli.lineage_parts import INGREDIENTS
from shipworthy.cli.lineage_proof import proof_text
from shipworthy.cli.runs import STATE_STYLES
from shipworthy.cli.words import count, moment, number, short_digest, shown, size, span
from shipworthy.query.lineage import Lineage, Part, RunNode
from shipworthy.query.results import Document

SIGNS: Final = {"resolved": ("✓", "good"), "weak": ("▲", "weak"), "unresolved": ("✗", "bad")}
_MOST: Final = 5
"""Checkpoints, evaluations and artifacts that are listed; of more the number is told."""


def lineage_tree(found: Lineage) -> Group:
    tree = Tree(_title(found), guide_style="dim")
    _add_made_by(tree, found)
    _add_data(tree, found)
    _add_ingredients(tree, found)
    _add_upstream(tree, found)
    _add_products(tree, found)
    tree.add(_labelled("proof", proof_text(found)))
    return Group(*_verdict(found), Text(""), tree)


def _title(found: Lineage) -> Text:
    version = found.model_version
    if version is None:
        return Text(f"run {found.run_id}", "name")
    title = Text(f"{version.model}:{version.version}", "name")
    registry = "" if version.registry == "default" else f"  in {version.registry}"
    return title.append(f"  {short_digest(version.artifact)}{registry}", "dim")


def _verdict(found: Lineage) -> Iterable[RenderableType]:
    """The sentence that matters first, and under it what is missing or weak, worst first."""
    by_status = {status: [part for part in found.completeness if part.status == status] for status in SIGNS}
    missing, weak = by_status["unresolved"], by_status["weak"]
    total = count(len(found.completeness), "part")
    if missing:
        text = Text(f"✗ Incomplete: {len(missing)} of {total} unknown", "bad")
        text.append(f", {len(weak)} weak" if weak else "")
    elif weak:
        text = Text(f"▲ Complete, but {len(weak)} of {total} weak", "weak")
    else:
        text = Text(f"✓ Complete: all of {total} known and pinned", "good")
    if found.weakest_grade is not None:
        text.append(f"; weakest data grade “{found.weakest_grade}”", "dim")
    yield text
    yield from (_reason(part) for part in [*missing, *weak])
    for said in found.revocations:
        yield Text(f"✗ {said.get('effect', 'revoked')}: {said.get('reason', '')}", "bad")


def _reason(part: Part) -> Padding:
    sign, style = SIGNS[part.status]
    text = Text(f"{sign} {part.part}", style).append(f"  {part.reason}" if part.reason else "", "default")
    return Padding(text, (0, 0, 0, 2), expand=False)


def _labelled(label: str, text: Text, status: str | None = None) -> Text:
    sign, style = SIGNS.get(status or "", ("", ""))
    start = Text(f"{sign} " if sign else "", style)
    return start.append(label, "part").append("  ").append(text)


def _add_made_by(tree: Tree, found: Lineage) -> None:
    branch = tree.add(_labelled("made by", _run_text(found.run)))
    if found.model_version is not None:
        branch.add(Text(f"run {found.run_id}"))
    for name in ("recipe", "family"):
        digest = found.run.recipe_digest if name == "recipe" else found.run.family_digest
        if digest is not None:
            branch.add(Text(f"{name} {short_digest(digest)}", "dim"))
    if found.run.recipe_digest is None:
        branch.add(Text("no recipe: a part is missing or not pinned, so nothing counts as its repeat", "dim"))


def _run_text(node: RunNode) -> Text:
    text = Text(node.job, "name").append("  ").append(node.state, STATE_STYLES.get(node.state, ""))
    if node.started_at is not None:
        text.append(f"  {moment(node.started_at)} UTC", "dim")
        if node.ended_at is not None:
            text.append(f", {span((node.ended_at - node.started_at).total_seconds())}", "dim")
    return text.append(f"  {node.attempts} attempts" if node.attempts > 1 else "", "weak")


def _add_data(tree: Tree, found: Lineage) -> None:
    status = {part.part: part.status for part in found.completeness}
    if not found.run.inputs:
        tree.add(_labelled("data", Text("none was named", "dim"), "unresolved"))
        return
    branch = tree.add(Text("data", "part"))
    for given in found.run.inputs:
        snapshot = found.snapshots.get(given.digest or "")
        text = Text(given.dataset or "", "")
        text.append(
            f"{'  ' if given.dataset else ''}{short_digest(given.digest)}" if given.digest else "", "dim"
        )
        text.append(f"  {given.grade}" if given.grade else "", "dim")
        if snapshot is not None:
            text.append(
                f"  {count(snapshot.row_count, 'row')}" if snapshot.row_count is not None else "", "dim"
            )
            bytes_read = snapshot.document.get("size_bytes")
            text.append(f"  {size(bytes_read)}" if bytes_read is not None else "", "dim")
            version = snapshot.document.get("version")
            text.append(f"  {version['kind']} {version['value']}" if version else "", "dim")
        branch.add(_labelled(given.role, text, status.get(f"data.{given.role}")))


def _add_ingredients(tree: Tree, found: Lineage) -> None:
    status = {part.part: part.status for part in found.completeness}
    for part, describe in INGREDIENTS.items():
        digest = found.run.ingredients.get(part)
        document = found.ingredients.get(digest or "")
        if document is None:
            tree.add(_labelled(part, Text("not recorded", "dim"), status.get(part, "unresolved")))
        else:
            tree.add(_labelled(part, Text(describe(document)), status.get(part)))


def _add_upstream(tree: Tree, found: Lineage) -> None:
    """Runs that made what this one read, and what those read in turn."""
    others = [node for node in found.runs if node.run_id != found.run_id]
    if not others:
        return
    label = {"upstream": "earlier runs", "downstream": "later runs"}.get(
        found.document["direction"], "other runs"
    )
    branch = tree.add(_labelled(label, Text(str(len(others)), "dim")))
    _add_related(branch, found, found.run_id, {found.run_id})
    if found.partial or found.next:
        branch.add(Text("more runs lie beyond; follow them with --depth", "weak"))


def _add_related(branch: Tree, found: Lineage, run_id: str, seen: set[str]) -> None:
    nodes = {node.run_id: node for node in found.runs}
    for mine, theirs, verb in (("in", "out", "made"), ("out", "in", "reads")):
        touched = {
            edge.digest: edge for edge in found.edges if edge.run_id == run_id and edge.direction == mine
        }
        for edge in found.edges:
            if edge.direction != theirs or edge.digest not in touched or edge.run_id in seen:
                continue
            seen.add(edge.run_id)
            text = _run_text(nodes[edge.run_id]) if edge.run_id in nodes else Text(edge.run_id)
            role = touched[edge.digest].role if mine == "in" else edge.role
            text.append(f"  {verb} {role} {short_digest(edge.digest)}", "dim")
            below = branch.add(text)
            below.add(Text(f"run {edge.run_id}", "dim"))
            _add_related(below, found, edge.run_id, seen)


def _add_products(tree: Tree, found: Lineage) -> None:
    own = [each for each in found.artifacts if each.get("run_id") == found.run_id]
    more = "+" if found.document.get("more_checkpoints") else ""
    _add_list(tree, "checkpoints", found.checkpoints, _checkpoint, more)
    _add_list(tree, "artifacts", own, _artifact, "")
    more = "+" if found.document.get("more_evaluations") else ""
    _add_list(tree, "evaluations", found.evaluations, _evaluation, more)


def _add_list(
    tree: Tree, label: str, items: Iterable[Document], describe: Callable[[Document], Text], more: str
) -> None:
    listed = list(items)
    if not listed:
        return
    branch = tree.add(_labelled(label, Text(f"{len(listed)}{more}", "dim")))
    for item in listed[:_MOST]:
        branch.add(describe(item))
    if len(listed) > _MOST:
        branch.add(Text(f"… {len(listed) - _MOST}{more} more, see --json", "dim"))


def _checkpoint(item: Document) -> Text:
    text = Text(f"step {item['step']:,}").append(f"  {short_digest(item['digest'])}", "dim")
    text.append(f"  {size(item['size_bytes'])}" if item.get("size_bytes") is not None else "", "dim")
    text.append(f"  {item.get('level', 'written')}", "dim")
    contains = item.get("contains", ())
    return text.append(f"  {', '.join(contains)}" if contains else "", "dim")


def _artifact(item: Document) -> Text:
    text = Text(item.get("role", "model")).append(f"  {short_digest(item['digest'])}", "dim")
    text.append(f"  {size(item['size_bytes'])}" if item.get("size_bytes") is not None else "", "dim")
    return text.append(f"  {item['uri']}" if item.get("uri") else "", "dim")


def _evaluation(item: Document) -> Text:
    metrics = [f"{name} {number(value)}" for name, value in item["metrics"].items()]
    where = [f"step {item['step']:,}"] if item.get("step") is not None else []
    protocol = item.get("protocol", {})
    where += [f"epoch {protocol['epoch_num']}"] if "epoch_num" in protocol else []
    text = Text(", ".join(where)).append("  " if where else "").append(shown(metrics, 4))
    slices = item.get("slices", ())
    text.append(f"  {count(len(slices), 'slice')}" if slices else "", "dim")
    return text.append(
        f"  {item['evidence_level'].replace('_', ' ')}" if item.get("evidence_level") else "", "dim"
    )
