"""What a journal says of a product: the record that keeps its promise may be in that of another process."""

import json
from pathlib import Path


class Recorded:
    """Looks in a run's folder for the record with the key `key`, which names the process that writes it. `found` says
    whether it is there; `digest` is None then where it says that there is none."""

    def __init__(self, folder: Path, key: str) -> None:
        self.key = key
        self.found = False
        self.digest: str | None = None
        process = key.split(":")[1] if key.count(":") == 2 else ""
        self._journal = folder / f"{process}.jsonl"
        self._wanted = json.dumps(key).encode()
        self._at = 0

    def look(self) -> bool:
        """Whether it is found by now; reads only what was written since the last look."""
        if self.found:
            return True
        try:
            with self._journal.open("rb") as file:
                file.seek(self._at)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._at += len(line)
                    if line.startswith(b'{"kind":') and self._wanted in line and self._is_it(line):
                        break
        except OSError:
            return False
        return self.found

    def _is_it(self, line: bytes) -> bool:
        try:
            record = json.loads(line)
        except ValueError:
            return False
        if record["key"] == self.key:
            digest = record["body"].get("digest")
            self.found, self.digest = True, digest if isinstance(digest, str) else None
        return self.found
