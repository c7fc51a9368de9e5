"""`python -m api.workers SETTINGS`: the worker as a process of its own, which imports nothing of the service.

As a module named __main__ it is not run again in the children, which a console script would be, second for second.
With `embedded` the key comes as the first line of standard input, and the worker ends when that input does.
"""

import os
import sys
import threading

from api.log_lines import log_lines
from api.workers.run import Worker, block_signals
from api.workers.settings import WorkerSettings


def main() -> int:
    block_signals()
    settings = WorkerSettings.from_json(sys.argv[1])
    log_lines(settings.log_level)
    given = os.environ.get("SHIPWORTHY_TOKEN", "")
    token = sys.stdin.readline().strip() if settings.embedded else given
    # Processes of this one inherit the environment; the key is for none of them.
    os.environ.pop("SHIPWORTHY_TOKEN", None)
    worker = Worker(settings, token)
    if settings.embedded:
        threading.Thread(target=_stop_with_input, args=(worker,), daemon=True).start()
    return worker.run()


def _stop_with_input(worker: Worker) -> None:
    sys.stdin.read()
    worker.stop()


if __name__ == "__main__":
    sys.exit(main())
