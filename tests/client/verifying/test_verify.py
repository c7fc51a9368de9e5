"""`shipworthy verify`: what is proven, and each thing that is not, with the exit code that says which."""

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shipworthy.cli.main import app
from shipworthy.formats.manifest import hash_tree, manifest_digest
from shipworthy.formats.trust import trust_document
from tests.client.verifying.bundles import AUTHOR, NOW, OTHER, TRAINER, Case, encoded, result


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"01234")
    return folder


@pytest.fixture
def case(model: Path) -> Case:
    return Case(manifest_digest(hash_tree(model)))


class Command:
    """Runs the console script in this process, on files."""

    def __init__(
        self, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.model = model
        self.folder = model.parent
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.said = ""

    def __call__(
        self,
        bundle: dict[str, Any],
        trust: dict[str, Any],
        *options: str,
        at: str = NOW,
        path: Path | None = None,
    ) -> int:
        (self.folder / "bundle.json").write_bytes(encoded(bundle))
        (self.folder / "trust.json").write_bytes(encoded(trust))
        given = [str(path or self.model), "--evidence", str(self.folder / "bundle.json")]
        given += ["--trust", str(self.folder / "trust.json"), "--at", at, *options]
        self._monkeypatch.setattr("sys.argv", ["shipworthy", "verify", *given])
        with pytest.raises(SystemExit) as ended:
            app()
        captured = self._capsys.readouterr()
        self.said = captured.out + captured.err
        assert isinstance(ended.value.code, int)
        return ended.value.code

    def of(self, case: Case, *options: str, at: str = NOW) -> int:
        """A case decided now, its bundle checked with its own deployment's keys."""
        return self(case.deployment.bundle(case.decide()), case.deployment.trust(), *options, at=at)


@pytest.fixture
def verify(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(model, monkeypatch, capsys)


def test_a_pass_is_proven_and_what_is_not_is_said(case: Case, verify: Command) -> None:
    assert verify.of(case) == 0
    assert "PROVEN: fraud may go to champion" in verify.said
    assert "no revocation and no later decision was left out" in verify.said


def test_json_says_the_same(case: Case, verify: Command) -> None:
    assert verify.of(case, "--json") == 0
    said = json.loads(verify.said)
    assert (said["outcome"], said["artifact"], said["target"]) == ("proven", case.artifact, "champion")
    assert said["proven"]
    assert said["not_proven"]


def test_other_files_are_not_what_was_decided_on(case: Case, verify: Command) -> None:
    (verify.model / "weights.bin").write_bytes(b"01235")
    assert verify.of(case) == 2
    assert "not the files that were judged" in verify.said


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"type": "break_glass"}, 3, "break-glass"),
        ({"mode": "shadow"}, 3, "trial run"),
        ({"valid_until": "2026-06-01T11:59:59.000Z"}, 3, "valid until"),
        ({"evaluated_at": "2026-06-01T12:00:00.001Z"}, 3, "lies ahead"),
        ({"valid_until": None}, 2, "how long"),
        ({"evaluated_at": "2026-06-01T11:00:00"}, 2, "time that is none"),
        ({"verdict": "blocked"}, 2, 'come to "passed"'),
        ({"criteria": []}, 2, "can't be judged"),
        ({"inputs": []}, 4, "nothing that it rests on"),
    ],
)
def test_a_signed_decision_that_is_no_pass_now_is_refused(
    case: Case, verify: Command, changes: dict[str, Any], code: int, words: str
) -> None:
    case.changes = changes
    assert verify.of(case) == code, verify.said
    assert words in verify.said


def test_a_failed_criterion_can_not_be_called_a_pass(case: Case, verify: Command) -> None:
    case.criteria[0] = result("auc", "failed", "none")
    assert verify.of(case) == 2


def test_a_blocked_verdict_is_genuine_but_not_accepted(case: Case, verify: Command) -> None:
    case.criteria[0] = result("auc", "failed", "block")
    case.changes = {"verdict": "blocked"}
    assert verify.of(case) == 3
    assert '"blocked"' in verify.said


def test_a_criterion_of_the_policy_may_not_be_left_out(case: Case, verify: Command) -> None:
    case.policy_ids = ["auc", "latency", "recall", "sign-off"]
    assert verify.of(case) == 2
    assert "not those of the published gate" in verify.said


@pytest.mark.parametrize("person", [TRAINER, AUTHOR, OTHER, None])
def test_who_approved_has_to_be_somebody_else(case: Case, verify: Command, person: str | None) -> None:
    case.approver = person
    assert verify.of(case) == 3


@pytest.mark.parametrize(
    "approval",
    [
        {"artifact": "sha256:" + "0" * 64},
        {"policy_version": 6},
        {"to": "production"},
        {"expires_at": "2026-06-01T11:30:00.000Z"},
    ],
)
def test_an_approval_survives_nothing(case: Case, verify: Command, approval: dict[str, Any]) -> None:
    case.approval = approval
    assert verify.of(case) == 3, verify.said


def test_an_expired_waiver_is_refused(case: Case, verify: Command) -> None:
    case.waiver = {"expires_at": "2026-06-01T11:59:00.000Z"}
    assert verify.of(case) == 3
    assert "ended at" in verify.said


@pytest.mark.parametrize("effect", ["revoked", "contested"])
@pytest.mark.parametrize("what", ["decision", "statistics"])
def test_what_was_taken_back_is_refused(case: Case, verify: Command, what: str, effect: str) -> None:
    decision = case.decide()
    predicate = json.loads(case.deployment.records[-1][0])["body"]["statement"]["predicate"]
    named = {each["role"]: each["record"] for each in predicate["inputs"]} | {"decision": decision}
    taken = {"record": named[what], "effect": effect, "reason": "poisoned"}
    case.deployment.append("revocation", taken, AUTHOR)
    assert verify(case.deployment.bundle(decision), case.deployment.trust()) == 3
    assert "poisoned" in verify.said


