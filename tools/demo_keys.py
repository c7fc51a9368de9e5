"""Keys for the people and the registry of `make demo`, made by one process: imports what that takes, waits for a line
that says that the service is there, and prints the tokens as JSON.

    python tools/demo_keys.py DATA < lines
"""

import json
import sys
from pathlib import Path
from typing import Final

from api.cli.opening import existing_ledger
from models.keys.administration import create_key

HOLDERS: Final = {
    "ada": (["recorder"], []),
    "ben": (["author"], []),
    "eve": (["evaluator"], []),
    "grace": (["approver"], ["model-risk"]),
    "registry": (["registry"], []),
}
"""Who trains, writes the policy, evaluates, and approves: nobody may do two of the last three for one release. And the
guard of MLflow's registry."""


def main() -> None:
    sys.stdin.readline()
    with existing_ledger(Path(sys.argv[1])) as service:
        tokens = {
            holder: create_key(
                service.ledger,
                service.ring,
                namespace="default",
                roles=roles,
                owner=None if holder == "registry" else f"{holder}@example.org",
                groups=groups,
            ).token
            for holder, (roles, groups) in HOLDERS.items()
        }
    print(json.dumps(tokens))


main()
