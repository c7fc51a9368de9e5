"""What Parquet files say of themselves: footers, and with pyarrow the schema and the number of rows."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from shipworthy.errors import UsageError
from shipworthy.formats.manifest import ManifestEntry
from shipworthy.formats.parquet import NoFooter, footer_digest, footers_digest
from shipworthy.values import Body

_SUFFIXES: Final = frozenset({".parquet", ".pq"})


def table_facts(path: Path, entries: Sequence[ManifestEntry]) -> Body:
    """`footer_digest` of the Parquet files at `path`, and where pyarrow is installed `schema_digest` and `row_count`:
    the same that a contract check finds. Empty for other data.

    `entries` are the manifest of `path`. Raises UsageError for files that are called Parquet and are not, or that
    have several schemas.
    """
    # Marks such as _SUCCESS and hidden files hold no rows.
    names = [each.path for each in entries if not each.path.rpartition("/")[2].startswith(("_", "."))]
    files = [path / name for name in names] if path.is_dir() else [path]
    if not names or any(file.suffix.lower() not in _SUFFIXES for file in files):
        return {}
    facts: Body = {"footer_digest": footers_digest([_footer(file) for file in files])}
    if find_spec("pyarrow") is not None:
        facts |= _contents(files)
    return facts


def _footer(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return footer_digest(opened)
    except NoFooter as error:
        raise UsageError(
            f"{file} is called Parquet, but {error}; write it again, or name it otherwise"
        ) from error


def _contents(files: Sequence[Path]) -> Body:
    import pyarrow
    import pyarrow.parquet

    from shipworthy.formats.arrow import schema_digest

    rows = 0
    digest: str | None = None
    for file in files:
        try:
            metadata = pyarrow.parquet.read_metadata(file)
            found = schema_digest(metadata.schema.to_arrow_schema())
        except pyarrow.ArrowException as error:
            raise UsageError(f"{file} is no readable Parquet file: {error}") from error
        if digest not in (None, found):
            raise UsageError(
                f"{file} has another schema than {files[0]}; all files of a table need the same columns"
            )
        digest = found
        rows += metadata.num_rows
    return {"schema_digest": digest, "row_count": rows}
