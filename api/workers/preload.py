"""What the fork server loads once, so that a check's process starts in milliseconds.

Great Expectations imports for seven seconds and takes 200 MB; a child shares those pages.
"""
# ruff: noqa: E402 - the collector is switched off before what it would look through is imported

import gc
import signal
import threading

# Imports make half a million objects that stay: to look through them again and again is a fifth of the time.
gc.disable()

from tqdm.auto import tqdm

import gates.checkpoints.loading
import gates.statistics.running  # noqa: F401 - scikit-learn and scipy, for the children
from gates.contracts.engine.warming import warm_up

# Each child's progress bar, though it is off, would leave a semaphore of the system behind.
tqdm.set_lock(threading.RLock())
# A service manager signals every process of the group. The children belong to the worker, which ends them, and this
# process ends by itself when the worker is gone.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
# Compiled queries and loaded dialects of a first run are the children's too: it saves each a quarter of a second.
warm_up()
gc.collect()
gc.freeze()
gc.enable()
