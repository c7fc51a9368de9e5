"""Seeds: those given, otherwise what can be read from libraries in use. Not knowing is not "unseeded"."""

import os
from collections.abc import Mapping
from typing import Final

from shipworthy.capture.loaded import attribute, called
from shipworthy.capture.texts import free_text, label
from shipworthy.values import MAX_SAFE_INTEGER, Body, Json

MAX_VALUES: Final = 100
# What torch starts every process with: c10/core/GeneratorImpl.h, default_rng_seed_val.
_TORCH_DEFAULT: Final = 67280421310721


def capture_seeds(
    given: Mapping[str, int] | None = None,
    config: Body | None = None,
    environ: Mapping[str, str] = os.environ,
    unseeded: bool = False,
) -> Body:
    """A `Seeds` of the service. `config` is the captured one, whose `seed_keys` are used when none are given.

    `unseeded` is what the program says of itself; that nothing was found never makes it true.
    """
    values: dict[str, Json] = {}
    said: list[str] = []
    for name, seed in (given or {}).items():
        _add(values, said, label(str(name)), seed)
    if not given and config is not None:
        found = _from_config(values, config)
        if found:
            said.append(f"taken from the config at {', '.join(found)}; whether they were used is not known")
    _add_from_libraries(values, said, environ)
    if not values and not unseeded:
        said.append("no seed is known: pass seeds={...}, or unseeded=True when there are none")
    document: Body = {"unseeded": unseeded, "values": dict(list(values.items())[:MAX_VALUES])}
    if said:
        document["derivation"] = free_text("; ".join(said))
    if deterministic := _deterministic(environ):
        document["deterministic"] = deterministic
    return document


def _from_config(values: dict[str, Json], config: Body) -> list[str]:
    found = []
    pointers = config.get("seed_keys")
    for pointer in pointers if isinstance(pointers, list) else []:
        seed = _at(config.get("values"), str(pointer))
        if isinstance(seed, int) and not isinstance(seed, bool) and len(values) < MAX_VALUES // 2:
            values[label(f"config{pointer}")] = seed
            found.append(str(pointer))
    return found[:20]


def _at(value: Json, pointer: str) -> Json:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _add_from_libraries(values: dict[str, Json], said: list[str], environ: Mapping[str, str]) -> None:
    hash_seed = environ.get("PYTHONHASHSEED", "")
    if hash_seed.isdecimal():
        _add(values, said, "PYTHONHASHSEED", int(hash_seed))
    torch_seed = called("torch", "initial_seed")
    if isinstance(torch_seed, int):
        if torch_seed == _TORCH_DEFAULT:
            said.append("torch has the seed it starts every process with")
        _add(values, said, "torch", torch_seed)
    if attribute("numpy", "random") is not None and "numpy" not in values:
        said.append("numpy keeps its seed to itself")


def _add(values: dict[str, Json], said: list[str], name: str, seed: int) -> None:
    if not name or not isinstance(seed, int) or isinstance(seed, bool):
        said.append(f"{name or 'a seed without a name'} is no integer")
    elif abs(seed) > MAX_SAFE_INTEGER:
        # JSON readers keep integers exact up to 2^53-1 (RFC 7493 section 2.2); torch draws seeds of 64 bits.
        said.append(f"the seed of {name} is {seed}")
    else:
        values.setdefault(name, int(seed))


def _deterministic(environ: Mapping[str, str]) -> dict[str, Json]:
    """Switches that make the same seed give the same numbers."""
    flags: dict[str, Json] = {}
    for name, found in (
        ("torch.deterministic_algorithms", called("torch", "are_deterministic_algorithms_enabled")),
        ("torch.cudnn.deterministic", attribute("torch", "backends.cudnn.deterministic")),
        ("torch.cudnn.benchmark", attribute("torch", "backends.cudnn.benchmark")),
    ):
        if isinstance(found, bool):
            flags[name] = found
    for name in ("CUBLAS_WORKSPACE_CONFIG", "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC"):
        if value := environ.get(name, ""):
            flags[name] = free_text(value, 256)
    return flags
