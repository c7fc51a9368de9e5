"""The table of record kinds, put together from those of the parts.

Adding a kind is adding a row to its part's table and its projection in models/lineage/projections.py (or the part's
own).
"""

from collections.abc import Mapping
from typing import Final

from models.keys.records import KeyCreated, KeyRetired, KeyRevoked
from models.kinds.administration import LogRestored
from models.kinds.kind import SERVER_ONLY, Kind
from models.kinds.table_contracts import CONTRACTS
from models.kinds.table_evaluations import EVALUATIONS
from models.kinds.table_gates import GATES
from models.kinds.table_lineage import LINEAGE
from models.kinds.table_promotions import PROMOTIONS
from models.kinds.table_slos import SLOS

_ALL: Final = (
    *LINEAGE,
    *EVALUATIONS,
    *CONTRACTS,
    *GATES,
    *SLOS,
    *PROMOTIONS,
    Kind("key.created", KeyCreated, SERVER_ONLY, lambda fact, _: f"key:{fact.key_id}"),
    Kind(
        "key.revoked",
        KeyRevoked,
        SERVER_ONLY,
        lambda fact, _: f"key:{fact.key_id}",
        key=lambda fact, _: fact.key_id,
    ),
    Kind(
        "key.retired",
        KeyRetired,
        SERVER_ONLY,
        lambda fact, _: f"key:{fact.key_id}",
        key=lambda fact, _: fact.key_id,
    ),
    Kind("log.restored", LogRestored, SERVER_ONLY, lambda fact, _: "log"),
)

KINDS: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _ALL}


def find_schema(digest: str) -> bytes | None:
    """The JSON schema with this digest, which records name in `schema`."""
    return next((kind.schema for kind in _ALL if kind.schema_digest == digest), None)
