"""Promises as pages show them: one broken, with a window of each outcome, and one of which nothing is known."""

from datetime import timedelta

import httpx

from models.fields import instant_text
from tests.support.service import NO_CERTIFICATES
from tests.support.slos import NAME, PAST, SloScene, make_slo
from tests.web.scenes import HTML, sign_in

LATE, NEVER, EXCLUDED = 5, 3, 6
UNSURE = "unsure"


def with_outcomes(scene: SloScene) -> str:
    """Of ten windows one came late, one never, one failed and was left out; the run of the late one. The other promise
    takes silence of a source for unknown."""
    scene.published(make_slo(**scene.past))
    scene.published(
        make_slo(
            UNSURE,
            target=0.5,
            team="data",
            onMissing="unknown",
            settle="P30D",
            source="airflow",
            **scene.past,
        ),
        UNSURE,
    )
    late = ""
    for number in range(PAST):
        if number == LATE:
            late = scene.run(number, at=timedelta(hours=14))
        elif number != NEVER:
            scene.run(number, "failed" if number == EXCLUDED else "completed")
    scene.judged()
    span = {"from": instant_text(scene.at(EXCLUDED)), "to": instant_text(scene.at(EXCLUDED + 1))}
    scene.record(
        f"/v1/slos/{NAME}/exclusions",
        span | {"reason": "the lake moved", "retroactive": True},
        scene.approver,
    )
    scene.judged()
    return late


def window_path(scene: SloScene, number: int, name: str = NAME) -> str:
    return f"/slo/{name}/windows/{scene.at(number):%Y-%m-%dT%H:%M}+00:00"


def token_of(scene: SloScene, namespace: str = "team-a") -> str:
    """Of a new key that may read."""
    client = scene.service.client("reader", namespace=namespace)
    return client.headers["Authorization"].removeprefix("Bearer ")


def signed_in(scene: SloScene, namespace: str = "team-a") -> httpx.Client:
    client = httpx.Client(base_url=scene.service.url, headers=HTML, timeout=60, verify=NO_CERTIFICATES)
    scene.service.closing.enter_context(client)
    assert sign_in(client, token_of(scene, namespace)).status_code == 303
    return client
