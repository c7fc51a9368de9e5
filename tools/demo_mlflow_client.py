"""MLflow's own client in one process, for tools/demo_mlflow.py: does the statements that it reads, one a line, and says
what a Python console would. Runs in .venv-mlflow; to import MLflow takes seconds.
"""

import io
import json
import os
import sys
from contextlib import redirect_stdout

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException


def main() -> None:
    known = {"client": MlflowClient()}
    # What MLflow prints by the way must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"printed": "", "failed": False}), file=answers, flush=True)
    for line in sys.stdin:
        statement = json.loads(line)
        print(json.dumps(done(statement, known)), file=answers, flush=True)


def done(statement: str, known: dict[str, object]) -> dict[str, object]:
    """What the statement printed, and whether it ended with an exception."""
    with redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(statement, "demo", "single"), known)
        except (MlflowException, OSError) as error:  # An upload that is refused is an OSError of requests.
            told = f"{type(error).__module__}.{type(error).__name__}: {error}\n"
            return {"printed": told, "failed": True}
    return {"printed": printed.getvalue(), "failed": False}


main()
