"""This machine only: what open mode and metrics without a token rest on."""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from models.errors import StartRefused, TokenMissing


def assert_loopback(host: str) -> None:
    """StartRefused unless an address to listen on is reached from this machine only."""
    if not is_loopback(host):
        raise StartRefused(
            f"--open lets everybody who reaches {host} write without a key, so it is for loopback addresses "
            "only; run with --host 127.0.0.1, or without --open and with keys"
        )


def is_loopback(host: str) -> bool:
    """Whether a host name or address without a port is `localhost`, 127.0.0.0/8 or ::1."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_foreign_pages(request: HTTPConnection) -> None:
    """In open mode any page in the local browser could write as `local`: by a name that it makes resolve to
    127.0.0.1 (DNS rebinding, the Host gives it away) or by posting a form across sites (the Origin does)."""
    host = request.headers.get("host", "")
    if not is_loopback(_host_name(host)):
        raise TokenMissing(
            f"without a token, open mode takes calls to loopback names only, not to {host[:80]!r}; call "
            "http://127.0.0.1 with the port of the service, or send a token"
        )
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
        raise TokenMissing(
            f"without a token, open mode takes no calls from pages of {origin[:80]!r}; send a token, or call "
            "from the service's own pages"
        )


def _host_name(host: str) -> str:
    """The name in a Host header, brackets and port removed; "" when it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
