"""Whether the records behind a lineage stand in the log, computed here and not taken from the service's word."""

from rich.text import Text

from shipworthy.cli.words import count
from shipworthy.formats.log_entry import leaf_entry
from shipworthy.formats.merkle import leaf_hash, verify_inclusion
from shipworthy.formats.notes import NoteError, TreeHead, parse_tree_head
from shipworthy.query.lineage import Lineage


def proof_text(found: Lineage) -> Text:
    """The signature of the head is not checked here: that needs the log's key from somewhere else."""
    records = found.proof.get("records", ())
    try:
        head = parse_tree_head(str(found.proof["checkpoint"]).partition("\n\n")[0] + "\n")
        proven = sum(_is_in_log(record, head) for record in records)
    except (NoteError, KeyError, ValueError, TypeError):
        return Text("✗ the service gave no proof that can be read", "bad")
    if proven < len(records):
        text = Text(
            f"✗ {len(records) - proven} of {len(records)} records are not proven to be in the log", "bad"
        )
    else:
        text = Text(f"✓ {count(len(records), 'record')} in the log, checked here", "good")
    manifest = found.manifest
    text.append(f"  {head.origin} at {head.size:,}", "dim")
    if manifest is not None:
        text.append(f", lineage manifest revision {manifest['revision']}", "dim")
    return text


def _is_in_log(record: "dict[str, object]", head: TreeHead) -> bool:
    path, position = record["path"], record["position"]
    if not isinstance(path, list) or not isinstance(position, int):
        return False
    leaf = leaf_hash(leaf_entry(str(record["record"]), str(record["kind"])))
    return verify_inclusion(leaf, position, head.size, [bytes.fromhex(step) for step in path], head.root)
