"""Calls about service-level objectives."""

from urllib.parse import quote

from shipworthy.query import results
from shipworthy.query.exchange import Exchange


class SloCalls(Exchange):
    """A part of ShipworthyClient."""

    def lint_slo(self, data: bytes, media_type: str | None = None) -> results.Document:
        """What is wrong with a definition, without publishing it; `ok` is False when it would be refused."""
        headers = {"Content-Type": media_type or "application/octet-stream"}
        return self._document(self._exchange("POST", "/v1/slos:lint", content=data, headers=headers))

    def publish_slo(self, name: str, data: bytes, media_type: str | None = None) -> results.Document:
        """The next version of an SLO. InvalidRequest names every place of a definition that is refused."""
        headers = {"Content-Type": media_type or "application/octet-stream"}
        path = f"/v1/slos/{quote(name, safe='')}"
        return self._document(self._exchange("PUT", path, content=data, headers=headers))

    def slo_report(
        self,
        *,
        team: str | None = None,
        start: str | None = None,
        end: str | None = None,
        as_of: str | None = None,
    ) -> results.Document:
        """How the promises stand: each over its own period, or all over [start, end), times with a zone; `as_of`: by
        what had been received then."""
        return self._get("/v1/slo-report", {"team": team, "from": start, "to": end, "as_of": as_of})

    def slo_window(self, window: str) -> results.Document:
        """Why a window's outcome is what it is. `window` is its id, which begins with the SLO's name and a slash."""
        slo, _, rest = window.partition("/")
        return self._get(f"/v1/slos/{quote(slo, safe='')}/windows/{quote(rest, safe='/:+')}")
