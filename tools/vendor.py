"""Programs of others that are served or tested with, kept in the repository: pinned, hashed, with their licence.

    python tools/vendor.py update    fetch every package anew with npm, as tools/vendor.json pins it
    python tools/vendor.py check     compare what is here with tools/vendor.json; needs no network

A new version: change `version` in tools/vendor.json, clear `integrity`, run update, read the licence.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "tools" / "vendor.json"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["update"]:
            update()
            return 0
        case ["check"]:
            differences = check()
            print("\n".join(differences) or "vendored files are as pinned")
            return 1 if differences else 0
        case _:
            print(__doc__)
            return 2


def update() -> None:
    """Writes the files and their hashes. Exits with a sentence when npm gives other bytes than those pinned."""
    pins = json.loads(PINS.read_text(encoding="utf-8"))
    for name, package in pins.items():
        with tempfile.TemporaryDirectory() as folder:
            archive = _fetch(name, package["version"], Path(folder))
            integrity = _integrity(archive.read_bytes())
            if package["integrity"] not in ("", integrity):
                sys.exit(
                    f"npm gave {name} {package['version']} as {integrity}, pinned is {package['integrity']}"
                )
            package["integrity"] = integrity
            with tarfile.open(archive) as opened:
                for file in package["files"]:
                    member = opened.extractfile(f"package/{file['source']}")
                    if member is None:
                        sys.exit(
                            f"{name} {package['version']} has no file {file['source']}; mend tools/vendor.json"
                        )
                    content = member.read()
                    file["integrity"] = _integrity(content)
                    target = ROOT / file["target"]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
    PINS.write_text(json.dumps(pins, indent=2) + "\n", encoding="utf-8")


def check() -> list[str]:
    """What differs, one sentence each: a missing or changed file, a package without a licence, a file too many."""
    pins: dict[str, Any] = json.loads(PINS.read_text(encoding="utf-8"))
    differences = []
    known: set[Path] = set()
    for name, package in pins.items():
        targets = [ROOT / file["target"] for file in package["files"]]
        known.update(targets)
        if not any(path.name.endswith("LICENSE.txt") for path in targets):
            differences.append(f"{name} is pinned without its licence; add the file to tools/vendor.json")
        for file, path in zip(package["files"], targets, strict=True):
            if not path.is_file():
                differences.append(f"{file['target']} is missing; run: python tools/vendor.py update")
            elif _integrity(path.read_bytes()) != file["integrity"]:
                differences.append(
                    f"{file['target']} is not the file of {name} {package['version']} that is pinned"
                )
    for folder in sorted({path.parent for path in known}):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path not in known:
                differences.append(
                    f"{path.relative_to(ROOT)} is in no package of tools/vendor.json; remove it"
                )
    return differences


def _fetch(name: str, version: str, folder: Path) -> Path:
    command = ["npm", "pack", f"{name}@{version}", "--silent", "--pack-destination", str(folder)]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tgz")
    return archive


def _integrity(content: bytes) -> str:
    """As npm and Subresource Integrity write it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
