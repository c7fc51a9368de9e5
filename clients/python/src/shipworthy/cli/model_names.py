"""MODEL:VERSION, as commands take it."""

from shipworthy.errors import UsageError


def split_version(text: str) -> tuple[str, str]:
    """Model and version. A model's name may hold colons, so the last one counts. Raises UsageError."""
    model, colon, version = text.rpartition(":")
    if not colon or not model or not version:
        raise UsageError(f"{text!r} is not MODEL:VERSION, such as fraud-scorer:3")
    return model, version
