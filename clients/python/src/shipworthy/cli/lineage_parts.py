"""One line for each ingredient: what a person wants to see of it first."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from shipworthy.cli.words import count, number, short_digest, shown, size
from shipworthy.query.results import Document

_COMMIT_DIGITS: Final = 12
_MOST_VALUES: Final = 6
_MOST_PACKAGES: Final = 4


def code_line(code: Document) -> str:
    commit = code.get("commit")
    parts = [code.get("repository"), code.get("path"), commit and commit[:_COMMIT_DIGITS]]
    told = [str(part) for part in parts if part]
    dirty = code.get("dirty")
    if dirty:
        diff = code.get("diff")
        told.append(f"dirty, diff {short_digest(diff)}" if diff else "dirty, diff not kept")
    elif commit:
        told.append("clean" if dirty is False else "dirty or clean: not known")
    return "  ".join(told) or _reason(code)


def environment_line(environment: Document) -> str:
    image = environment.get("image") or {}
    told = []
    if image:
        name = image.get("name") or "image"
        told.append(
            f"{name}@{short_digest(image['digest'])}" if image.get("digest") else _tagged(name, image)
        )
    told += [
        f"{label} {environment[field]}"
        for field, label in (
            ("python", "Python"),
            ("os", ""),
            ("cuda", "CUDA"),
            ("driver", "driver"),
            ("nccl", "NCCL"),
        )
        if environment.get(field)
    ]
    if environment.get("lockfile"):
        told.append(f"lock file {short_digest(environment['lockfile'])}")
    packages = environment.get("packages", {})
    if len(packages) > _MOST_PACKAGES:
        told.append(count(len(packages), "package"))
    else:
        told += [f"{name} {version}" for name, version in packages.items()]
    return ", ".join(part.strip() for part in told) or _reason(environment)


def config_line(config: Document) -> str:
    values = config.get("values", {})
    told = [f"{name}={_value(value)}" for name, value in values.items()]
    redacted = config.get("redacted", ())
    hidden = f"  ({len(redacted)} redacted)" if redacted else ""
    return (shown(told, _MOST_VALUES) or "no hyperparameters") + hidden


def hardware_line(hardware: Document) -> str:
    nodes = hardware.get("nodes", 1)
    told = [f"{count(nodes, 'node')}"]
    for each in hardware.get("accelerators", ()):
        memory = f" ({size(each['memory_bytes'])})" if each.get("memory_bytes") else ""
        told.append(f"{each['count']} × {each['type']}{memory}{' each' if nodes > 1 else ''}")
    if hardware.get("cpu"):
        cores = f" ({hardware['cpus_per_node']} cores)" if hardware.get("cpus_per_node") else ""
        told.append(f"{hardware['cpu']}{cores}")
    if hardware.get("memory_bytes"):
        told.append(f"{size(hardware['memory_bytes'])} memory")
    return ", ".join(told)


def seeds_line(seeds: Document) -> str:
    if seeds.get("unseeded"):
        return "unseeded"
    told = [f"{name}={seed}" for name, seed in seeds.get("values", {}).items()]
    ranks = seeds.get("ranks", {})
    told += [f"{count(len(ranks), 'rank')} with a seed each"] if ranks else []
    return shown(told, _MOST_VALUES) or str(seeds.get("derivation") or "no seed is known")


INGREDIENTS: Final[Mapping[str, Callable[[Document], str]]] = {
    "code": code_line,
    "environment": environment_line,
    "config": config_line,
    "hardware": hardware_line,
    "seeds": seeds_line,
}
"""In the order in which differences matter when a model behaves in another way."""


def _tagged(name: str, image: Mapping[str, Any]) -> str:
    return f"{name}:{image['tag']}" if image.get("tag") else str(name)


def _reason(document: Document) -> str:
    return str(document.get("reason") or "nothing is known")


def _value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int | float):
        return number(value) if isinstance(value, float) else str(value)
    text = str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
