"""Which version of the client this is. Standard library only."""

from importlib.metadata import PackageNotFoundError, version


def client_version() -> str:
    """The text is "unknown" where the package runs without having been installed."""
    try:
        return version("shipworthy")
    except PackageNotFoundError:
        return "unknown"
