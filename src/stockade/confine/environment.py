"""The environment of a command, composed in one order: inherit, strip, include only, set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

# What a program needs to find itself, its user and its terminal.
CORE = ("PATH", "HOME", "SHELL", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TEMP", "TMP", "TZ", "PWD")
_SECRET_PARTS = ("KEY", "SECRET", "TOKEN")
# Variables through which the caller's shell would change how ours reads the command.
_READER = ("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "BASH_XTRACEFD",
           "BASH_COMPAT", "POSIXLY_CORRECT", "IFS", "LD_PRELOAD", "LD_AUDIT", "BASH_LOADABLES_PATH",
           "EXECIGNORE", "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5OPT", "PERL5DB", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS",
           "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_TRACE", "LESSOPEN", "LESSCLOSE",
           "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
           "GIT_ASKPASS", "SSH_ASKPASS")  # fmt: skip
_READER_PREFIXES = ("BASH_FUNC_", "DYLD_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


class ChildEnv(NamedTuple):
    """`variables` is what the command gets; `withheld` the names that were dropped as secret."""

    variables: dict[str, str]
    withheld: tuple[str, ...]


def secret_name(name: str) -> bool:
    upper = name.upper()
    return any(part in upper for part in _SECRET_PARTS)


def compose(
    parent: Mapping[str, str],
    *,
    inherit: str,
    strip_secrets: bool,
    include_only: Iterable[str],
    fixed: Mapping[str, str],
    keep: Iterable[str] = (),
) -> ChildEnv:
    """The environment of a command.  What is stripped stays stripped unless `fixed` names it."""
    if inherit == "none":
        chosen: dict[str, str] = {}
    elif inherit == "core":
        chosen = {name: parent[name] for name in CORE if name in parent}
    else:
        chosen = dict(parent)
    withheld = tuple(sorted(name for name in chosen if secret_name(name))) if strip_secrets else ()
    for name in withheld:
        del chosen[name]
    kept = frozenset(keep)
    for name in list(chosen):
        if (name in _READER or name.startswith(_READER_PREFIXES)) and name not in kept:
            del chosen[name]
    only = tuple(include_only)
    if only:
        chosen = {name: value for name, value in chosen.items() if name in only}
    chosen.update(fixed)
    return ChildEnv(chosen, withheld)
