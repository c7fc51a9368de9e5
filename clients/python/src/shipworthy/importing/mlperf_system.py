"""An MLPerf system description as hardware and environment documents; what it leaves empty stays out."""

import re
from collections.abc import Mapping
from typing import Final

from shipworthy.formats.jcs import JsonValue

Document = dict[str, JsonValue]

_SIZE: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]i?B)", re.IGNORECASE)
_FACTOR: Final[Mapping[str, int]] = {
    **{f"{prefix}b": 1000 ** (power + 1) for power, prefix in enumerate("kmgt")},
    **{f"{prefix}ib": 1024 ** (power + 1) for power, prefix in enumerate("kmgt")},
}
# Names that submitters use in `other_software_stack`, and the field of the environment that each belongs to.
_STACK_FIELDS: Final = {
    "cuda_version": "cuda",
    "cuda": "cuda",
    "cuda_driver_version": "driver",
    "nccl_version": "nccl",
    "nccl": "nccl",
    "python": "python",
    "python_version": "python",
}
_LABEL_LENGTH: Final = 256


def hardware_of(system: Mapping[str, JsonValue]) -> Document:
    """The machines. Sizes are read as they are written: GB is 10^9 bytes, GiB 2^30."""
    hardware: Document = {"nodes": _count(system, "number_of_nodes") or 1}
    accelerator = _text(system, "accelerator_model_name")
    if accelerator is not None:
        entry: Document = {"type": accelerator, "count": _count(system, "accelerators_per_node") or 0}
        _put(entry, "memory_bytes", _bytes(_text(system, "accelerator_memory_capacity")))
        hardware["accelerators"] = [entry]
    _put(hardware, "cpu", _text(system, "host_processor_model_name"))
    processors = _count(system, "host_processors_per_node")
    cores = _count(system, "host_processor_core_count")
    _put(hardware, "cpus_per_node", processors * cores if processors and cores else None)
    _put(hardware, "memory_bytes", _bytes(_text(system, "host_memory_capacity")))
    _put(hardware, "interconnect", _text(system, "accelerator_interconnect"))
    networking = [_text(system, "host_networking"), _text(system, "host_networking_topology")]
    _put(hardware, "topology", "; ".join(part for part in networking if part) or None)
    stack = system.get("other_software_stack")
    if isinstance(stack, dict):
        _put(hardware, "driver", _text(stack, "nvidia_kernel_driver"))
    return hardware


def environment_of(system: Mapping[str, JsonValue]) -> Document:
    """Operating system and software; what has no field of its own keeps the submitter's name for it."""
    environment: Document = {}
    packages: Document = {}
    _put(environment, "os", _text(system, "operating_system"))
    for name in ("framework", "framework_name"):
        _put(packages, name, _text(system, name))
    stack = system.get("other_software_stack")
    if isinstance(stack, dict):
        for name in stack:
            known = _STACK_FIELDS.get(name.lower())
            if known is not None and known not in environment:
                _put(environment, known, _text(stack, name))
            else:
                _put(packages, name[:_LABEL_LENGTH], _text(stack, name))
    else:
        _put(packages, "other_software_stack", _text(system, "other_software_stack"))
    if packages:
        environment["packages"] = packages
    return environment


def _text(source: Mapping[str, JsonValue], name: str) -> str | None:
    value = source.get(name)
    if value is None or isinstance(value, bool | list | dict):
        return None
    return " ".join(str(value).split())[:_LABEL_LENGTH] or None


def _count(source: Mapping[str, JsonValue], name: str) -> int | None:
    text = _text(source, name)
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _bytes(text: str | None) -> int | None:
    match = _SIZE.fullmatch(text) if text is not None else None
    if match is None:
        return None
    return round(float(match["number"]) * int(_FACTOR[match["unit"].lower()]))


def _put(document: Document, name: str, value: JsonValue) -> None:
    if value is not None:
        document[name] = value
