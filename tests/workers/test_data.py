"""What of the files is read as rows."""

from pathlib import Path

import pytest

from api.workers.data import rows_of
from api.workers.failures import WorkFailed
from api.workers.files import HashedFile, hash_opened
from api.workers.roots import opened_below


def write(root: Path, **files: bytes) -> None:
    """Files of the folder `data`; two underlines stand for a dot."""
    folder = root / "data"
    folder.mkdir()
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)


def rows(root: Path, path: str = "data") -> tuple[str, list[str]]:
    with opened_below(root, path) as files:
        found: list[HashedFile] = hash_opened(files, lambda count: None)
        format, read = rows_of(found)
        return format, [each.file.path for each in read]


def test_marks_and_hidden_files_hold_no_rows(tmp_path: Path) -> None:
    write(tmp_path, a__csv=b"n\n1\n", b__csv=b"n\n2\n", _SUCCESS=b"", __a__crc=b"crc")
    assert rows(tmp_path) == ("csv", ["a.csv", "b.csv"])


def test_parquet_is_known_by_its_bytes_when_its_name_does_not_say_so(tmp_path: Path) -> None:
    write(tmp_path, part=b"PAR1 and so on")
    assert rows(tmp_path) == ("parquet", ["part"])


def test_file_that_was_named_is_read_whatever_its_name_begins_with(tmp_path: Path) -> None:
    write(tmp_path, _a__csv=b"n\n1\n")
    assert rows(tmp_path, "data/_a.csv") == ("csv", ["_a.csv"])


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"a__csv": b"n\n", "b__parquet": b"PAR1"}, "holds both"),
        ({"a__csv": b"n\n", "notes__txt": b"text"}, r"notes\.txt is neither"),
        ({"_SUCCESS": b"", "_b": b""}, "holds none"),
    ],
)
def test_folder_that_is_no_table_is_refused(tmp_path: Path, files: dict[str, bytes], word: str) -> None:
    write(tmp_path, **files)
    with pytest.raises(WorkFailed, match=word):
        rows(tmp_path)
