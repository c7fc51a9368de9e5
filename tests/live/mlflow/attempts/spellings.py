"""Ways to write one and the same call so that who compares paths or bodies as text sees another one."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

from tests.live.mlflow.calls import AJAX, API, Answer, send, send_json
from tests.live.mlflow.servers import MlflowServer

Fields = Mapping[str, str | bool]
JSON: Final = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Spelling:
    """`write` sends a call: server, method, path below the API, fields. `real` as in Attempt."""

    name: str
    write: Callable[[MlflowServer, str, str, Fields], Answer]
    real: bool = True


def plainly(server: MlflowServer, method: str, path: str, fields: Fields, root: str = API) -> Answer:
    return send_json(server, method, root + path, dict(fields))


def _typed(server: MlflowServer, method: str, path: str, fields: Fields, kind: str | None) -> Answer:
    headers = {} if kind is None else {"Content-Type": kind}
    return send(server, method, API + path, json.dumps(dict(fields)).encode(), headers)


def _bytes(
    server: MlflowServer, method: str, path: str, fields: Fields, encode: Callable[[Fields], bytes]
) -> Answer:
    return send(server, method, API + path, encode(fields), JSON)


def _repathed(
    server: MlflowServer, method: str, path: str, fields: Fields, change: Callable[[str], str]
) -> Answer:
    return send_json(server, method, change(API + path), dict(fields))


def _chunked(server: MlflowServer, method: str, path: str, fields: Fields) -> Answer:
    content = json.dumps(dict(fields)).encode()
    parts = [content[start : start + 7] for start in range(0, len(content), 7)]
    return send(server, method, API + path, parts, JSON)


def _overridden(server: MlflowServer, method: str, path: str, fields: Fields) -> Answer:
    return send_json(server, "GET", API + path, dict(fields), {"X-HTTP-Method-Override": method})


def _in_query(server: MlflowServer, method: str, path: str, fields: Fields) -> Answer:
    return send(server, method, f"{API}{path}?{urlencode(fields)}", b"{}", JSON)


def _harmless_query(server: MlflowServer, method: str, path: str, fields: Fields) -> Answer:
    innocent = {"alias": "challenger", "stage": "None", "version": "1"}
    return send_json(server, method, f"{API}{path}?{urlencode(innocent)}", dict(fields))


def _text(fields: Fields) -> str:
    return json.dumps(dict(fields))


def _twice(fields: Fields) -> bytes:
    return json.dumps(_text(fields)).encode()


def _doubled_keys(fields: Fields) -> bytes:
    """Every key twice; readers of JSON take the last."""
    innocent = ", ".join(f'"{key}": "challenger"' for key in fields)
    return f"{{{innocent}, {_text(fields)[1:]}".encode()


def _escaped(fields: Fields) -> bytes:
    def each(value: str | bool) -> str:
        return '"' + "".join(f"\\u{ord(letter):04x}" for letter in str(value)) + '"'

    return ("{" + ", ".join(f"{each(key)}: {each(value)}" for key, value in fields.items()) + "}").encode()


def _numbers(fields: Fields) -> bytes:
    return json.dumps(
        {key: int(value) if key == "version" else value for key, value in fields.items()}
    ).encode()


def _padded_number(fields: Fields) -> bytes:
    return json.dumps(
        {key: f"0{value}" if key == "version" else value for key, value in fields.items()}
    ).encode()


def _wrong_sibling(fields: Fields) -> bytes:
    """A field of another call, of a type that it never has."""
    return json.dumps({**fields, "tags": 7}).encode()


def _with_unknown(fields: Fields) -> bytes:
    return json.dumps({"dry_run": True, "requestId": "1", **fields, "approved": True}).encode()


def _spellings() -> Iterator[Spelling]:
    yield Spelling("api", plainly)
    yield Spelling("ajax-api", partial(plainly, root=AJAX))
    for kind, real in {
        None: False,
        "text/plain": False,
        "application/x-www-form-urlencoded": False,
        "multipart/form-data; boundary=x": False,
        "application/json; charset=utf-16": True,
        "APPLICATION/JSON": False,
        "application/json ; x=y": False,
        "application/vnd.api+json": False,
    }.items():
        yield Spelling(f"content type {kind}", partial(_typed, kind=kind), real)
    encodings: dict[str, tuple[Callable[[Fields], bytes], bool]] = {
        "double-encoded JSON": (_twice, True),
        "doubled keys": (_doubled_keys, True),
        "unicode escapes": (_escaped, True),
        "numbers for texts": (_numbers, False),
        "version with a leading zero": (_padded_number, True),
        "a sibling of the wrong type": (_wrong_sibling, True),
        "unknown siblings": (_with_unknown, True),
        "UTF-16": (lambda fields: _text(fields).encode("utf-16"), True),
        "UTF-32": (lambda fields: _text(fields).encode("utf-32"), True),
        "a byte order mark": (lambda fields: _text(fields).encode("utf-8-sig"), True),
        "white space around": (lambda fields: f"\n\t {_text(fields)} \r\n".encode(), True),
        "a list around": (lambda fields: f"[{_text(fields)}]".encode(), False),
        "gzip without saying so": (lambda fields: gzip.compress(_text(fields).encode()), False),
    }
    for name, (encode, real) in encodings.items():
        yield Spelling(name, partial(_bytes, encode=encode), real)
    paths: dict[str, tuple[Callable[[str], str], bool]] = {
        "// before the path": (lambda path: f"/{path}", True),
        "// within the path": (lambda path: path.replace("/mlflow/", "//mlflow/"), False),
        "%2F within the path": (lambda path: path.replace("/mlflow/", "%2Fmlflow%2F"), True),
        "escaped letters in the path": (lambda path: path.replace("mlflow", "%6dlflow"), True),
        "a slash at the end": (lambda path: f"{path}/", False),
        "/./ within the path": (lambda path: path.replace("/mlflow/", "/./mlflow/"), False),
        "/../ within the path": (lambda path: path.replace("/mlflow/", "/x/../mlflow/"), False),
        "capitals in the path": (lambda path: path.replace("/api/", "/API/"), False),
        "parameters in the path": (lambda path: f"{path};version=1", False),
        "a fragment": (lambda path: f"{path}#get", False),
        "an absolute address": (lambda path: f"http://127.0.0.1{path}", False),
        "version 3.0 of the API": (lambda path: path.replace("/2.0/", "/3.0/"), False),
    }
    for name, (change, real) in paths.items():
        yield Spelling(name, partial(_repathed, change=change), real)
    yield Spelling("chunked", _chunked, real=False)
    yield Spelling("method override", _overridden, real=False)
    yield Spelling("fields in the query", _in_query, real=False)
    yield Spelling("another query", _harmless_query)


SPELLINGS: Final = tuple(_spellings())
FEW: Final = tuple(each for each in SPELLINGS if each.name in ("api", "ajax-api", "double-encoded JSON"))
