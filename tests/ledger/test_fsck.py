"""Whatever is changed behind the service's back, fsck names it."""

import base64
import re

import pytest
from sqlalchemy import text

from models.database import Database
from models.ledger.findings import MAX_SENTENCES
from models.ledger.fsck import fsck
from models.ledger.head import HeadFile, read_head
from shipworthy.formats.notes import TreeHead, sign_note
from tests.ledger.conftest import Written
from tests.support.postgres import SERVICE_ROLE

FOREIGN = "sha256:" + "e" * 64
NINES = b"9" * 32


def test_untouched_ledger_is_clean_and_its_parts_are_counted(written: Written) -> None:
    report = written.checked()
    with written.database.read() as session:
        count = session.execute(text("SELECT count(*) FROM record")).scalar_one()
        heads = session.execute(text("SELECT count(*) FROM tree_head")).scalar_one()
    assert report.problems == ()
    assert report.checked["records"] == count
    assert report.checked["heads"] == heads
    assert report.checked["tree hashes"] == count // 256
    assert report.checked["keys"] == 22
    assert report.checked["head kept outside"] == 1
    assert report.checked["personal values erased"] == 0
    assert report.checked["personal values named"] > 300


def test_erased_personal_value_is_counted_and_no_problem(written: Written) -> None:
    with written.database.connection() as connection:
        connection.execute(text("DELETE FROM disclosure WHERE value LIKE '%lin@%'"))
    report = written.checked()
    assert report.problems == ()
    assert report.checked["personal values erased"] == 1


