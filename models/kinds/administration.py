"""Bodies of records that administration makes."""

from models.fields import Count, Digest, Label, Reason, Text, Value


class LogRestored(Value):
    """A database from a backup goes on under a new origin; the lost head is named for whoever kept it."""

    reason: Reason
    previous_origin: Label
    kept_size: Count
    kept_root: Digest
    lost_size: Count
    lost_root: Digest
    lost_note: Text
