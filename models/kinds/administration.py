"""Bodies of records that administration makes."""

from typing import Annotated

from pydantic import Field

from models.fields import Count, Digest, Label, Text, Value


class LogRestored(Value):
    """A database from a backup goes on under a new origin; the lost head is named for whoever kept it."""

    reason: Annotated[str, Field(min_length=1, max_length=4096)]
    previous_origin: Label
    kept_size: Count
    kept_root: Digest
    lost_size: Count
    lost_root: Digest
    lost_note: Text