# What is planted, and the sentences that must name it. To check a history takes seconds, so that several things are
# planted at once: none of a group makes a sentence of another of its group.
PLANTED: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "payload": (
            "UPDATE record SET payload = :changed WHERE position = 5",
            r"record 5 has bytes that do not hash to its digest",
        ),
        "leaf hash": (
            "UPDATE record SET leaf_hash = :nines WHERE position = 5",
            r"record 5 has a leaf hash that is not that of its digest and kind",
        ),
        "kind": (
            "UPDATE record SET kind = 'artifact' WHERE position = "
            "(SELECT min(position) FROM record WHERE kind = 'snapshot')",
            r"record \d+ says kind 'snapshot', its row artifact",
        ),
        "namespace": (
            "UPDATE record SET namespace = 'team-x' WHERE position = 5",
            r"record 5 says namespace 'team-a', its row team-x",
            r"record 5 is about run 0190[0-9a-f-]+, which no record before registered",
        ),
        "subject": (
            "UPDATE record SET subject = 'run:other' WHERE position = 5",
            r"record 5 is filed under 'run:other', its body is about 'run:0190",
        ),
        "idempotency key": (
            "UPDATE record SET idempotency_key = 'artifact|x' WHERE kind = 'checkpoint.saved' AND position < 20"
            " AND position = (SELECT min(position) FROM record WHERE kind = 'checkpoint.saved')",
            r"record \d+ has the idempotency key 'artifact\|x', its body makes 'checkpoint.saved\|0190",
        ),
    },
    {
        "digest": (
            "UPDATE record SET digest = :foreign WHERE position = 5",
            r"record 5 has a leaf hash that is not that of its digest",
            r"head \d+ signs another root than its \d+ records have",
        ),
        "content digest": (
            "UPDATE record SET content_digest = :foreign WHERE kind = 'snapshot'",
            r"record \d+ has a content digest that is not that of its body",
        ),
        "level": (
            "UPDATE record SET level = 'server_run' WHERE position = 5",
            r"record 5 has level server_run, the key that made it self_reported",
        ),
        "time": (
            "UPDATE record SET recorded_at = '2020-01-01 00:00:00.000000' WHERE position = 5",
            r"record 5 was recorded at 2020-01-01T00:00:00\+00:00, its commit was at 20[2-9]",
            r"record 5 was recorded before record 4",
        ),
        "removed end": (
            "DELETE FROM record WHERE position >= 410",
            r"head \d+ says \d+ records, the table holds 410",
            r"the head kept outside says \d+ records, the table holds 410",
        ),
        "removed tree hash": ("DELETE FROM tree_node", r"the tree hash at level 8, index 0 is missing"),
    },
    {
        "removed record": (
            "DELETE FROM record WHERE position = 5",
            r"position 5 is missing, the next record is at 6",
        ),
        "head's subtrees": (
            "UPDATE tree_head SET frontier = :nines WHERE size = 1",
            r"head 1 keeps other subtree hashes than its 1 records have",
        ),
        "head's time": (
            "UPDATE tree_head SET committed_at = '2020-01-01 00:00:00.000000' WHERE id = 3",
            r"head 3 was committed before head 2",
        ),
        "secret of a key": (
            "UPDATE api_key SET secret_hmac = (SELECT secret_hmac FROM api_key WHERE roles = 'worker' LIMIT 1) "
            "WHERE roles = 'approver'",
            r"key \w+ opens to another token than the one it was made with",
        ),
        "removed last heads": (
            "DELETE FROM tree_head WHERE id > 5",
            r"no head covers the \d+ records from \d+ on",
        ),
        "disclosed value": (
            """UPDATE disclosure SET value = '"eve@example.org"'""",
            r"the disclosed value of sha256:[0-9a-f]{64} does not make that digest",
        ),
        "role of a key": (
            "UPDATE api_key SET roles = 'admin,recorder' WHERE roles = 'recorder' AND namespace = 'team-b'",
            r"key \w+ differs in roles: its record says recorder, the table admin,recorder",
        ),
    },
    {
        "tree hash": (
            "UPDATE tree_node SET hash = :nines",
            r"the tree hash at level 8, index 0 is not that of its leaves",
        ),
        "additional tree hash": (
            'INSERT INTO tree_node (level, "index", hash) VALUES (16, 0, :nines)',
            r"1 stored tree hashes belong to no part of the tree",
        ),
        "head's subtrees cut short": (
            "UPDATE tree_head SET frontier = :short WHERE size = 1",
            r"head 1 keeps other subtree hashes than its 1 records have",
        ),
        "removed head": ("DELETE FROM tree_head WHERE id = 2", r"head 3 does not follow head 1"),
        "revocation taken back": (
            "UPDATE api_key SET revoked_at = NULL WHERE revoked_at IS NOT NULL",
            r"key \w+: the log says it was revoked, the table the contrary",
        ),
        "removed key": (
            "DELETE FROM api_key WHERE namespace = 'team-b'",
            r"key \w+ has a record, but is missing from the table",
        ),
    },
    {
        "head's size": (
            "UPDATE tree_head SET size = 2 WHERE id = 1",
            r"head 1 is signed for shipworthy/log/[0-9a-f]+, size 1, and filed otherwise",
        ),
        "removed projection": (
            "DELETE FROM run_link WHERE role = 'base_model'",
            r"run_link \(0190.*, team-a, .*\) is made by the records, but missing from the table",
        ),
        "made-up projection": (
            "INSERT INTO ingredient VALUES ('team-a', :foreign, 'code', 1, '{}')",
            r"ingredient \(team-a, sha256:eee.*\) is in the table, but no record makes it",
        ),
        "changed projection": (
            "UPDATE model_version SET artifact = :foreign WHERE version = '1'",
            r"model_version \(team-a, default, churn, 1\) differs in artifact: the records say sha256:0",
        ),
        "changed document": (
            """UPDATE evaluation SET document = replace(document, '"metrics"', '"figures"')""",
            r"evaluation \(team-a, sha256:.*\) differs in document",
        ),
    },
)


