"""Secrets that are known by their look: keys of services, private keys, addresses with a password."""

import re
from typing import Final

MASK: Final = "***"

# Not \b: a key may follow an underscore or a letter that is not ASCII. Repetitions have an upper bound wherever
# more must follow, so that no text makes a pattern look ahead to its end again and again.
_START: Final = "(?<![A-Za-z0-9])"

# Texts of which one has to be there, and the pattern. Looking for a text is a hundred times as fast, and the
# uncommitted change of a repository has megabytes. Compiled when a mark is found: hardly any text has one, and to
# compile all of them takes as long as the rest of the client's start.
_KEYS: Final = tuple(
    (marks.split(), pattern)
    for marks, pattern in (
        # PEM blocks, also one that was cut off before its end.
        (
            "-----BEGIN",
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
            r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        ),
        (  # AWS
            "AKIA ASIA AIDA AROA AGPA ANPA ANVA ABIA ACCA",
            _START + r"A(?:KIA|SIA|IDA|ROA|GPA|NPA|NVA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        ),
        ("ghp_ gho_ ghu_ ghs_ ghr_", _START + r"gh[pousr]_[A-Za-z0-9]{20,}"),  # GitHub
        ("github_pat_", _START + r"github_pat_[A-Za-z0-9_]{20,}"),
        (
            "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- glffct- glwt-",
            _START + r"gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat|imt|agent|ffct|wt)-[A-Za-z0-9_.-]{20,}",
        ),  # GitLab
        ("hf_ api_org_", _START + r"(?:hf|api_org)_[A-Za-z0-9]{20,}"),  # Hugging Face
        ("sk-", _START + r"sk-[A-Za-z0-9_-]{20,}"),  # OpenAI, Anthropic
        ("sk_live_ sk_test_ rk_live_ rk_test_", _START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),  # Stripe
        ("xox", _START + r"xox[a-z]-[A-Za-z0-9-]{10,}"),  # Slack
        ("AIza", _START + r"AIza[A-Za-z0-9_-]{35}"),  # Google
        ("npm_", _START + r"npm_[A-Za-z0-9]{36}"),
        ("pypi-AgE", _START + r"pypi-AgE[A-Za-z0-9_-]{20,}"),
        ("sw_", r"sw_[a-z2-7]{12}_[0-9a-f]{64}(?:_[0-9a-f]{8})?"),  # our own
        # JWT, signed (three parts) or encrypted (five).
        ("eyJ", _START + r"eyJ[A-Za-z0-9_-]{5,1024}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    )
)
# What precedes the secret is kept, so that the text still says what it was. Marks are in lower case.
_MARKED: Final = tuple(
    (lowered_marks, pattern)
    for lowered_marks, pattern in (
        (("bearer", "basic"), _START + r"((?:bearer|basic)\s{1,8})[A-Za-z0-9._~+/=-]{8,}"),
        (
            ("accountkey=", "sharedaccesskey=", "sig="),
            _START + r"((?:AccountKey|SharedAccessKey|sig)=)[A-Za-z0-9%+/=_-]{16,}",
        ),
        (
            ("x-amz-", "x-goog-"),
            _START + r"(X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)=)[^&\s\"']+",
        ),
        # Behind the scheme user:secret@; a secret may hold "@" and "/", so up to the last "@" before a space.
        # Digits and "/" behind the colon are a port and a path.
        (("://",), r"(://)[^\s/@:\"'<>]{0,256}:(?!\d{1,5}[/?#])[^\s\"'<>]{0,1024}@"),
        # A token alone before the host. Not for ssh, where git@ is everyone's name.
        (("://",), r"(://)(?<!ssh://)(?<!git://)[^\s/@:\"'<>]{1,1024}@"),
    )
)


def redact_values(text: str) -> str:
    """Masks only what looks like a secret by itself, so that source code stays as it is."""
    for marks, pattern in _KEYS:
        if any(mark in text for mark in marks):
            text = re.sub(pattern, MASK, text, flags=re.ASCII)
    lowered = text.lower()
    for lowered_marks, pattern in _MARKED:
        if any(mark in lowered for mark in lowered_marks):
            text = re.sub(pattern, _masked_after_mark, text, flags=re.ASCII | re.IGNORECASE)
    return text


def _masked_after_mark(match: re.Match[str]) -> str:
    return f"{match[1]}{MASK}{'@' if match[0].endswith('@') else ''}"
