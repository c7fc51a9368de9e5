"""`python -m api.workers SETTINGS`: the worker as a process of its own, which imports nothing of the service.

As a module named __main__ it is not run again in the children, which a console script would be, second for second.
With `embedded` the key comes as the first line of standard input, and the worker ends when that input does.
"""

import os
import sys
import threading
from typing import Final

from api.log_lines import log_lines
from api.workers.run import Worker, block_signals
from api.workers.settings import WorkerSettings
from shipworthy.registries.mlflow_address import authorization_of

_SECRETS: Final = ("SHIPWORTHY_TOKEN", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")


def main() -> int:
    block_signals()
    settings = WorkerSettings.from_json(sys.argv[1])
    log_lines(settings.log_level)
    given = os.environ.get("SHIPWORTHY_TOKEN", "")
    token = sys.stdin.readline().strip() if settings.embedded else given
    registry_authorization = authorization_of() if settings.mlflow_uri else None
    # Processes of this one inherit the environment; the keys are for none of them.
    for name in _SECRETS:
        os.environ.pop(name, None)
    worker = Worker(settings, token, registry_authorization)
    if settings.embedded:
        threading.Thread(target=_stop_with_input, args=(worker,), daemon=True).start()
    return worker.run()


def _stop_with_input(worker: Worker) -> None:
    sys.stdin.read()
    worker.stop()


if __name__ == "__main__":
    sys.exit(main())