def test_a_revoked_key_takes_what_it_wrote_with_it(case: Case, verify: Command) -> None:
    decision = case.decide()
    case.deployment.append("key.revoked", {"key_id": "k-worker"}, None)
    assert verify(case.deployment.bundle(decision), case.deployment.trust()) == 3


def test_a_later_block_supersedes(case: Case, verify: Command) -> None:
    decision = case.decide()
    later = Case(case.artifact, case.deployment, changes={"verdict": "blocked"})
    later.criteria[0] = result("auc", "failed", "block")
    later.decide()
    assert verify(case.deployment.bundle(decision), case.deployment.trust()) == 3
    assert "supersedes" in verify.said


def test_an_unknown_log_or_signer_is_not_trusted(case: Case, verify: Command) -> None:
    stranger = Ed25519PrivateKey.from_private_bytes(b"s" * 32).public_key().public_bytes_raw()
    bundle, trust = case.deployment.bundle(case.decide()), case.deployment.trust()
    assert verify(bundle, trust_document(trust["logs"][0], stranger, ["team"])) == 3
    assert "does not trust" in verify.said
    other_log = trust["logs"][0].replace("ships.example", "pirates.example")
    assert verify(bundle, {**trust, "logs": [other_log]}) == 4  # its key id no longer fits


def test_a_pass_of_another_namespace_of_the_same_deployment_is_not_accepted(
    case: Case, verify: Command
) -> None:
    """Whoever has a namespace there sets a bar of their own and has the same key sign."""
    bundle, trust = case.deployment.bundle(case.decide()), case.deployment.trust()
    ours = trust["signers"][0]
    assert verify(bundle, {**trust, "signers": [{**ours, "namespaces": ["prod"]}]}) == 3
    assert "'team'" in verify.said
    assert verify(bundle, {**trust, "signers": [{**ours, "namespaces": ["prod", "team"]}]}) == 0
    for nobody in ([], "team", [None], None):
        assert verify(bundle, {**trust, "signers": [{**ours, "namespaces": nobody}]}) == 4


def test_a_pass_for_another_model_or_place_is_not_accepted_where_one_is_asked_for(
    case: Case, verify: Command
) -> None:
    bundle, trust = case.deployment.bundle(case.decide()), case.deployment.trust()
    assert verify(bundle, trust, "--model", "fraud", "--to", "champion") == 0
    assert verify(bundle, trust, "--to", "canary") == 3
    assert verify(bundle, trust, "--model", "toy") == 3


def test_a_signer_is_trusted_for_its_stretch_of_the_log_only(case: Case, verify: Command) -> None:
    bundle, trust = case.deployment.bundle(case.decide()), case.deployment.trust()
    ours = trust["signers"][0]
    assert verify(bundle, {**trust, "signers": [{**ours, "end": 5}]}) == 3
    assert verify(bundle, {**trust, "signers": [{**ours, "first": 5, "end": 6}]}) == 0


def test_an_input_that_came_after_the_head_is_refused(case: Case, verify: Command) -> None:
    head = case.deployment.head(0)
    case.changes = {"asOf": {"origin": head.origin, "size": 3, "root": "sha256:" + head.root.hex()}}
    assert verify.of(case) == 2


def test_a_pin_is_kept_moved_on_and_shows_a_rewritten_log(case: Case, verify: Command) -> None:
    pin = verify.folder / "pin"
    decision = case.decide()
    assert verify(case.deployment.bundle(decision), case.deployment.trust(), "--pin", str(pin)) == 0
    first = pin.read_text()
    case.deployment.append("run.event", {"run_id": "r2"}, None)
    assert verify(case.deployment.bundle(decision, since=6), case.deployment.trust(), "--pin", str(pin)) == 0
    assert pin.read_text() != first
    # Grown by more than the bundle shows: not wrong, only not proven.
    case.deployment.append("run.event", {"run_id": "r3"}, None)
    assert verify(case.deployment.bundle(decision), case.deployment.trust(), "--pin", str(pin)) == 4
    assert "fetch it again with from=7" in verify.said
    assert verify(case.deployment.bundle(decision, since=7), case.deployment.trust(), "--pin", str(pin)) == 0
    # The same deployment with another history of the same length.
    rewritten = Case(case.artifact)
    other = rewritten.decide()
    rewritten.deployment.records.insert(0, rewritten.deployment.records[0])
    for run in ("r4", "r5"):
        rewritten.deployment.append("run.event", {"run_id": run}, None)
    assert verify(rewritten.deployment.bundle(other), rewritten.deployment.trust(), "--pin", str(pin)) == 2


def test_a_bundle_older_than_the_pin_is_incomplete(case: Case, verify: Command) -> None:
    pin = verify.folder / "pin"
    old = case.deployment.bundle(case.decide())
    case.deployment.append("run.event", {"run_id": "r2"}, None)
    pin.write_text(case.deployment.note())
    assert verify(old, case.deployment.trust(), "--pin", str(pin)) == 4
    assert "newer than the bundle" in verify.said


def test_missing_files_are_incomplete_and_bad_times_usage(case: Case, verify: Command) -> None:
    bundle, trust = case.deployment.bundle(case.decide()), case.deployment.trust()
    assert verify(bundle, trust, at="yesterday") == 2
    assert "RFC 3339" in verify.said
    assert verify(bundle, trust, path=verify.folder / "absent") == 4
    assert "can't be hashed" in verify.said
    assert verify(bundle, trust, "--evidence", str(verify.folder / "absent.json")) == 4
    assert "absent.json can't be read: No such file" in verify.said, "a typo is not a forgery"
