"""The two statements of a lineage answer: one for each level of the walk, one for what its runs rest on.

Each gathers rows of many tables, told apart by their first column: what an answer costs is mostly the number of
statements, not that of rows. Written once for both databases: `IN :name` takes any number of values, and the values
of `IN [SELECT …]` are read first and then looked up one by one in an index, which PostgreSQL can't mistake for a
join of two whole tables.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

import orjson
import psycopg
from sqlalchemy import Connection

from models.bulk import NAMED
from models.lineage.question import Direction

_LIST: Final = re.compile(r"IN :([a-z_]+)")

_VERSION: Final = (
    "version AS (SELECT run_id, artifact, record, position, document FROM model_version "
    "WHERE namespace = :namespace AND registry_name = :registry AND model = :model AND version = :version "
    "AND position <= :as_of), here AS (SELECT run_id FROM version)"
)
_RUNS: Final = "here AS (SELECT run_id FROM run WHERE run_id IN :runs AND namespace = :namespace)"
_ROW_OF_VERSION: Final = (
    "SELECT 'version' AS what, run_id AS run, artifact AS one, record AS two, '' AS three, '' AS four, "
    "position, document FROM version UNION ALL "
)
_LINKED: Final = (
    "FROM run_link WHERE digest IN [SELECT digest FROM run_link WHERE run_id IN [SELECT run_id FROM {runs}] "
    "AND namespace = :namespace AND direction = '{here}' AND position <= :as_of] "
    "AND namespace = :namespace AND direction = '{there}' AND position <= :as_of LIMIT "
)
_AHEAD: Final = f"ahead AS (SELECT run_id {_LINKED}:ahead)"
_THESE: Final = "these AS (SELECT run_id FROM here UNION SELECT run_id FROM ahead)"
_LEVEL: Final = (
    "SELECT 'run' AS what, run_id AS run, '' AS one, '' AS two, '' AS three, '' AS four, position, document "
    "FROM run WHERE run_id IN [SELECT run_id FROM {runs}] AND namespace = :namespace "
    "UNION ALL SELECT 'life', run_id, CAST(max(received_at) AS text), CAST(max(step) AS text), '', '', 0, '' "
    "FROM run_progress WHERE run_id IN [SELECT run_id FROM {runs}] AND namespace = :namespace GROUP BY run_id "
    "UNION ALL SELECT 'artifact', run_id, '', '', '', '', position, document "
    "FROM artifact WHERE run_id IN [SELECT run_id FROM {runs}] AND namespace = :namespace AND position <= :as_of "
    "UNION ALL SELECT * FROM (SELECT 'link', run_id, direction, kind, role, digest, position, '' "
    "FROM run_link WHERE run_id IN [SELECT run_id FROM {runs}] AND namespace = :namespace AND position <= :as_of "
    "LIMIT :most) AS links "
    "UNION ALL SELECT * FROM (SELECT 'head', '', '', '', '', '', size, '' FROM tree_head ORDER BY id DESC LIMIT 1) "
    "AS head"
)
_NEAR: Final = (
    " UNION ALL SELECT * FROM (SELECT 'near', run_id, '{there}', '', '', digest, 0, '' "
    + _LINKED
    + ":near) AS {here}ward"
)
_REST: Final = (
    "SELECT 'head' AS what, note AS name, size AS number, 0 AS position, '' AS document "
    "FROM (SELECT note, size FROM tree_head ORDER BY id DESC LIMIT 1) AS head "
    "UNION ALL SELECT 'ingredient', digest, 0, position, document FROM ingredient "
    "WHERE namespace = :namespace AND digest IN :ingredients AND position <= :as_of "
    "UNION ALL SELECT 'snapshot', digest, 0, changed, document FROM snapshot "
    "WHERE namespace = :namespace AND digest IN :data AND changed <= :as_of "
    "UNION ALL SELECT 'snapshot', digest, 0, position, document FROM snapshot_before "
    "WHERE namespace = :namespace AND digest IN :data AND position <= :as_of AND until > :as_of "
    "UNION ALL SELECT * FROM (SELECT 'checkpoint', digest, step, position, document FROM checkpoint "
    "WHERE run_id = :run AND namespace = :namespace AND position <= :as_of "
    "ORDER BY step DESC, digest LIMIT :checkpoints) AS saved "
    "UNION ALL SELECT * FROM (SELECT 'evaluation', record, 0, position, document FROM evaluation "
    "WHERE run_id = :run AND namespace = :namespace AND position <= :as_of "
    "ORDER BY position DESC LIMIT :evaluations) AS by_run "
    "UNION ALL SELECT 'revocation', record, 0, position, document FROM revocation "
    "WHERE revoked IN [SELECT digest FROM record WHERE subject IN :subjects AND namespace = :namespace] "
    "AND namespace = :namespace AND position <= :as_of "
    "UNION ALL SELECT 'checked', '', 0, 0, '' WHERE EXISTS (SELECT 1 FROM contract_check "
    "WHERE manifest IN :checked AND namespace = :namespace AND position <= :as_of) OR EXISTS ("
    "SELECT 1 FROM contract_check WHERE transformation IN :checked AND namespace = :namespace "
    "AND position <= :as_of)"
)
_REST_OF_VERSION: Final = (
    " UNION ALL SELECT * FROM (SELECT 'evaluation', record, 0, position, document FROM evaluation "
    "WHERE subject = :artifact AND namespace = :namespace AND position <= :as_of "
    "ORDER BY position DESC LIMIT :evaluations) AS of_artifact "
    "UNION ALL SELECT * FROM (SELECT 'manifest', digest, revision, position, '' FROM lineage_manifest "
    "WHERE namespace = :namespace AND registry_name = :registry AND model = :model AND version = :version "
    "AND position <= :as_of ORDER BY revision DESC LIMIT 1) AS sealed "
    "UNION ALL SELECT * FROM (SELECT 'decision', record, 0, position, summary FROM gate_decision "
    "WHERE artifact = :artifact AND namespace = :namespace AND model = :model AND position <= :as_of "
    "ORDER BY position DESC LIMIT :decisions) AS decided"
)
_SIDES: Final = {
    Direction.UPSTREAM: (("in", "out"),),
    Direction.DOWNSTREAM: (("out", "in"),),
    Direction.BOTH: (("in", "out"), ("out", "in")),
}


def level_statement(direction: Direction, *, of_version: bool, ahead: bool) -> str:
    """Of the runs in `:runs`, or of the run behind a model version and that version's row; with `ahead` also of the
    first `:ahead` that they rest on:

    run, '', '', '', '', position, document; "life": run, latest receipt, highest step;
    "artifact": run, '', '', '', '', position, document; "link": run, direction, kind, role, digest, position;
    "near": the run on the other side of a link, its direction there, '', '', the digest that leads to it;
    "head": '', '', '', '', '', the size of the log.
    """
    named = [_VERSION if of_version else _RUNS]
    if ahead:
        ((here, there),) = _SIDES[direction]
        named += [_AHEAD.format(runs="here", here=here, there=there), _THESE]
    runs = "these" if ahead else "here"
    near = (_NEAR.format(runs=runs, here=here, there=there) for here, there in _SIDES[direction])
    row = _ROW_OF_VERSION if of_version else ""
    return f"WITH {', '.join(named)} {row}{_LEVEL.format(runs=runs)}{''.join(near)}"


def rest_statement(*, of_version: bool) -> str:
    """Rows (what, name, number, position, document) about the run `:run` and the digests and subjects that the walk
    came upon. "checked" says that there are contract checks of the data."""
    return _REST + (_REST_OF_VERSION if of_version else "")


def gather(connection: Connection, statement: str, **given: object) -> dict[str, list[Any]]:
    """The rows of one of these statements by their first column; lists among `given` stand for many values."""
    found: dict[str, list[Any]] = defaultdict(list)
    for row in _rows(connection, _as_driver_takes(statement, connection.dialect.name), given):
        found[row[0]].append(row)
    return found


def _rows(connection: Connection, statement: str, given: Mapping[str, Any]) -> list[Any]:
    # As JSON on both: the driver would write an array for PostgreSQL element by element, in Python.
    given = {
        name: orjson.dumps(value).decode() if isinstance(value, list) else value
        for name, value in given.items()
    }
    if connection.dialect.name == "sqlite":
        return list(connection.exec_driver_sql(statement, given).fetchall())
    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    # The driver itself: SQLAlchemy's results took a fifth of an answer. A pipeline, with which BEGIN would travel
    # together with the first statement, took more time than it saved.
    with driver.cursor() as cursor:
        return cursor.execute(statement.encode(), given).fetchall()


@cache
def _as_driver_takes(statement: str, dialect: str) -> str:
    if dialect == "sqlite":
        statement = _LIST.sub(r"IN (SELECT value FROM json_each(:\1))", statement)
        return statement.replace("IN [", "IN (").replace("]", ")")
    statement = statement.replace("IN [", "= ANY(ARRAY(").replace("]", "))")
    listed = r"= ANY(ARRAY(SELECT json_array_elements_text(CAST(:\1 AS json))))"
    return NAMED.sub(r"%(\1)s", _LIST.sub(listed, statement))
