"""Redaction: known shapes of secrets, and values of variables that are named like one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from stockade.secrets.names import secret_variable

MASK = "‹redacted›"
_MIN_VALUE = 6

# Shapes with a fixed beginning, one a provider.  Sources: the providers' own documentation of formats.
_SHAPES = re.compile(
    r"""\b(?:
      (?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}                       # AWS access key id
    | gh[pousr]_[A-Za-z0-9]{36,255} | github_pat_[A-Za-z0-9_]{22,255}
    | gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_.-]{20,}                # GitLab
    | sk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{20,}              # OpenAI, Anthropic
    | xox[abeprs]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{20,}     # Slack
    | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,}           # Google
    | [sr]k_(?:live|test)_[A-Za-z0-9]{10,} | whsec_[A-Za-z0-9]{20,}
    | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{16,}
    | hf_[A-Za-z0-9]{30,} | dop_v1_[a-f0-9]{64} | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
    | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}  # JSON Web Token
    | AGE-SECRET-KEY-1[0-9A-Z]{50,}
    )""",
    re.VERBOSE,
)
_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL)
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://[^/\s:@]*:)([^/\s]+)(@)")
_BEARER = re.compile(r"\b((?:Bearer|Basic|token)\s+)([A-Za-z0-9._~+/=-]{12,})", re.IGNORECASE)
_ASSIGNED = re.compile(r"""\b([A-Za-z_][A-Za-z0-9_]*)(["']?\s*[=:]\s*)("[^"\n]*"|'[^'\n]*'|[^\s"';&|]+)""")
_FLAG = re.compile(
    r"(--?(?:password|passwd|token|secret|api-?key|access-key|auth)[= ])(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"';&|]+)", re.IGNORECASE
)


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text with every secret that can be recognised replaced by a mask.

    `values` are texts that are known to be secret, longest first; see `secret_values`.
    """
    for value in values:
        text = text.replace(value, MASK)
    text = _KEY_BLOCK.sub(MASK, text)
    text = _SHAPES.sub(MASK, text)
    text = _AUTHORITY.sub(rf"\1{MASK}\3", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _FLAG.sub(rf"\1{MASK}", text)
    return _ASSIGNED.sub(_assigned, text)


def _assigned(m: re.Match[str]) -> str:
    name, equals, value = m.groups()
    if not secret_variable(name) or value.startswith(("$", '"$', "'$")) or MASK in value:
        return m.group()
    return f"{name}{equals}{MASK}"


def secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables whose names say that they are secret, longest first."""
    found = {value for name, value in env.items() if secret_variable(name) and len(value) >= _MIN_VALUE}
    return tuple(sorted(found, key=len, reverse=True))