@pytest.mark.parametrize("planted", PLANTED, ids=", ".join)
def test_planted_corruption_is_named(written: Written, planted: dict[str, tuple[str, ...]]) -> None:
    with written.database.read() as session:
        payload = session.execute(text("SELECT payload FROM record WHERE position = 5")).scalar_one()
    values = {
        "foreign": FOREIGN,
        "nines": NINES,
        "short": NINES[:5],
        "changed": bytes(payload).replace(b"2026", b"2025"),
    }
    for statement, *_ in planted.values():
        written.rewrite(
            statement, **{name: value for name, value in values.items() if f":{name}" in statement}
        )

    problems = written.checked().problems

    unnamed = [
        (name, sentence)
        for name, (_, *sentences) in planted.items()
        for sentence in sentences
        if not any(re.match(sentence, problem) for problem in problems)
    ]
    assert unnamed == [], problems


def test_rewritten_log_with_new_signatures_is_caught_by_the_head_outside(written: Written) -> None:
    """Who holds the database and the log key can make a log that verifies; a head kept elsewhere tells."""
    with written.database.read() as session:
        head = read_head(session.connection())
    assert head is not None
    forged = sign_note(TreeHead(head.origin, 7, NINES).text(), head.origin, written.ring.log_key)
    written.head_file.write(forged)
    assert any(
        problem.startswith("the first 7 records are not those of the head kept outside")
        for problem in written.checked().problems
    )


def test_head_signed_by_another_key_is_named(written: Written) -> None:
    with written.database.read() as session:
        note = session.execute(text("SELECT note FROM tree_head WHERE id = 2")).scalar_one()
    head, _, signature = note.rpartition(" ")
    raw = bytearray(base64.b64decode(signature.strip()))
    raw[-1] ^= 1
    written.rewrite(
        "UPDATE tree_head SET note = :note WHERE id = 2", note=f"{head} {base64.b64encode(raw).decode()}\n"
    )
    assert written.checked().problems == (
        "head 2 is not signed by the log key: the signature of "
        + note.split("\n")[0]
        + " is wrong; fetch the note again from its log",
    )


def test_head_file_of_another_key_is_a_problem_and_the_rest_is_checked(written: Written) -> None:
    written.head_file.write("no note")
    report = written.checked()
    assert report.problem_count == 1
    assert "is not a log head signed by this service's log key" in report.problems[0]
    assert report.checked["records"] > 300


def test_payload_that_is_no_json_does_not_end_the_check(written: Written) -> None:
    written.rewrite("UPDATE record SET payload = :payload WHERE position IN (5, 300)", payload=b"[" * 200_000)
    problems = written.checked().problems
    assert any(problem.startswith("record 5 can't be read") for problem in problems)
    assert any(problem.startswith("record 300 can't be read") for problem in problems)


def test_many_problems_are_counted_and_the_first_listed(written: Written) -> None:
    written.rewrite("UPDATE record SET leaf_hash = :nines WHERE position > 50", nines=NINES)
    report = written.checked()
    assert report.problem_count > 270
    assert len(report.problems) == MAX_SENTENCES


def test_missing_guard_is_a_problem(written: Written) -> None:
    owner = Database(written.urls.migration_url)
    with owner.connection() as connection:
        on_table = " ON tree_head" if owner.dialect == "postgresql" else ""
        name = "tree_head_no_change" if on_table else "tree_head_no_update"
        connection.execute(text(f"DROP TRIGGER {name}{on_table}"))
    owner.dispose()
    report = written.checked()
    assert report.problem_count == 1
    assert f"{name} is missing" in report.problems[0]


def test_fsck_needs_no_more_than_read_rights(written_postgresql: Written) -> None:
    written = written_postgresql
    owner = Database(written.urls.migration_url)
    with owner.connection() as connection:
        connection.execute(
            text(f"REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM {SERVICE_ROLE}")
        )
    owner.dispose()
    assert fsck(written.database, written.ring.log_key, HeadFile(written.head_file.path)).clean
