"""Captured configurations as the service reads them."""

from models.kinds.ingredients import Config
from shipworthy.capture.config import CapturedConfig, capture_config
from shipworthy.formats.jcs import canonicalize


def capture(config: object, *seed_keys: str) -> Config:
    return taken(capture_config(config, seed_keys))


def taken(captured: CapturedConfig) -> Config:
    """The document as the service reads it, within its limits on size and depth of a record."""
    assert len(canonicalize({"body": {"config": captured.document}})) < 256 * 1024
    return Config.model_validate(captured.document)
