"""The SHIPWORTHY_… variables that anything of Shipworthy's reads, and a word about one that nothing does."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

_PREFIX: Final = "SHIPWORTHY_"
SERVE: Final[Mapping[str, str]] = {
    "SHIPWORTHY_DATABASE_URL": "the database; else SQLite in the data folder",
    "SHIPWORTHY_MIGRATION_URL": "the same as the owner of its tables",
    "SHIPWORTHY_MIGRATE": "off: never migrate on start",
    "SHIPWORTHY_BLOBS": "folder or URL of the blobs; else in --data",
    "SHIPWORTHY_METRICS_TOKEN": "bearer token for /metrics",
    "SHIPWORTHY_PROTECT": "registry names that take a decision; *: all",
    "SHIPWORTHY_MLFLOW_URI": "MLflow server to compare with the records",
    "SHIPWORTHY_REGISTRY": "name of that registry; else default",
    "SHIPWORTHY_RECONCILE_SECONDS": "pause between two comparisons; else 60",
    "SHIPWORTHY_LOG_LEVEL": "debug, info, warning, error; else info",
}
"""What `serve` reads beside its options; docs/operations.md says more of each."""
_OTHERS: Final = frozenset(
    {
        # The options --data and, of the worker, --url; its key, as that of the client and of the MLflow guard.
        *("SHIPWORTHY_DATA", "SHIPWORTHY_URL", "SHIPWORTHY_TOKEN"),
        # The client, in the same shell or container.
        *("SHIPWORTHY_DIR", "SHIPWORTHY_RUN_ID", "SHIPWORTHY_LAUNCH", "SHIPWORTHY_EXEC", "SHIPWORTHY_IMAGE"),
        *("SHIPWORTHY_DATA_INTERVAL", "SHIPWORTHY_CHECKPOINT", "SHIPWORTHY_RESTORED"),
        # deploy/mlflow/start, and the tests.
        *("SHIPWORTHY_PORT", "SHIPWORTHY_BIN", "SHIPWORTHY_ENDURANCE", "SHIPWORTHY_TEST_POSTGRES_BIN"),
    }
)
KNOWN: Final = frozenset(SERVE) | _OTHERS
# Kubernetes sets the second kind in every container beside a Service whose name begins with "shipworthy".
_FOREIGN: Final = re.compile(
    r"SHIPWORTHY_(BENCH_\w+|(\w+_)?SERVICE_(HOST|PORT)(_\w+)?|(\w+_)?PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)"
)


def unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that reads like one of ours and is none."""
    for name in sorted(environment):
        if not name.startswith(_PREFIX) or name in KNOWN or _FOREIGN.fullmatch(name):
            continue
        # Without the beginning that all have in common, else everything would be near.
        rests = sorted(known.removeprefix(_PREFIX) for known in KNOWN)
        near = difflib.get_close_matches(name.removeprefix(_PREFIX), rests, n=1)
        hint = (
            f"did you mean {_PREFIX}{near[0]}?"
            if near
            else "unset it; docs/operations.md lists those there are"
        )
        yield f"{name} is no variable of Shipworthy and changes nothing; {hint}"
