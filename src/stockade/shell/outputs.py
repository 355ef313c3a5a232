"""What a command prints, where its text tells: so that `$(echo /)` and `echo … | sh` are seen through."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from stockade.model.effects import Kind
from stockade.model.paths import glob_folder
from stockade.secrets.names import secret_path
from stockade.secrets.patterns import pattern_asks
from stockade.shell.arguments import Reading
from stockade.shell.calls import Call
from stockade.shell.expansions import ansi_c
from stockade.shell.fields import field_value
from stockade.shell.state import normal
from stockade.shell.syntax import Refused, byte_view
from stockade.shell.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    NETWORK,
    NO_TAGS,
    OWN,
    SECRET,
    Field,
    Value,
    concat,
    known,
    unknown,
)

if TYPE_CHECKING:
    from stockade.shell.interpret import Interpreter

_MAX_TEXT = 65536
_NUMBERS = frozenset(("wc", "nproc", "expr", "id", "date", "stat", "du"))
_PRINTS_ONE = frozenset(("--short", "--verify", "--abbrev-ref", "-q", "--quiet", "--symbolic-full-name"))
_DECODERS = frozenset(
    ("base64", "base32", "gunzip", "zcat", "gzip", "bunzip2", "bzcat", "xz", "unxz", "xzcat", "zstd", "zstdcat",
     "xxd", "openssl", "uudecode", "lz4", "unlzma", "lzcat", "rev", "tr", "gpg")
)  # fmt: skip


def echo_text(args: list[Field]) -> Value:
    """What `echo` prints."""
    escapes, newline = False, "\n"
    rest = list(args)
    while rest and re.fullmatch(r"-[neE]+", rest[0].literal or ""):
        flags = rest.pop(0).literal or ""
        newline = "" if "n" in flags else newline
        for letter in flags:
            escapes = letter == "e" or (escapes and letter != "E")
    value = _joined(rest)
    if value.texts is None:
        return value
    texts = [_unescaped(t) if escapes else t for t in value.texts]
    if any(t is None for t in texts):
        return unknown(value.tags)
    return value._replace(texts=tuple(f"{t}{newline}" for t in texts))


def _joined(fields: list[Field]) -> Value:
    """Words with one space between them."""
    tags = NO_TAGS
    words: list[str] = []
    sure = True
    for field in fields:
        tags |= field.tags
        if field.text is None or field.many or field.glob or field.alts:
            return _listed_text(fields, tags)
        sure &= field.sure
        words.append(byte_view(field.text))
    return Value((" ".join(words),), sure, tags=tags)


def _listed_text(fields: list[Field], tags: frozenset[str]) -> Value:
    for field in fields:
        tags |= field.tags
    if len(fields) == 1 and fields[0].glob:
        return field_value(fields[0])
    if len(fields) == 1 and fields[0].kind:
        field = fields[0]
        return Value(None, True, field.kind, field.prefix, under=field.under, tags=tags)
    return unknown(tags)


def _unescaped(text: str, *, bare_octal: bool = False) -> str | None:
    """The escapes of `echo -e` and of `%b`, None where they are not modelled."""
    if "\\c" in text or (not bare_octal and re.search(r"\\[1-7]", text)):  # the first ends the output
        return None
    octal = re.sub(r"\\0([0-7]{0,3})", lambda m: "\\" + (m.group(1) or "0"), text)
    try:
        return ansi_c(octal, 0, nul=True)
    except Refused:
        return None


def printf_text(args: list[Field]) -> Value:
    """What `printf` prints, for the plain conversions."""
    tags = NO_TAGS
    for field in args:
        tags |= field.tags
    if args and args[0].literal == "--":
        args = args[1:]
    words = [f.literal for f in args]
    if not words or any(w is None for w in words):
        return _listed_text(args[1:], tags) if len(args) == 2 and args[0].literal else unknown(tags)
    text = _formatted(byte_view(words[0] or ""), [byte_view(w or "") for w in words[1:]])
    return unknown(tags) if text is None else known(text, tags)


def _formatted(form: str, values: list[str]) -> str | None:
    pieces = re.split(r"(%(?:%|s|b|d|i|c|q))", form)
    if any("%" in p for p in pieces[::2]):
        return None
    out: list[str] = []
    queue = list(values)
    while True:
        before = len(queue)
        for at, piece in enumerate(pieces):
            text = _conversion(piece[1], queue) if at % 2 else _form(piece)
            if text is None:
                return None
            out.append(text)
        if not queue or len(queue) == before or sum(map(len, out)) > _MAX_TEXT:
            return "".join(out)


def _form(text: str) -> str | None:
    """A piece of the format: octal digits count from the first one, at most three."""
    try:
        return None if "\\c" in text else ansi_c(text, 0, nul=True)
    except Refused:
        return None


_DECIMAL = re.compile(r"(?:0|-?[1-9][0-9]{0,17})?")  # what begins with 0 is octal, and text is 0 with an error


def _conversion(letter: str, queue: list[str]) -> str | None:
    if letter == "%":
        return "%"
    value = queue.pop(0) if queue else ""
    if letter == "b":
        return _unescaped(value, bare_octal=True)
    if letter == "c":
        return value[:1]
    if letter in "di":
        return value or "0" if _DECIMAL.fullmatch(value) else None
    return value if letter == "s" else None


# -- programs -------------------------------------------------------------------------------------


def printed(it: Interpreter, call: Call, base: str, reading: Reading) -> Value:
    """What a program prints."""
    tags = call.stdin.tags
    for field in call.args:
        tags |= field.tags
    for effect in call.effects:
        if effect.kind is Kind.NETWORK:
            tags |= {NETWORK}
        elif effect.kind is Kind.SECRET or (
            effect.kind is Kind.READ and effect.target is not None and effect.target.path is not None
            and secret_path(normal(effect.target.path))
        ):  # fmt: skip
            tags |= {SECRET}
    known_text = _PRINTERS.get(base)
    if known_text is not None and not any(effect == "unknown" for effect, *_ in reading.effects):
        value = known_text(it, call, reading, tags)
        if value is not None:
            return value
    if base in _DECODERS:
        tags |= {DECODED}
    if base in _NUMBERS and not tags and base in ("nproc",):
        return Value(None, kind="int")
    return unknown(tags)


def _files_content(it: Interpreter, call: Call, reading: Reading) -> Value:
    """The content of the operands, or of the standard input."""
    fields = reading.operands
    if not fields:
        return call.stdin
    out = EMPTY
    for field in fields:
        text = field.literal
        path = None if text is None else it.state.absolute(text)
        if text == "-":
            piece = call.stdin
        else:
            piece = it.state.written.get(normal(path), ANYTHING) if path is not None else ANYTHING
        out = concat(out, piece)
    return out


def _cat(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    content = _files_content(it, call, reading)
    return content._replace(tags=content.tags | tags) if not reading.options else None


def _tee(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    for field in reading.operands:
        path = it.state.absolute(field.literal) if field.literal is not None else None
        if path is not None:
            it.state.written[normal(path)] = unknown(call.stdin.tags) if reading.options else call.stdin
    return call.stdin


def _base64(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    import base64
    import binascii

    content = _files_content(it, call, reading)
    decode = any(name in reading.options for name in ("-d", "-D", "--decode"))
    if content.text is None:
        return unknown(tags | content.tags | ({DECODED} if decode else NO_TAGS))
    try:
        if decode:
            text = re.sub(r"\s", "", content.text)
            if "=" in text.rstrip("="):  # decoders differ on what follows the padding
                raise ValueError("text goes on behind the padding")
            decoded = base64.b32decode(text) if "32" in (call.fields[0].text or "") else base64.b64decode(text, validate=False)
            return known(decoded.decode("latin-1"), tags | content.tags | {DECODED})
        data = base64.b64encode(content.text.encode("latin-1")).decode() + "\n"
        return known(data, tags | content.tags)
    except (binascii.Error, ValueError):
        return unknown(tags | content.tags | {DECODED})


def _xxd(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    content = _files_content(it, call, reading)
    texts = " ".join(f.literal or "" for f in call.args)
    if (
        re.fullmatch(r"(-rp|-pr|-r -p|-p -r|-rp|-pr|-r -ps|-r -plain|-ps -r|-plain -r)", texts.strip())
        and content.text is not None
    ):
        try:
            return known(bytes.fromhex(re.sub(r"\s", "", content.text)).decode("latin-1"), tags | {DECODED})
        except ValueError:
            return unknown(tags | {DECODED})
    return None


def _rev(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    content = _files_content(it, call, reading)
    if content.text is None:
        return None
    lines = content.text.split("\n")
    return known("\n".join(line[::-1] for line in lines), content.tags | tags | {DECODED})


def _which(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    if len(reading.operands) == 1 and reading.operands[0].literal:
        return Value((byte_view(reading.operands[0].literal) + "\n",), False)
    return None


_HASHES = re.compile(r"--(?:format|pretty)=(?:format:|tformat:)?%[hH]")
_PLAIN_LOG = re.compile(
    r"-n|-?[0-9]+|--(?:all|reverse|no-merges|merges|first-parent|branches|tags|max-count=[0-9]+)|[A-Za-z][\w./~^-]*|--"
)


def _prints_commits(words: list[str | None]) -> bool:
    """`git rev-list …` and `git log --format=%H …`: lines of hexadecimal digits, nothing else."""
    if words[:1] == ["rev-list"]:
        return all(w is not None and _PLAIN_LOG.fullmatch(w) for w in words[1:])
    if words[:1] != ["log"] or not any(w is not None and _HASHES.fullmatch(w) for w in words):
        return False
    return all(w is not None and (_HASHES.fullmatch(w) or _PLAIN_LOG.fullmatch(w)) for w in words[1:])


def _git(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    words = [f.literal for f in call.args]
    if words == ["rev-parse", "--show-toplevel"]:
        return known(byte_view(it.context.workspace) + "\n")
    if words[:2] == ["rev-parse", "--git-path"] and len(words) == 3 and words[2] and ".." not in words[2]:
        return known(byte_view(f"{it.context.workspace}/.git/{words[2]}") + "\n")
    if words == ["rev-parse", "--git-dir"]:
        return known(".git\n")
    if words[:1] == ["rev-parse"]:
        tags |= _pattern_tags([f._replace(text=f.text.rpartition(":")[2]) for f in call.args if f.text and ":" in f.text])
    if _prints_commits(words):
        return Value(None, kind="int", tags=tags)
    if words[:1] in (["rev-parse"], ["merge-base"]) and all(
        w is not None and (w in _PRINTS_ONE or w[:1] != "-") for w in words[1:]
    ):
        # One object or branch name; git has none that begins with a dash or holds `..`.
        return Value(None, kind="int", tags=tags) if len(words) <= 3 or words[0] == "merge-base" else None
    if words[:1] == ["ls-files"] or (words[:1] in (["diff"], ["show"], ["log"]) and "--name-only" in words):
        return Value(None, True, "listed", under=it.state.cwd or "", tags=tags | _pattern_tags(call.args))
    return None


def _listing(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    """find, fd and ls print names that lie below where they looked."""
    tags |= _pattern_tags(call.args)
    operands = [f for f in reading.operands if not (f.text or "").startswith(("-", "(", "!"))] if call.name == "find" else []
    if operands and all(f.literal for f in operands):
        starts = [f.literal or "" for f in operands]
        if len(starts) == 1 and not starts[0].startswith("-"):
            under = it.state.absolute(starts[0])
            if under is not None:
                return Value(None, True, "listed", prefix=starts[0].rstrip("/") + "/", under=under, tags=tags)
        folders = [it.state.absolute(start) for start in starts]
        if all(folder is not None for folder in folders):
            common = posixpath.commonpath([normal(folder) for folder in folders if folder is not None])
            return Value(None, True, "listed", under=common, tags=tags)
        return unknown(tags)
    if call.name == "ls" and reading.operands:
        one = reading.operands[0].literal if len(reading.operands) == 1 else None
        if one is not None and one.startswith("/"):  # bare names, which mean something only with that folder before them
            return Value(None, True, "names", under=normal(one), tags=tags)
        return _listed_operands(it, reading.operands, tags)
    return Value(None, True, "listed", under=it.state.cwd or "", tags=tags)


def _listed_operands(it: Interpreter, operands: list[Field], tags: frozenset[str]) -> Value:
    """`ls -d /*` prints the names that a pattern matches, with their folder in front."""
    if len(operands) != 1 or not operands[0].glob or operands[0].text is None:
        return unknown(tags)
    folder = glob_folder(it.state.absolute(operands[0].text) or "")
    prefix = operands[0].text.rpartition("/")
    return Value(None, True, "listed", prefix=prefix[0] + prefix[1], under=folder, tags=tags)


def _pattern_tags(args: list[Field]) -> frozenset[str]:
    """A pattern that asks for secret files makes what is listed a secret."""
    return frozenset((SECRET,)) if any(asks_for_secret(field.text or "") for field in args) else NO_TAGS


def asks_for_secret(pattern: str) -> bool:
    """Whether a glob or regular expression for names is about files that hold secrets."""
    plain = re.sub(r"[*?^$\\()\[\]+]", "", pattern).strip("/")
    if not plain:
        return False
    if secret_path("/" + plain) is not None or plain.startswith(".env") or plain in ("environ", "id_rsa", ".ssh", ".e", ".en"):
        return True
    last = re.sub(r"\{[^{}]*\}", "*", pattern.rpartition("/")[2])
    return pattern_asks(last, dots=True) is not None if _GLOB.search(last) else False


_GLOB = re.compile(r"[*?\[]")


def _dirname(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    texts = call.texts()
    if texts is None or len(texts) != 1 or texts[0].startswith("-"):
        return None
    whole = texts[0].rstrip("/")
    if whole == "" and texts[0]:
        return known("/\n", tags)
    folder, _, last = whole.rpartition("/")
    if call.name.endswith("dirname"):
        folder = folder.rstrip("/") or ("/" if whole.startswith("/") else ".")
    return known(byte_view(folder if call.name.endswith("dirname") else last) + "\n", tags)


def _echo(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    return echo_text(call.args)


def _printf(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    return printf_text(call.args)


def _filter(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    """head, tail, sort, uniq, grep: lines of their input, still names if those were names."""
    tags |= _asked(call, reading)
    if call.stdin.kind == "listed" and not any(f.literal is not None and "/" in f.literal for f in reading.operands):
        return call.stdin._replace(tags=call.stdin.tags | tags)
    return None


_WORDS_OF_SECRETS = re.compile(r"env|secret|\bkey|token|cred|passw|\.pem|id_rsa", re.IGNORECASE)


def _asked(call: Call, reading: Reading) -> frozenset[str]:
    """`ls | grep env`: names that are picked for being secret."""
    name = (call.fields[0].text or "").rpartition("/")[2]
    if name in ("grep", "egrep", "fgrep", "rg") and "-v" not in reading.options:
        if any(
            _WORDS_OF_SECRETS.search(f.text or "") or asks_for_secret(f.text or "")
            for f in (*reading.operands[:1], *(u.field for u in reading.uses if u.option))
        ):
            return frozenset((SECRET,))
    return NO_TAGS


def _tr(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    """Plain sets and ranges of characters."""
    words = call.texts()
    text = call.stdin.text
    if words is None or text is None:
        return None
    if len(words) == 2 and words[0] == "-d":
        drop = _tr_set(words[1])
        if not drop:
            return None
        return known("".join(c for c in text if c not in drop), call.stdin.tags | tags | {DECODED})
    if len(words) != 2 or words[0].startswith("-"):
        return None
    old, new = _tr_set(words[0]), _tr_set(words[1])
    if not old or not new:
        return None
    table = {ord(o): new[min(i, len(new) - 1)] for i, o in enumerate(old)}
    return known(text.translate(table), call.stdin.tags | tags | {DECODED})


def _tr_set(text: str) -> str:
    if "[" in text or "\\" in text:
        return {"\\n": "\n", "\\t": "\t", "\\0": "\0"}.get(text, "")
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m.group(1)), ord(m.group(2)) + 1))), text)


def _sed(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    """One substitution of literal text."""
    words = call.texts()
    text = call.stdin.text
    m = re.fullmatch(r"s([/#|,:])([\w .=-]+)\1([\w /.=-]*)\1(g?)", words[0]) if words is not None and len(words) == 1 else None
    if m is None or text is None or m.group(1) in m.group(3) or "." in m.group(2):
        return None
    lines = [line.replace(m.group(2), m.group(3), -1 if m.group(4) else 1) for line in text.split("\n")]
    return known("\n".join(lines), call.stdin.tags | tags | {DECODED})


def _openssl(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    import base64
    import binascii

    words = [f.literal or "" for f in call.args]
    if (
        "-d" in words
        and ("base64" in words or "-base64" in words or "-a" in words)
        and call.stdin.text is not None
        and "-in" not in words
    ):
        try:
            text = re.sub(r"\s", "", call.stdin.text)
            data = base64.b64decode(text, validate=False).decode("latin-1") if "=" not in text.rstrip("=") else None
        except (binascii.Error, ValueError):
            return None
        return None if data is None else known(data, tags | call.stdin.tags | {DECODED})
    return None


def _same_path(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    if len(reading.operands) == 1 and reading.operands[0].literal and reading.operands[0].literal.startswith("/"):
        return Value((byte_view(normal(reading.operands[0].literal)) + "\n",), False, tags=tags)
    return None


def _processes(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    own = any("stockade" in (f.text or "").lower() for f in call.args)
    return Value(None, False, tags=tags | {OWN}) if own else None


def _cut(it: Interpreter, call: Call, reading: Reading, tags: frozenset[str]) -> Value | None:
    """`cut -d X -f N` of known text."""
    m = re.fullmatch(r"-d ?(.) -f ?([0-9]+)", " ".join(call.texts() or []))
    text = call.stdin.text
    if m is None or text is None:
        return None
    number = int(m.group(2)) - 1
    lines = [line.split(m.group(1)) for line in text.split("\n")]
    picked = [parts[number] if 0 <= number < len(parts) else parts[0] if len(parts) == 1 else "" for parts in lines]
    return known("\n".join(picked), call.stdin.tags | tags | {DECODED})


_PRINTERS = {
    "pgrep": _processes,
    "pidof": _processes,
    "cut": _cut,
    "tr": _tr, "sed": _sed, "openssl": _openssl, "realpath": _same_path, "readlink": _same_path, "egrep": _filter, "rg": _filter,
    "base32": _base64,
    "cat": _cat, "tee": _tee, "base64": _base64, "xxd": _xxd, "rev": _rev, "which": _which, "git": _git,
    "find": _listing, "fd": _listing, "fdfind": _listing, "ls": _listing, "dirname": _dirname, "basename": _dirname,
    "echo": _echo, "printf": _printf, "head": _filter, "tail": _filter, "sort": _filter, "uniq": _filter, "grep": _filter,
}  # fmt: skip
