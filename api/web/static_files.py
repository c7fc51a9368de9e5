"""Style, script and icon of the pages: read once, kept in memory whole and compressed, named by their content."""

import gzip
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "static"
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """`version` is the beginning of the content's SHA-256: an address that holds it may be kept for ever."""

    content: bytes
    compressed: bytes
    media_type: str
    version: str


def _read() -> dict[str, StaticFile]:
    files = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            files[path.relative_to(FOLDER).as_posix()] = StaticFile(
                content,
                gzip.compress(content, mtime=0),
                MEDIA_TYPES[path.suffix],
                sha256(content).hexdigest()[:16],
            )
    return files


FILES: Final = _read()


def static_address(name: str) -> str:
    """Raises KeyError for a file that isn't there."""
    return f"/static/{FILES[name].version}/{name}"
