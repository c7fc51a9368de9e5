"""Plain files of a checkpoint: configuration and text. JSON is parsed, all else is to be UTF-8."""

import codecs
import json
import os
from typing import Any, Final

from gates.checkpoints.verdict import Broken, NotLoadable, OpenFile, Read

BLOCK_BYTES: Final = 2**20
MAX_JSON_BYTES: Final = 64 * 2**20
"""Parsed it takes ten times as much memory."""


def load_text(file: OpenFile, read: Read) -> None:
    """Raises Broken for bytes that are no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    try:
        while at < file.size and (block := os.pread(file.fd, BLOCK_BYTES, at)):
            decoder.decode(block)
            at += len(block)
            read(len(block))
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise Broken("it is no text: it holds bytes that are no UTF-8") from None


def load_json(file: OpenFile, read: Read) -> Any:  # noqa: ANN401 - any JSON value
    """The value. Raises Broken for what is no JSON, NotLoadable for more of it than is parsed here."""
    if file.size > MAX_JSON_BYTES:
        raise NotLoadable(f"has {file.size:,} bytes of JSON; at most {MAX_JSON_BYTES:,} are parsed here")
    data = os.pread(file.fd, file.size, 0)
    read(len(data))
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        where = (
            f"at character {error.pos}" if isinstance(error, json.JSONDecodeError) else type(error).__name__
        )
        raise Broken(f"it is no JSON ({where})") from None
