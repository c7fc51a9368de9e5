"""What a worker leaves in the place for temporary files when its fork server has warmed up: nothing."""

import os
import subprocess
import sys
from pathlib import Path

WARM_UP = "from gates.contracts.engine.warming import warm_up; print(warm_up())"


def test_warming_up_leaves_no_temporary_file(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", WARM_UP]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.stdout.strip() == "passed", done.stderr
    assert list(tmp_path.iterdir()) == []
