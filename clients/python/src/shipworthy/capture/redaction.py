"""Secrets become `***`: by the name they stand under, and by their look wherever they stand.

Names that machine learning uses for harmless things stay: max_tokens, pad_token_id, tokenizer.
"""

import re
from collections.abc import Sequence
from typing import Final

MASK: Final = "***"

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Looked for in the name without its separators: db_password, apiKey, X-API-Key, openai_api_key.
_SECRET_PARTS: Final = re.compile(
    "password|passwd|passphrase|secret|credential|authorization|authheader|basicauth|httpauth|setcookie"
    "|(?:api|access|private|signing|encryption|account|shared|ssh|storage|service|license|auth)key"
    "|connectionstring|connectionuri|connstr|databaseurl|dburl"
)
# Short ones, which other words contain, have to stand alone.
_SECRET_WORD: Final = re.compile("pwd|dsn|bearer|cookies?")
# In front of `token` these tell of text, not of access.
_TEXT_WORD: Final = re.compile(
    "pad|eos|bos|unk|mask|sep|cls|special|additional|image|video|audio|start|end|stop|next|begin|suppress|forced"
    "|decoder|boi|eoi|bot|eot|eod|eom|fim|prefix|suffix|middle|class|sentinel|max|min|num|n|per|total|new|extra"
    "|prompt|vocab|context|input|output|target|source|sequence|seq|batch|modality|blank|word"
)
# In front of the plural, which mostly counts text, only these tell of access.
_ACCESS_WORD: Final = re.compile("access|auth|api|refresh|bearer|session|user")

# Not \b: a key may follow an underscore or a letter that is not ASCII.
_START: Final = "(?<![A-Za-z0-9])"
_VALUE_PATTERNS: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        # PEM blocks, also one that was cut off before its end.
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        _START
        + r"(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS key ids
        _START + r"gh[pousr]_[A-Za-z0-9]{20,}",  # GitHub
        _START + r"github_pat_[A-Za-z0-9_]{20,}",
        _START + r"gl[a-z]{2,6}-[A-Za-z0-9_.-]{20,}",  # GitLab: glpat-, gldt-, glrt-, glcbt-
        _START + r"(?:hf|api_org)_[A-Za-z0-9]{20,}",  # Hugging Face
        _START + r"sk-[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic
        _START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
        _START + r"xox[a-z]-[A-Za-z0-9-]{10,}",  # Slack
        _START + r"AIza[A-Za-z0-9_-]{35}",  # Google
        _START + r"npm_[A-Za-z0-9]{36}",
        _START + r"pypi-AgE[A-Za-z0-9_-]{20,}",
        _START + r"sw_[a-z2-7]{12}_[0-9a-f]{64}(?:_[0-9a-f]{8})?",  # our own keys
        _START
        + r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}",  # JWT, signed or encrypted
    )
)
# What precedes the secret is kept, so that the text still says what it was.
_MARKED_PATTERNS: Final = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        _START + r"((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}",
        _START + r"((?:AccountKey|SharedAccessKey|SharedSecretIssuer|sig)=)[A-Za-z0-9%+/=_-]{16,}",
        _START + r"(X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)=)[^&\s\"']+",
        # scheme://user:secret@host; a secret may hold "@" and "/", so up to the last "@" before a space. Digits
        # and "/" behind the colon are a port and a path.
        _START + r"([a-z][a-z0-9+.-]{0,30}://)[^\s/@:\"'<>]*:(?!\d{1,5}[/?#])[^\s\"'<>]*@",
        # A token alone before the host. Not for ssh, where git@ is everyone's name.
        _START + r"((?:https?|s3|wss?)://)[^\s/@:\"'<>]+@",
    )
)
# name=, name: and "name": with their values; --name value. Lengths are bounded: a long text must not be scanned
# again from each of its letters.
_ASSIGNED: Final = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,127})(?:[\"']?\s{0,8}(?:=|:(?!//))\s{0,8})"
    r"|(?<![A-Za-z0-9-])--?(?P<flag>[A-Za-z][A-Za-z0-9_.-]{0,127})[ \t]{1,8}(?!-)",
    re.ASCII,
)
_ASSIGNED_VALUE: Final = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[^\s\"',;&{}\[\]()]+", re.ASCII
)
_NO_SECRETS: Final = frozenset(["", MASK, "None", "null", "True", "true", "False", "false"])
_FLAG: Final = re.compile(r"--?[A-Za-z]")


def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is a secret whatever it looks like."""
    words = _words(name)
    return _names_a_secret(words) or _names_a_token(words)


def is_token_name(name: str) -> bool:
    """Whether only `token` makes the name a secret: then a number under it is a count or an id, no secret."""
    words = _words(name)
    return _names_a_token(words) and not _names_a_secret(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _names_a_secret(words: list[str]) -> bool:
    in_parts = _SECRET_PARTS.search("".join(words)) is not None
    return in_parts or any(_SECRET_WORD.fullmatch(word) for word in words)


def _names_a_token(words: list[str]) -> bool:
    before = words[-2] if len(words) > 1 else ""
    if words and words[-1] == "token":
        return _TEXT_WORD.fullmatch(before) is None
    return bool(words) and words[-1] == "tokens" and _ACCESS_WORD.fullmatch(before) is not None


def redact_text(text: str) -> str:
    """The text with every secret in it masked: for messages of exceptions, variables, command lines."""
    text = redact_values(text)
    kept: list[str] = []
    at = 0
    for assigned in _ASSIGNED.finditer(text):
        name = assigned["name"] or assigned["flag"]
        value = _ASSIGNED_VALUE.match(text, assigned.end())
        if assigned.start() >= at and value is not None and _is_secret(name, value[0]):
            quote = value[0][0] if value[0][0] in "\"'" else ""
            kept += (text[at : assigned.end()], quote, MASK, quote)
            at = value.end()
    return "".join(kept) + text[at:]


def redact_values(text: str) -> str:
    """Only what looks like a secret by itself, so that source code stays as it is."""
    for pattern in _VALUE_PATTERNS:
        text = pattern.sub(MASK, text)
    for pattern in _MARKED_PATTERNS:
        text = pattern.sub(_masked_after_mark, text)
    return text


def redact_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line: also the word after `--password`, and all of `--api-key=…`."""
    redacted: list[str] = []
    secret_follows = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        is_flag = _FLAG.match(argument) is not None
        if secret_follows and not is_flag:
            redacted.append(MASK)
        elif is_flag and equals and is_secret_name(name):
            redacted.append(f"{name}={MASK}")
        else:
            redacted.append(redact_text(argument))
        secret_follows = is_flag and not equals and is_secret_name(name)
    return redacted


def _masked_after_mark(match: re.Match[str]) -> str:
    return f"{match[1]}{MASK}{'@' if match[0].endswith('@') else ''}"


def _is_secret(name: str, value: str) -> bool:
    plain = value.strip("\"'")
    if plain in _NO_SECRETS or not is_secret_name(name):
        return False
    return not (plain.isdecimal() and is_token_name(name))
