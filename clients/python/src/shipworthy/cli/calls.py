"""The service tells everybody which call of HTTP helps; who types commands is told those, or a page."""

import re
from typing import Final

_COMMANDS: Final[tuple[tuple[str, str], ...]] = (
    ("GET /v1/contracts/{}/compiled", "shipworthy contract show {}"),
    ("GET /v1/decisions", "shipworthy decision list"),
    ("GET /v1/decisions:in-force", "shipworthy check MODEL:VERSION --to NAME"),
    ("GET /v1/runs", "shipworthy runs"),
    ("GET /v1/runs/{}/checkpoints", "shipworthy lineage RUN_ID"),
    ("GET /v1/slos", "shipworthy slo report"),
    ("POST /v1/baselines", "shipworthy baseline make"),
    ("POST /v1/demotions", "shipworthy demote"),
    ("POST /v1/gates/{}/decisions", "shipworthy gate evaluate MODEL:VERSION --gate {}"),
    ("POST /v1/reviews", "shipworthy review approve"),
    ("POST /v1/runs", "shipworthy exec"),
    ("POST /v1/waivers", "shipworthy waive"),
    ("PUT /v1/contracts", "shipworthy contract publish NAME contract.yaml"),
    ("PUT /v1/contracts/{}", "shipworthy contract publish {} contract.yaml"),
    ("PUT /v1/gates/{}", "shipworthy gate publish {} policy.yaml"),
    ("PUT /v1/slos/{}", "shipworthy slo publish {} slo.yaml"),
)
_PAGES: Final[tuple[tuple[str, str], ...]] = (
    ("GET /v1/contract-checks", "/contract-checks"),
    ("GET /v1/contract-checks/{}", "/contract-checks/{}"),
    ("GET /v1/contracts", "/contracts"),
    ("GET /v1/datasets", "/v1/datasets"),
    ("GET /v1/gates", "/v1/gates"),
    ("GET /v1/models", "/v1/models"),
    ("GET /v1/slos/{}/versions", "/slo/{}"),
    ("GET /v1/slos/{}/windows", "/slo/{}"),
)
"""Where no command lists what the call lists: addresses that a browser opens."""
_CALL: Final = re.compile(r"(?:(with|see) )?\b((?:GET|POST|PUT) /v1/[^\s`,;]*[^\s`,;.])")
_TWICE: Final = re.compile(r"(`shipworthy [^`]+`) or (?:GET|POST|PUT) /v1/[^\s`,;]*[^\s`,;.]")


def in_commands(text: str, url: str | None = None, name: str | None = None) -> str:
    """The text with commands, and pages below `url`, in the place of calls. `name` is the contract, gate or SLO that is
    talked of, where the text leaves it open. A call that no command makes stays."""
    base = url or ""

    def replaced(found: re.Match[str]) -> str:
        lead, call = found.group(1), found.group(2)
        for known, command in _COMMANDS:
            said = _filled(known, call, command, name)
            if said is not None:
                return f"{lead} `{said}`" if lead else f"`{said}`"
        for known, page in _PAGES:
            said = _filled(known, call, page, name)
            if said is not None:
                return f"at {base}{said}" if lead == "with" else f"{lead + ' ' if lead else ''}{base}{said}"
        return found.group(0)

    return _CALL.sub(replaced, _TWICE.sub(r"\1", text)).replace("the URL says", "the command says")


def _filled(known: str, call: str, said: str, name: str | None) -> str | None:
    """What is said of a call when it is the known one, with its name filled in."""
    found = re.fullmatch(re.escape(known).replace(r"\{\}", "([^/]+)"), call)
    if found is None:
        return None
    given = found.group(1) if found.groups() else ""
    return said.replace("{}", name or "NAME" if given.startswith("{") else given)
