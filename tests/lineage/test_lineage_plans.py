"""How PostgreSQL looks things up in a database that is new: its tables are small and have no statistics yet."""

from pathlib import Path

from sqlalchemy import text

from tests.lineage.chains import chain
from tests.support.databases import DatabaseUrls
from tests.support.service import running_service


def test_links_of_a_run_are_looked_up_by_an_index_from_the_first_runs_on(
    postgresql_urls: DatabaseUrls, tmp_path: Path
) -> None:
    """A plan that is made then is kept for a minute, in which thousands of runs may come."""
    with running_service(postgresql_urls, tmp_path / "data") as service:
        chain(service.client("recorder", "author"), 5)
        with service.services.database.reading() as connection:
            runs = "SELECT run_id FROM model_version WHERE namespace = 'n'"
            question = f"EXPLAIN SELECT digest FROM run_link WHERE run_id = ANY(ARRAY({runs}))"
            plan = "\n".join(connection.execute(text(question)).scalars())
    assert "Seq Scan" not in plan
    assert "Index" in plan
