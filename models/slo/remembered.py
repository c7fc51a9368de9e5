"""What was made of things that never change is made once a process."""

from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Remembered(Generic[Key, Value]):
    """Values by keys that say all that they were made of. Of more than `most` all are forgotten: they are made anew as
    they are asked for. Any number of threads may share one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}
        self.get = self._values.get

    def keep(self, key: Key, value: Value) -> Value:
        if len(self._values) >= self._most:
            self._values.clear()
        self._values[key] = value
        return value
