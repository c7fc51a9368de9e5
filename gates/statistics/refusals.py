"""Why per-example results could not be measured. No message holds a value of the data: results are kept and shown."""


class StatisticsRefused(Exception):
    """`reason` is a sentence that says what to change."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
