"""The service's side: gates for the protected names, and decisions about artifacts that lie in MLflow."""

from datetime import UTC, datetime
from typing import Final

from models.fields import instant_text
from tests.live.mlflow.exhibits import ALIAS, SEALED, STAGE
from tests.support.bodies import Body
from tests.support.calls import post
from tests.support.gates import MODEL, make_policy
from tests.support.promotions import PromotionScene

GATES: Final = {ALIAS: "fraud-champion", STAGE: "fraud-production"}
SEAL: Final = "sealed-registration"


class ReleaseScene(PromotionScene):
    """Gates stand before the alias and the stage of MODEL, and before versions of SEALED."""

    @property
    def registry_token(self) -> str:
        """For the guards of servers."""
        return self.guard.headers["Authorization"].removeprefix("Bearer ")

    def publish_gates(self) -> None:
        for target, gate in GATES.items():
            self._published(_roomy(make_policy(name=gate, to=target)), gate)
        sealed = make_policy(name=SEAL, to="registration").replace(MODEL.encode(), SEALED.encode())
        # Before registration there is nothing yet that holds the name.
        self._published(_roomy(sealed).replace(b"alias: registration", b"alias: champion"), SEAL)
        self.record_data()

    def decide(self, artifact: str, target: str = ALIAS, registry: str | None = None) -> Body:
        """A pass for this artifact, compared with what the target of this registry holds."""
        body = {"model": MODEL, "artifact": artifact, "to": target}
        asked = body if registry is None else body | {"registry": registry}
        answer = post(self.evaluator, f"/v1/gates/{GATES[target]}/decisions", asked)
        assert answer.status_code == 201, answer.text
        decided: Body = answer.json()
        assert decided["verdict"] == "passed", decided
        return decided

    def promoted(self, registry: str, target: str = ALIAS) -> list[Body]:
        """What was promoted, newest first."""
        parameters = {"registry": registry, "model": MODEL, "target": target, "state": "promoted"}
        answer = self.reader.get("/v1/promotions", params=parameters)
        assert answer.status_code == 200, answer.text
        items: list[Body] = answer.json()["items"]
        return items

    def reconcile(self, registry: str, version: str, artifact: str) -> list[Body]:
        """What the service finds when a worker saw that this version holds the alias, and nothing else."""
        seen = {"model": MODEL, "target": ALIAS, "version": version, "artifact": artifact}
        now = instant_text(datetime.now(UTC))
        body = {
            "registry": registry,
            "started_at": now,
            "finished_at": now,
            "observed": [seen],
            "complete": True,
        }
        assert post(self.worker, "/v1/reconciliations", body).status_code == 201
        answer = self.reader.get("/v1/reconciliations:latest", params={"registry": registry})
        findings: list[Body] = answer.json()["findings"]
        return [each for each in findings if each["target"] == ALIAS]

    def _published(self, policy: bytes, gate: str) -> None:
        answer = self.publish(policy, gate)
        assert answer.status_code in (200, 201), answer.text


def _roomy(policy: bytes) -> bytes:
    """More candidates than ten are measured on the one snapshot."""
    return policy.replace(b"budget: 10", b"budget: 100")
