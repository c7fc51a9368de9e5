"""Kinds of data contracts: versions, baselines and checks."""

from typing import Final

from models.actor import Role
from models.kinds import contracts
from models.kinds.kind import RECORDER, Kind

CONTRACTS: Final = (
    Kind(
        "contract.published",
        contracts.ContractPublished,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"contract:{fact.name}",
        key=lambda fact, _: f"{fact.name}|{fact.version}",
        own_call="PUT /v1/contracts/{name}",
    ),
    Kind(
        "baseline.published",
        contracts.BaselinePublished,
        frozenset({Role.AUTHOR}),
        lambda fact, _: f"digest:{fact.digest}",
        subjects=lambda fact: [("data", fact.baseline.data.manifest)],
        own_call="POST /v1/baselines",
    ),
    Kind(
        "baseline.approved",
        contracts.BaselineApproved,
        frozenset({Role.APPROVER}),
        lambda fact, _: f"digest:{fact.baseline}",
    ),
    Kind(
        "contract.checked",
        contracts.ContractChecked,
        # A worker's level is for what it was given to do: its results come with the work that it claimed.
        RECORDER,
        lambda fact, _: f"contract:{fact.contract.name}",
        subjects=lambda fact: [("data", fact.data.manifest)],
    ),
)
