"""What the documents say of roles is what the calls ask for: compared with the matrix that every call is tried by."""

import re
from pathlib import Path
from typing import Final

from models.actor import Role
from tests.api.test_access import ANY, MAY_CALL, PUBLIC

DOCUMENTS: Final = Path(__file__).resolve().parents[2] / "docs"
_RUNS: Final = "register runs and their facts"
_MOVES: Final = "judge and record promotions"
WORDS: Final = {
    "POST /v1/runs": _RUNS,
    "POST /v1/runs/{run_id}/events": _RUNS,
    "POST /v1/runs/{run_id}/checkpoints": _RUNS,
    "POST /v1/runs/{run_id}/artifacts": _RUNS,
    "POST /v1/snapshots": _RUNS,
    "POST /v1/model-versions": _RUNS,
    "POST /v1/runs/{run_id}/progress": "report progress",
    "POST /v1/checkpoints/{digest}/verifications": "record verifications",
    "POST /v1/checkpoints/{digest}/verifications:request": "have checkpoints verified",
    "POST /v1/evaluations": "record evaluations",
    "POST /v1/evaluation-attempts": "open evaluation attempts",
    "POST /v1/evaluation-attempts/extensions": "extend attempts",
    "POST /v1/evaluation-attempts/{id}/statistics": "have statistics made again",
    "POST /v1/evidence": "record evidence",
    "POST /v1/revocations": "revoke and contest records",
    "PUT /v1/contracts/{name}": "publish contracts",
    "POST /v1/contracts:lint": "publish contracts",
    "PUT /v1/gates/{name}": "publish gates",
    "POST /v1/gates:lint": "publish gates",
    "POST /v1/gates/{name}:replay": "replay decisions",
    "POST /v1/gates/{name}/decisions": "ask gates",
    "POST /v1/reviews": "ask for reviews",
    "POST /v1/waivers": "waive",
    "POST /v1/break-glass": "break glass",
    "POST /v1/promotions:check": _MOVES,
    "POST /v1/promotions": _MOVES,
    "POST /v1/promotions:move": _MOVES,
    "POST /v1/promotions:observe": "record moves that were seen",
    "POST /v1/demotions": "allow demotions",
    "POST /v1/reconciliations": "compare registries",
    "POST /v1/baselines": "publish baselines",
    "POST /v1/baselines/{digest}/approvals": "approve baselines",
    "POST /v1/contract-checks": "have data checked",
    "POST /v1/contract-checks/{id}:cancel": "have data checked",
    "POST /v1/work:claim": "claim work and record what comes of it",
    "POST /v1/work/{id}:renew": "claim work and record what comes of it",
    "POST /v1/work/{id}:complete": "claim work and record what comes of it",
    "PUT /v1/blobs/{digest}": "put blobs",
    "PUT /v1/slos/{name}": "publish SLOs",
    "POST /v1/slos:lint": "publish SLOs",
    "POST /v1/slos/{name}/exclusions": "leave windows out of SLOs",
    "POST /v1/sources/{name}/heartbeats": "send heartbeats of sources",
}
"""What docs/operations.md calls each call."""
BY_KIND: Final = {"POST /v1/records:batch", "POST /v1/work/{id}:cancel"}
"""Take what other calls take, and end what they began."""
OTHER_WORDS: Final = {("POST /v1/reviews", Role.APPROVER): "approve and deny"}


def told_apart() -> dict[str, frozenset[Role]]:
    """The calls that not every key may make."""
    return {call: roles for call, roles in MAY_CALL.items() if roles is not PUBLIC and roles != ANY}


def test_table_of_roles_names_what_each_may_do_and_nothing_else() -> None:
    assert set(told_apart()) == set(WORDS) | BY_KIND
    page = (DOCUMENTS / "operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)` \| (read[,;].*) \|$", page, flags=re.MULTILINE)
    assert [role for role, _ in rows] == list(Role)
    for name, row in rows:
        role, said = Role(name), row.partition(";")[0].split(", ")
        may = {
            OTHER_WORDS.get((call, role), words)
            for call, words in WORDS.items()
            if role in told_apart()[call]
        }
        assert sorted(said) == sorted({"read", *may}), role


def test_table_of_calls_names_who_may_make_each() -> None:
    table = (
        (DOCUMENTS / "api.md")
        .read_text(encoding="utf-8")
        .partition("| recording | who |")[2]
        .partition("\n\n")[0]
    )
    said: dict[str, set[str]] = {}
    for row in table.splitlines():
        calls = re.findall(r"`((?:POST|PUT) [^`]+)`", row)
        words = set(re.findall(r"\w+", re.sub("`[^`]*`", "", row))) & set(Role)
        for call in calls:
            said.setdefault(call, set()).update(words)
    assert said.pop("POST /v1/records:batch") == set(), "by kind"
    expected = {call: set(roles) for call, roles in told_apart().items() if call != "POST /v1/records:batch"}
    assert said == expected
