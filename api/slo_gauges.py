"""The gauges of SLOs: the report once more, for Prometheus."""

from datetime import UTC, datetime

from api.services import Services
from api.slo_reports import as_gauges
from models.slo.current import current_slos
from models.slo.gauges import checkpoint_gauges, namespaces_with_slos, next_deadlines
from models.slo.reporting import Asked, report


def slo_gauges(services: Services, namespace: str | None) -> str:
    """Of one namespace, or of all for None."""
    now = datetime.now(UTC)
    with services.database.read() as session:
        connection = session.connection()
        named = [namespace] if namespace is not None else namespaces_with_slos(connection)
        reported = {each: report(connection, Asked(each, now, with_windows=False)) for each in named}
        deadlines = {
            key: deadline for each in named for key, deadline in next_deadlines(connection, each, now).items()
        }
        checkpoints = [
            gauge
            for each in named
            for gauge in checkpoint_gauges(connection, current_slos(connection, each), now)
        ]
    return as_gauges(reported, deadlines, checkpoints)
