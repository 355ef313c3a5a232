"""Patterns of rules: commands, paths, hosts, tools.  All matching is linear or bounded, never a regex.

A subject can have parts that are not known (`HOLE`).  A match is then one of three: it matches
whatever the unknown is, it could match, or it cannot.
"""

from __future__ import annotations

from enum import IntEnum

from stockade.model.context import Context
from stockade.model.paths import inside, lexical

HOLE = "\0"  # 0..n characters that are not known
_GLUE = "\x01"  # a blank inside one word, which no blank of a pattern matches
_MAX_CELLS = 1 << 20


class Match(IntEnum):
    """Ordered: how sure it is that a pattern matches."""

    NO = 0
    MAYBE = 1
    YES = 2


def star_match(pattern: str, text: str) -> bool:
    """Whether a pattern in which only `*` is special matches the whole text.  Linear."""
    if "*" not in pattern:
        return pattern == text
    first, *middle, last = pattern.split("*")
    if not text.startswith(first) or len(text) < len(first) + len(last):
        return False
    if not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        if not piece:
            continue
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def could_match(pattern: str, text: str) -> bool:
    """Whether some text in place of the holes would match.  Quadratic, and bounded (then: yes)."""
    if len(pattern) * len(text) > _MAX_CELLS:
        return True
    row = [False] * (len(text) + 1)
    row[0] = True
    for j, c in enumerate(text):
        row[j + 1] = row[j] and c == HOLE
    for p in pattern:
        after = [False] * (len(text) + 1)
        after[0] = row[0] and p == "*"
        for j, c in enumerate(text):
            if p == "*" or c == HOLE:
                after[j + 1] = row[j + 1] or after[j] or row[j]
            else:
                after[j + 1] = row[j] and p == c
        row = after
    return row[-1]


# -- commands -------------------------------------------------------------------------------------


def command_text(argv: tuple[str | None, ...], *, glued: bool) -> str:
    """The text that a rule is compared with; `glued` keeps words apart from blanks inside them."""
    words = [HOLE if word is None else word for word in argv]
    if glued:
        words = [w.replace(" ", _GLUE) if " " in w else w for w in words]
    return " ".join(words)


def prefix_of(pattern: str) -> str | None:
    """`npm test` for `npm test:*`, None for a pattern of the other kind."""
    return pattern[:-2] if pattern.endswith(":*") else None


def match_command(pattern: str, argv: tuple[str | None, ...], *, allowing: bool) -> Match:
    """Compares a command pattern with an argument vector.

    For an allow rule the words must really be those words; a deny or ask rule also matches where a
    blank inside a word makes it look the same.
    """
    text = command_text(argv, glued=allowing)
    if HOLE not in text:
        return Match.YES if _command(pattern, text) else Match.NO
    if _command(pattern, text):
        return Match.YES
    if allowing:
        return Match.NO
    return Match.MAYBE if _could(pattern, text) else Match.NO


def _command(pattern: str, text: str) -> bool:
    prefix = prefix_of(pattern)
    if prefix is not None:
        return text == prefix or star_match(prefix, text) or star_match(prefix + " *", text)
    if pattern.endswith(" *") and star_match(pattern[:-2], text):
        return True
    return star_match(pattern, text)


def _could(pattern: str, text: str) -> bool:
    text = text.replace(" " + HOLE, HOLE)
    prefix = prefix_of(pattern)
    if prefix is not None:
        return could_match(prefix, text) or could_match(prefix + " *", text)
    return could_match(pattern, text) or (pattern.endswith(" *") and could_match(pattern[:-2], text))


# -- paths ----------------------------------------------------------------------------------------


def match_path(pattern: str, path: str, context: Context) -> bool:
    """A gitignore-like pattern against a normalised absolute path.

    `/x` and `~/x` are absolute, a pattern with a slash hangs on the workspace, one without matches the
    name at any depth; a pattern that names a folder takes in all below it.
    """
    if pattern in ("*", "**"):
        return True
    whole = pattern.rstrip("/") or "/"
    if whole.startswith("~/") or whole == "~":
        whole = context.home + whole[1:]
    elif not whole.startswith("/"):
        anchored = "/" in whole or whole in (".", "..")
        if whole.startswith("./"):
            whole = whole[2:]
        if not anchored:
            return _name_matches(whole, path)
        whole = f"{context.workspace}/{whole}"
    return _components(_pattern_parts(whole), path.split("/")[1:])


