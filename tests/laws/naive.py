"""Patterns against texts, the naive way: every possibility is tried, as the design says it."""

from __future__ import annotations

from functools import cache

from stockade.model.context import Context

HOLE = "\0"


def star(pattern: str, text: str) -> bool:
    """Only `*` is special, and it takes any characters."""

    @cache
    def rest(p: int, t: int) -> bool:
        if p == len(pattern):
            return t == len(text)
        if pattern[p] == "*":
            return rest(p + 1, t) or (t < len(text) and rest(p, t + 1))
        return t < len(text) and text[t] == pattern[p] and rest(p + 1, t + 1)

    return rest(0, 0)


def could(pattern: str, text: str) -> bool:
    """The same, where every hole in the text may be any characters."""

    @cache
    def rest(p: int, t: int) -> bool:
        if p == len(pattern) and t == len(text):
            return True
        if t < len(text) and text[t] == HOLE and (rest(p, t + 1) or (p < len(pattern) and rest(p + 1, t))):
            return True
        if p < len(pattern) and pattern[p] == "*":
            return rest(p + 1, t) or (t < len(text) and rest(p, t + 1))
        return p < len(pattern) and t < len(text) and text[t] == pattern[p] and rest(p + 1, t + 1)

    return rest(0, 0)


def command_text(argv: tuple[str | None, ...], *, glued: bool) -> str:
    words = [HOLE if word is None else word for word in argv]
    return " ".join(word.replace(" ", "\x01") for word in words) if glued else " ".join(words)


def spelled_out(pattern: str) -> list[str]:
    """`cmd:*` and `cmd *` both mean the command alone, and with more words."""
    if pattern.endswith(":*"):
        return [pattern[:-2], pattern[:-2] + " *"]
    return [pattern[:-2], pattern] if pattern.endswith(" *") else [pattern]


def command_matches(pattern: str, argv: tuple[str | None, ...], *, glued: bool) -> bool:
    return any(star(one, command_text(argv, glued=glued)) for one in spelled_out(pattern))


def command_could_match(pattern: str, argv: tuple[str | None, ...]) -> bool:
    text = command_text(argv, glued=False)
    return HOLE in text and any(could(one, text.replace(" " + HOLE, HOLE)) for one in spelled_out(pattern))


def path_matches(pattern: str, path: str, context: Context) -> bool:
    """Like a line of gitignore: a folder takes in all below it, a name without a slash is at any depth."""
    names = [name for name in path.split("/") if name]
    bare = pattern.rstrip("/") or "/"
    if "/" not in bare and bare not in (".", "..", "~"):
        return any(component(bare, name) for name in names)
    if bare == "~" or bare.startswith("~/"):
        whole = context.home + bare[1:]
    else:
        whole = bare if bare.startswith("/") else f"{context.workspace}/{bare}"
    parts: list[str] = []
    for part in whole.split("/"):
        parts = parts[:-1] if part == ".." else parts + ([part] if part not in ("", ".") else [])
    return any(components(tuple(parts), tuple(names[:end])) for end in range(len(names) + 1))


def components(parts: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        return components(parts[1:], names) or (bool(names) and components(parts, names[1:]))
    return bool(names) and component(parts[0], names[0]) and components(parts[1:], names[1:])


def component(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return component(pattern[1:], name) or (bool(name) and component(pattern, name[1:]))
    return bool(name) and pattern[0] in ("?", name[0]) and component(pattern[1:], name[1:])


def host_matches(pattern: str, subject: str) -> bool:
    host, _, port = subject.partition(":")
    wanted, _, wanted_port = pattern.partition(":")
    if wanted_port not in ("", "*", port):
        return False
    return wanted in ("*", host) or (wanted.startswith("*.") and host.endswith(wanted[1:]) and host != wanted[1:])
