"""What is handed out with a decision proves it: to `shipworthy verify`, and to others' DSSE tools."""

import base64
import json
from datetime import UTC, datetime

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.signer._key import SSlibKey

from shipworthy.formats.dsse import public_key_id
from shipworthy.formats.times import parse_instant
from shipworthy.verifying.outcome import VerificationFailed, Verified
from shipworthy.verifying.verify import verify
from tests.support.gates import ARTIFACT, SIGN_OFF, GateScene, make_policy
from tests.support.service import RunningService


@pytest.fixture
def scene(service: RunningService) -> GateScene:
    """The test runs twice, as [sqlite] and as [postgresql]."""
    return GateScene(service)


def proof(scene: GateScene, decision: str, **parameters: int) -> tuple[bytes, bytes]:
    """Bundle and trust file as the service answers them."""
    bundle = scene.reader.get(f"/v1/decisions/{decision}/bundle", params=parameters)
    assert bundle.status_code == 200, bundle.text
    return bundle.content, scene.reader.get("/v1/trust").content


def test_a_pass_with_approvals_is_proven_offline_until_something_is_taken_back(scene: GateScene) -> None:
    approvers = [scene.approver(person) for person in ("grace", "heidi")]
    scene.ready(make_policy(sign_off=SIGN_OFF))
    first = scene.decided()
    for approver in approvers:
        assert scene.review(approver, first).status_code == 201
    passed = scene.decided()
    assert passed["verdict"] == "passed"
    now = datetime.now(UTC)
    report, head = verify(ARTIFACT, *proof(scene, passed["decision"]), now)
    assert report.decision == passed["decision"]
    assert any("2 approvals" in sentence for sentence in report.proven)
    verify(ARTIFACT, *proof(scene, passed["decision"]), now, pin=head)
    with pytest.raises(VerificationFailed) as refused:
        verify(ARTIFACT, *proof(scene, first["decision"]), now)
    assert refused.value.outcome is Verified.NOT_ACCEPTED
    scene.revoke(passed["attempt"]["id"])
    with pytest.raises(VerificationFailed, match="was revoked"):
        verify(ARTIFACT, *proof(scene, passed["decision"]), now)
    size = int(head.split("\n")[1])
    with pytest.raises(VerificationFailed, match="was revoked"):
        verify(ARTIFACT, *proof(scene, passed["decision"], **{"from": size}), now, pin=head)


def test_a_pass_is_over_when_its_time_is(scene: GateScene) -> None:
    scene.ready()
    passed = scene.decided()
    bundle, trust = proof(scene, passed["decision"])
    verify(ARTIFACT, bundle, trust, datetime.now(UTC))
    with pytest.raises(VerificationFailed, match="was valid until"):
        verify(ARTIFACT, bundle, trust, parse_instant(passed["valid_until"]))


@pytest.mark.parametrize(("auc", "result"), [(0.91, "PASSED"), (0.7, "FAILED")])
def test_other_tools_verify_envelope_and_summary(scene: GateScene, auc: float, result: str) -> None:
    scene.published(make_policy())
    scene.record_data()
    scene.train()
    scene.evaluate(auc=auc)
    scene.attest()
    decision = scene.decided()["decision"]
    trusted = json.loads(scene.reader.get("/v1/trust").content)
    public = base64.b64decode(trusted["signers"][0]["public_key"])
    key = SSlibKey(public_key_id(public), "ed25519", "ed25519", {"public": public.hex()})
    statements = {}
    for kind in ("dsse", "vsa"):
        answer = scene.reader.get(f"/v1/decisions/{decision}/{kind}")
        assert answer.headers["content-type"] == "application/vnd.dsse.envelope.v1+json"
        envelope = Envelope.from_dict(answer.json())
        envelope.verify([key], 1)
        statements[kind] = json.loads(envelope.payload)
        assert statements[kind]["subject"][0]["digest"] == {"sha256": ARTIFACT[7:]}
    assert statements["dsse"]["predicateType"] == "urn:shipworthy:release-decision:1"
    assert statements["vsa"]["predicateType"] == "https://slsa.dev/verification_summary/v1"
    assert statements["vsa"]["predicate"]["verificationResult"] == result


def test_only_decisions_of_the_namespace_are_handed_out(scene: GateScene) -> None:
    scene.ready()
    decision = scene.decided()["decision"]
    stranger = GateScene(scene.service, "team-b").reader
    for kind in ("bundle", "dsse", "vsa"):
        assert stranger.get(f"/v1/decisions/{decision}/{kind}").status_code == 404
        assert scene.reader.get(f"/v1/decisions/{ARTIFACT}/{kind}").status_code == 404
    too_far = scene.reader.get(f"/v1/decisions/{decision}/bundle", params={"from": 10**9})
    assert too_far.status_code == 422
    assert too_far.json()["errors"][0]["field"] == "/query/from"