def _pattern_parts(whole: str) -> list[str]:
    """The components of an absolute pattern, without `.`, `..` and repeated `**`."""
    parts: list[str] = []
    for part in whole.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", ".") and not (part == "**" and parts[-1:] == ["**"]):
            parts.append(part)
    return parts


def pattern_folder(pattern: str, context: Context) -> str:
    """The literal folder below which everything lies that an anchored pattern matches."""
    whole = context.home + pattern[1:] if pattern.startswith("~/") else pattern
    if not whole.startswith("/"):
        whole = f"{context.workspace}/{whole.removeprefix('./')}"
    parts = []
    for part in whole.split("/")[1:]:
        if any(c in part for c in "*?["):
            break
        parts.append(part)
    return lexical("/" + "/".join(parts))


def _name_matches(pattern: str, path: str) -> bool:
    return any(match_component(pattern, name) for name in path.split("/")[1:])


def _components(parts: list[str], names: list[str]) -> bool:
    """Whether the pattern's components match a prefix of the path that ends at a component."""
    states = {0}
    for name in names:
        following: set[int] = set()
        for at in states:
            if at == len(parts):
                return True
            if parts[at] == "**":
                following.add(at)
                if at + 1 < len(parts) and match_component(parts[at + 1], name):
                    following.add(at + 2)
            elif match_component(parts[at], name):
                following.add(at + 1)
        if not following:
            return False
        states = following
    return any(at == len(parts) or all(p == "**" for p in parts[at:]) for at in states)


def match_component(pattern: str, name: str) -> bool:
    """`*`, `?` and `[…]` against one component; backtracks to the last star only."""
    if pattern == name:
        return True
    p = n = 0
    star, back = -1, 0
    while n < len(name):
        if p < len(pattern) and pattern[p] == "*":
            star, back = p, n
            p += 1
            continue
        width = _one(pattern, p, name[n])
        if width:
            p += width
            n += 1
            continue
        if star < 0:
            return False
        back += 1
        p, n = star + 1, back
    return all(c == "*" for c in pattern[p:])


def _one(pattern: str, at: int, char: str) -> int:
    """How many pattern characters match one character of the name; 0 for none."""
    if at >= len(pattern):
        return 0
    c = pattern[at]
    if c == "?":
        return 1
    if c == "\\" and at + 1 < len(pattern):
        return 2 if pattern[at + 1] == char else 0
    if c != "[":
        return 1 if c == char else 0
    first = at + 1 + (pattern[at + 1 : at + 2] in ("!", "^"))  # a `]` in first place is a member
    close = pattern.find("]", first + 1)
    if close < 0:
        return 1 if c == char else 0
    body = pattern[at + 1 : close]
    negated = body[0] in "!^"
    return close - at + 1 if _in_class(body[1:] if negated else body, char) != negated else 0


def _in_class(body: str, char: str) -> bool:
    at = 0
    while at < len(body):
        if at + 2 < len(body) and body[at + 1] == "-":
            if body[at] <= char <= body[at + 2]:
                return True
            at += 3
        elif body[at] == char:
            return True
        else:
            at += 1
    return False


# -- hosts and tools ------------------------------------------------------------------------------


def match_host(pattern: str, subject: str) -> bool:
    """`host`, `*.domain`, with or without `:port`; names without regard to case."""
    if pattern == "*":
        return True
    host, port = _split_port(subject.lower())
    wanted, wanted_port = _split_port(pattern.lower())
    if wanted_port and wanted_port not in ("*", port):
        return False
    host, wanted = host.rstrip("."), wanted.rstrip(".")
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) and len(host) > len(wanted) - 1
    return host == wanted or wanted == "*"


def _split_port(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.lstrip(":")
    host, _, port = text.rpartition(":")
    return (host, port) if host and (port.isdigit() or port == "*") else (text, "")


__all__ = [
    "HOLE", "Match", "command_text", "could_match", "inside", "match_command", "match_component", "match_host", "match_path",
    "prefix_of", "star_match",
]  # fmt: skip
