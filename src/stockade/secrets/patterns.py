"""Whether a pattern for file names asks for secrets: as a shell, `find -name` or a filter reads it."""

from __future__ import annotations

import re

from stockade.model.paths import can_match, is_pattern, unescaped
from stockade.secrets.names import SUFFIXES, env_file, secret_path

# Names that a pattern is tried on: it asks for secrets if it can match one of them.
_PROBES = (".env", ".env.local", ".env.production", ".netrc", ".npmrc", ".pypirc", "id_rsa", "id_ed25519", "credentials")


def pattern_asks(pattern: str, *, dots: bool = False) -> str | None:
    """What a pattern for one path component asks for, None where it merely could match a secret.

    `dots` is for readers whose `*` also matches a leading dot, as `find -name` and `rg -g` do.
    """
    if pattern.lstrip("*?").startswith(".env") or env_file(unescaped(pattern).replace("*", "")):
        return "which asks for environment files"
    plain = re.sub(r"[*?]|\[[^\]]*\]", "", pattern)
    if plain == "" and "[" not in pattern:
        return None
    ending = pattern.rpartition(".")[2] if "." in pattern else ""
    asks = is_pattern(ending) and ending.strip("*") and any(can_match(ending, s[1:]) for s in SUFFIXES)
    if secret_path(f"/x{pattern.replace('*', '').replace('?', '')}") or asks:
        return "which asks for keys"
    if any(can_match(pattern, name) for name in _PROBES):
        return "which can match a file with secrets"
    if dots and len(plain) > 1 and any(can_match(f".{pattern}", f".{name}") for name in _PROBES):
        return "which can match a file with secrets"
    return None
