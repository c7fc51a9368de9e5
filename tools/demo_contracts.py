"""The part of `make demo` that checks data: three months of taxi trips against one contract."""

import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Final

from demo_commands import Ahead, ahead, call

CONTRACT: Final = Path("examples/contracts/taxi.yaml")
TABLES: Final = Path("tests/data/tables")
MONTHS: Final = ("2019-01", "2019-02", "2020-04")
PINNED: Final = "sha256:" + "0" * 64
"""What the contract holds in place of the baseline, which is made here."""
LABELS: Final = ("payment_type", "rate_code_id", "vendor_id")
FIRST_ROWS: Final = 1_000


def lay_out(folder: Path) -> None:
    """The months under short names, and the beginning of one: data of a tenth of its volume."""
    folder.mkdir(parents=True)
    for month in MONTHS:
        shutil.copy(TABLES / f"yellow_tripdata_sample_{month}.csv", folder / f"{month}.csv")
    with (folder / "2019-02.csv").open("rb") as whole:
        (folder / "2019-02-beginning.csv").write_bytes(b"".join(islice(whole, FIRST_ROWS + 1)))


def baseline(environ: Mapping[str, str]) -> AbstractContextManager[Ahead]:
    """The measuring of a good month, begun early: the worker starts with it, and takes seconds to load its engine."""
    columns = [argument for label in LABELS for argument in ("--label", label)]
    data = ["--root", "taxi", "--path", "2019-01.csv"]
    return ahead(["shipworthy", "baseline", "make", *data, *columns, "--number", "fare_amount"], environ)


def check_months(folder: Path, measured: Ahead, environ: Mapping[str, str]) -> None:
    """Publishes the contract that pins the baseline, and checks what came after."""
    contract = folder / "taxi.yaml"
    digest = measured.shown().strip()
    contract.write_text(CONTRACT.read_text(encoding="utf-8").replace(PINNED, digest), "utf-8")
    call(["shipworthy", "contract", "publish", "taxi", str(contract)], environ)
    for path, expected in (("2019-02.csv", 0), ("2020-04.csv", 1), ("2019-02-beginning.csv", 1)):
        check = ["shipworthy", "contract", "check", "taxi", "--root", "taxi", "--path", path, "--wait"]
        call(check, environ, expected=expected)
