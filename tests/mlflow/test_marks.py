"""What one process of an MLflow server is releasing, others of it know."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from shipworthy.mlflow.marks import Mark, Marks

MARK: Final = Mark("/srv/artifacts/1/67d0/artifacts/model", "runs:/67d0/model")
DATABASE: Final = "sqlite:////srv/mlflow.db"
_PUT: Final = """
import sys
from pathlib import Path
from shipworthy.mlflow.marks import Mark, Marks
with Marks(sys.argv[1], Path(sys.argv[2])).put(Mark(sys.argv[3], sys.argv[4])):
    print("put", flush=True)
    sys.stdin.read()
"""


def test_mark_stands_as_long_as_it_is_meant(tmp_path: Path) -> None:
    marks, elsewhere = Marks(DATABASE, tmp_path), Marks("sqlite:////srv/other.db", tmp_path)
    assert marks.standing() == []
    with marks.put(MARK):
        assert marks.standing() == [MARK]
        assert elsewhere.standing() == []
    assert marks.standing() == []


def test_mark_of_another_process_is_seen_and_ends_with_it(tmp_path: Path) -> None:
    marks = Marks(DATABASE, tmp_path)
    arguments = [sys.executable, "-c", _PUT, DATABASE, str(tmp_path), MARK.place, MARK.location]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"put\n"
        assert marks.standing() == [MARK]
        process.kill()
    assert marks.standing() == []
