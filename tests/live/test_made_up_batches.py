"""Made-up NDJSON against the real server, from the published schemas of all kinds: what schemathesis can't write.

Valid lines and broken ones side by side, some packed, some torn. The same in every run.
"""

import gzip
import json
from pathlib import Path
from typing import Any, Final

import httpx
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from models.kinds.registry import KINDS
from tests.live.servers import serve_process
from tests.support.bodies import make_start
from tests.support.calls import log_size, stored_body
from tests.support.databases import DatabaseUrls
from tests.support.made_up import admitted, broken
from tests.support.service import NO_CERTIFICATES

BATCHES: Final = 60
MOST_LINES: Final = 10
CREATED: Final = 8
"""So many lines at least must have been good ones."""
PATH: Final = "/v1/records:batch"
ELSEWHERE: Final = ("evaluations", "model_versions", "initiated_by")
"""What comes with a run and becomes records of its own, and the person, who is kept where a name may be forgotten."""


def lines_of(client: httpx.Client) -> st.SearchStrategy[dict[str, Any]]:
    """Lines of kinds that a batch may hold as their schemas admit them, and of all others to be refused."""
    kinds = {each["kind"]: each["schema"] for each in client.get("/v1/schemas").json()["items"]}
    taken = [name for name in kinds if KINDS[name].roles and KINDS[name].own_call is None]
    bodies = {}
    for name in taken:
        schema = client.get(f"/v1/schemas/{kinds[name]}").json()
        bodies[name] = admitted(schema, schema.get("$defs", {}))
    made = [st.fixed_dictionaries({"kind": st.just(name), "body": body}) for name, body in bodies.items()]
    others = st.sampled_from(sorted(set(kinds) - set(taken)))
    return st.one_of(*made, st.fixed_dictionaries({"kind": others, "body": st.just({})}))


def assert_answered(client: httpx.Client, body: bytes, answer: httpx.Response) -> list[int]:
    """One answer for each line that holds something, in order, none a 5xx; what was made is there. The statuses."""
    assert answer.status_code == 200, (answer.text, body)
    items = answer.json()["items"]
    sent = {number: line for number, line in enumerate(body.split(b"\n"), start=1) if line.strip()}
    assert [item["line"] for item in items] == list(sent), body
    for item in items:
        if item["status"] in (200, 201):
            given = json.loads(sent[item["line"]])["body"]
            stored = stored_body(client, item["record"])
            if "job" in given:
                given, stored = (
                    {name: each for name, each in whole.items() if name not in ELSEWHERE}
                    for whole in (given, stored)
                )
            assert stored == given
        else:
            assert 400 <= item["status"] < 500, (item, sent[item["line"]])
            assert item["code"]
            assert item["detail"]
    return [item["status"] for item in items]


def test_every_line_is_answered_and_what_was_created_is_there(
    database_urls: DatabaseUrls, tmp_path: Path
) -> None:
    seen: list[int] = []
    quiet = {"SHIPWORTHY_LOG_LEVEL": "error"}
    with (
        serve_process(database_urls, tmp_path, "--open", variables=quiet) as server,
        httpx.Client(base_url=server.url, timeout=60, verify=NO_CERTIFICATES) as client,
    ):
        run = make_start()
        assert client.post("/v1/runs", json=run).status_code == 201

        @st.composite
        def sent_lines(draw: st.DrawFn) -> bytes:
            line = draw(lines)
            if "run_id" in line["body"] and line["kind"] != "run.registered" and draw(st.integers(0, 4)):
                line = line | {"body": line["body"] | {"run_id": run["run_id"]}}
            if draw(st.integers(0, 3)) == 0:
                line = line | {"key": draw(st.text("abc-", min_size=1, max_size=3))}
            return draw(broken(line)) if draw(st.integers(0, 3)) == 0 else json.dumps(line).encode()

        @settings(
            max_examples=BATCHES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(
            st.lists(sent_lines() | st.sampled_from([b"", b" ", b"\r"]), min_size=4, max_size=MOST_LINES),
            st.sampled_from(["plain", "plain", "packed", "packed", "torn"]),
        )
        def send(chosen: list[bytes], way: str) -> None:
            body = b"\n".join(chosen)
            packed = gzip.compress(body, mtime=0)
            headers = {} if way == "plain" else {"Content-Encoding": "gzip"}
            if way == "torn":
                before = log_size(client)
                refused = client.post(PATH, content=packed[:-9], headers=headers)
                assert 400 <= refused.status_code < 500, refused.text
                assert log_size(client) == before
                return
            answer = client.post(PATH, content=body if way == "plain" else packed, headers=headers)
            seen.extend(assert_answered(client, body, answer))

        lines = lines_of(client)
        send()
    assert {201, 400, 404, 422} <= set(seen), seen
    assert seen.count(201) >= CREATED
