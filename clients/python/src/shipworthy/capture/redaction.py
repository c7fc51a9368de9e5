"""Secrets become `***`: by the name they stand under, and by their look wherever they stand.

Names that machine learning uses for harmless things stay: max_tokens, pad_token_id, tokenizer.
"""

import re
from collections.abc import Sequence
from typing import Final

from shipworthy.capture.secret_looks import MASK, redact_values

# Patterns are compiled when they are first used: a program that records nothing named has no need of them.
_WORDS: Final = "[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
# Looked for in the name without its separators: db_password, apiKey, X-API-Key, openai_api_key.
_SECRET_PARTS: Final = (
    "password", "passwd", "passphrase", "secret", "credential", "authorization", "authheader", "basicauth",
    "httpauth", "setcookie", "apikey", "accesskey", "privatekey", "signingkey", "encryptionkey",
    "accountkey", "sharedkey", "sshkey", "storagekey", "servicekey", "licensekey", "authkey",
    "connectionstring", "connectionuri", "connstr", "databaseurl", "dburl",
)  # fmt: skip
# Short ones, which other words contain, have to stand alone.
_SECRET_WORDS: Final = frozenset(("pwd", "dsn", "bearer", "cookie", "cookies"))
# In front of `token` these tell of text, not of access.
_TEXT_WORDS: Final = frozenset((
    "pad", "eos", "bos", "unk", "mask", "sep", "cls", "special", "additional", "image", "video", "audio",
    "start", "end", "stop", "next", "begin", "suppress", "forced", "decoder", "boi", "eoi", "bot", "eot",
    "eod", "eom", "fim", "prefix", "suffix", "middle", "class", "sentinel", "max", "min", "num", "n", "per",
    "total", "new", "extra", "prompt", "vocab", "context", "input", "output", "target", "source",
    "sequence", "seq", "batch", "modality", "blank", "word",
))  # fmt: skip
# In front of the plural, which mostly counts text, only these tell of access.
_ACCESS_WORDS: Final = frozenset(("access", "auth", "api", "refresh", "bearer", "session", "user"))

# name=, name: and "name": with their values; --name value. Lengths are bounded: a long text must not be scanned
# again from each of its letters.
_ASSIGNED: Final = (
    r"(?<![A-Za-z0-9_.])(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,127})(?:[\"']?\s{0,8}(?:=|:(?!//))\s{0,8})"
    r"|(?<![A-Za-z0-9-])--?(?P<flag>[A-Za-z][A-Za-z0-9_.-]{0,127})[ \t]{1,8}(?!-)"
)
_ASSIGNED_VALUE: Final = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[^\s\"',;&{}\[\]()]+"
_NO_SECRETS: Final = frozenset(["", MASK, "None", "null", "True", "true", "False", "false"])
_FLAG: Final = "--?[A-Za-z]"


def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is a secret whatever it looks like."""
    words = _words(name)
    return _names_a_secret(words) or _names_a_token(words)


def is_token_name(name: str) -> bool:
    """Whether only `token` makes the name a secret: then a number under it is a count or an id, no secret."""
    words = _words(name)
    return _names_a_token(words) and not _names_a_secret(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(_WORDS, name)]


def _names_a_secret(words: list[str]) -> bool:
    joined = "".join(words)
    return any(part in joined for part in _SECRET_PARTS) or not _SECRET_WORDS.isdisjoint(words)


def _names_a_token(words: list[str]) -> bool:
    before = words[-2] if len(words) > 1 else ""
    if words and words[-1] == "token":
        return before not in _TEXT_WORDS
    return bool(words) and words[-1] == "tokens" and before in _ACCESS_WORDS


def redact_text(text: str) -> str:
    """The text with every secret in it masked: for messages of exceptions, variables, command lines."""
    text = redact_values(text)
    if not any(mark in text for mark in "=:-"):
        return text
    kept: list[str] = []
    at = 0
    value_pattern = re.compile(_ASSIGNED_VALUE, re.ASCII)
    for assigned in re.finditer(_ASSIGNED, text, re.ASCII):
        name = assigned["name"] or assigned["flag"]
        if assigned.start() < at or not is_secret_name(name):
            continue
        value = value_pattern.match(text, assigned.end())
        if value is not None and _is_secret(name, value[0]):
            quote = value[0][0] if value[0][0] in "\"'" else ""
            kept += (text[at : assigned.end()], quote, MASK, quote)
            at = value.end()
    return "".join(kept) + text[at:]


def redact_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line: also the word after `--password`, and all of `--api-key=…`."""
    redacted: list[str] = []
    secret_follows = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        is_flag = re.match(_FLAG, argument) is not None
        if secret_follows and not is_flag:
            redacted.append(MASK)
        elif is_flag and equals and is_secret_name(name):
            redacted.append(f"{name}={MASK}")
        else:
            redacted.append(redact_text(argument))
        secret_follows = is_flag and not equals and is_secret_name(name)
    return redacted


def _is_secret(name: str, value: str) -> bool:
    """Whether a value under a secret name is one."""
    plain = value.strip("\"'")
    return plain not in _NO_SECRETS and not (plain.isdecimal() and is_token_name(name))
