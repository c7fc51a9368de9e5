"""Record training runs, their data and their models.

    import shipworthy

    with shipworthy.run("fraud/train", config=config, data={"train": "data/train.parquet"}) as run:
        for step in range(steps):
            run.log(step=step, loss=loss)
        run.checkpoint("checkpoints/600", step=600)

Names are imported when they are first used: a program that imports this package and records nothing pays
nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shipworthy.errors import JournalError, NotDelivered, ShipworthyError, UsageError
    from shipworthy.identity import new_run_id
    from shipworthy.products import Product
    from shipworthy.runs import Run
    from shipworthy.snapshots import Snapshot, snapshot
    from shipworthy.starting import run
    from shipworthy.tracking import current_run, flush, track

__all__ = [
    "JournalError",
    "NotDelivered",
    "Product",
    "Run",
    "ShipworthyError",
    "Snapshot",
    "UsageError",
    "current_run",
    "flush",
    "new_run_id",
    "run",
    "snapshot",
    "track",
]

_PLACES = {
    "errors": ("JournalError", "NotDelivered", "ShipworthyError", "UsageError"),
    "identity": ("new_run_id",),
    "products": ("Product",),
    "runs": ("Run",),
    "snapshots": ("Snapshot", "snapshot"),
    "starting": ("run",),
    "tracking": ("current_run", "flush", "track"),
}


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            from importlib import import_module

            found: object = getattr(import_module(f"shipworthy.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'shipworthy' has no attribute {name!r}")
