"""The descriptions of programs: read from TOML, checked, compiled, found by name.

`docs/program-format.md` is the normative description of the format.  The compiled form of all files
lies in one data file, written beside the byte code that Python itself caches and trusted as that is;
a decision unpacks only the programs that it meets.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

PATH_ROLES = frozenset(("read", "list", "write", "edit", "move", "delete", "mode", "disk"))
ROLES = PATH_ROLES | {
    "text", "run", "load", "shell", "code", "script", "argv", "env", "host", "remote", "remote-write",
    "rev", "refspec", "unknown",
}  # fmt: skip
EFFECTS = frozenset(
    ("network", "install", "privilege", "destructive", "execute", "secret", "process", "service", "vcs",
     "forced-push", "hijack", "unknown")
)  # fmt: skip
STYLES = frozenset(("gnu", "posix", "single", "none"))
_KEYS = frozenset(
    ("name", "also", "summary", "source", "style", "numeric", "recursive", "effects", "operands", "implied",
     "options", "env", "runs", "language", "stdin", "reader", "sub", "bare", "globals", "same", "example")
)  # fmt: skip
_TEXTS = frozenset(
    ("name", "summary", "source", "style", "operands", "implied", "options", "language", "stdin", "reader", "bare",
     "globals", "same")
)  # fmt: skip
_LISTS = frozenset(("also", "effects", "env", "runs"))
_FORMAT = 7
_MARSHAL = 4  # a version that every supported Python reads
_FOLDER = os.path.join(os.path.dirname(__file__), "programs")


class DescriptionError(ValueError):
    """A description that does not follow the format; the message names file, place and remedy."""


class Option(NamedTuple):
    """One option: `arity` is `none`, `value` or `optional` (attached only)."""

    name: str
    arity: str = "none"
    role: str = "text"
    effects: tuple[str, ...] = ()
    operands: tuple[tuple[str, str], ...] | None = None
    only: str = ""
    drop: tuple[str, ...] = ()
    recursive: bool = False
    info: bool = False
    stop: bool = False


class Program:
    """A compiled description, of a program or of one of its subcommands."""

    __slots__ = (
        "_known_subs",
        "bare",
        "effects",
        "env",
        "globals_anywhere",
        "implied",
        "language",
        "long_names",
        "name",
        "numeric",
        "operands",
        "options",
        "reader",
        "recursive",
        "runs",
        "source",
        "stdin",
        "style",
        "subs",
        "summary",
    )  # fmt: skip

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.name: str = raw["name"]
        self.summary: str = raw["summary"]
        self.source: str = raw["source"]
        self.style: str = raw["style"]
        self.numeric: bool = raw["numeric"]
        self.recursive: bool = raw["recursive"]
        self.effects: tuple[str, ...] = raw["effects"]
        self.operands: tuple[tuple[str, str], ...] = raw["operands"]
        self.implied: str = raw["implied"]
        self.language: str = raw["language"]
        self.stdin: str = raw["stdin"]
        self.reader: str = raw["reader"]
        self.runs: tuple[str, ...] = raw["runs"]
        self.bare: str = raw["bare"]
        self.globals_anywhere: bool = raw["globals"]
        self.env: dict[str, str] = raw["env"]
        self.options: dict[str, Option] = {name: Option(*values) for name, values in raw["options"].items()}
        self.long_names: tuple[str, ...] = tuple(n for n in self.options if n.startswith("--"))
        self.subs: dict[str, bytes] = raw["subs"]  # each packed, and unpacked when it is met
        self._known_subs: dict[str, Program] = {}

    def sub(self, name: str) -> Program | None:
        """The description of a subcommand; its options include the program's where those may follow."""
        known = self._known_subs.get(name)
        if known is not None:
            return known
        packed = self.subs.get(name)
        if packed is None:
            return None
        program = self._known_subs[name] = Program(marshal.loads(packed))
        program.reader = program.reader or self.reader
        program.language = program.language or self.language
        if self.globals_anywhere:
            program.options = self.options | program.options
            program.long_names = tuple(n for n in program.options if n.startswith("--"))
            program.globals_anywhere = True
        return program


# -- reading one file -----------------------------------------------------------------------------


def compile_text(text: str, where: str) -> dict[str, Any]:
    """The compiled form of one TOML file; raises DescriptionError with file and remedy."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers and nesting without end
        raise DescriptionError(f"{where}: not valid TOML: {error}") from None
    for key in ("name", "summary", "source", "example"):
        if not table.get(key):
            raise DescriptionError(f"{where}: the key `{key}` is missing")
    return _compile(table, where, table["name"])


def _compile(table: Mapping[str, Any], where: str, name: str) -> dict[str, Any]:
    unknown = set(table) - _KEYS
    if unknown:
        raise DescriptionError(f"{where}: unknown key `{sorted(unknown)[0]}` in `{name}`")
    for key, value in table.items():
        wrong = _wrong_type(key, value)
        if wrong:
            raise DescriptionError(f"{where}: `{key}` of `{name}` {wrong}")
    style = table.get("style", "gnu")
    if style not in STYLES:
        raise DescriptionError(f"{where}: `style` of `{name}` is none of {', '.join(sorted(STYLES))}")
    return {
        "name": name,
        "summary": table.get("summary", ""),
        "source": table.get("source", ""),
        "style": style,
        "numeric": bool(table.get("numeric", False)),
        "recursive": bool(table.get("recursive", False)),
        "effects": _effects(table.get("effects", []), where, name),
        "operands": _operands(table.get("operands", ""), where, name),
        "implied": table.get("implied", ""),
        "language": table.get("language", ""),
        "stdin": table.get("stdin", ""),
        "reader": table.get("reader", ""),
        "runs": tuple(table.get("runs", ())),
        "bare": table.get("bare", ""),
        "globals": table.get("globals", "") == "anywhere",
        "env": dict(_variable(line) for line in table.get("env", [])),
        "options": _options(table.get("options", ""), where, name),
        "subs": _subs(table.get("sub", {}), where, name, style),
    }


def _wrong_type(key: str, value: Any) -> str:
    if key in _TEXTS and not isinstance(value, str):
        return "is no text"
    if key in _LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        return "is no list of texts"
    if key == "sub" and not (isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())):
        return "holds something that is no table of a subcommand"
    if key == "example" and not (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
        return "is no list of tables"
    return ""


def _subs(table: Mapping[str, Any], where: str, parent: str, style: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, sub in table.items():
        full = {"style": style, **sub}
        if "same" in sub:
            if sub["same"] not in table:
                raise DescriptionError(f"{where}: `same` of `{parent} {name}` names no subcommand")
            full = {"style": style, **table[sub["same"]], **{k: v for k, v in sub.items() if k != "same"}}
        also = full.pop("also", [])
        compiled = marshal.dumps(_compile(full, where, f"{parent} {name}"), _MARSHAL)
        for one in (name, *also):
            found[one] = compiled
    return found


def _effects(words: list[str], where: str, name: str) -> tuple[str, ...]:
    for word in words:
        if word not in EFFECTS:
            raise DescriptionError(f"{where}: `{word}` in `{name}` is no effect")
    return tuple(words)


def _operands(text: str, where: str, name: str) -> tuple[tuple[str, str], ...]:
    found = []
    for word in text.split():
        role, count = (word[:-1], word[-1]) if word[-1] in "*?" else (word, "1")
        if role not in ROLES and role not in EFFECTS:
            raise DescriptionError(f"{where}: `{role}` in the operands of `{name}` is no role")
        found.append((role, count))
    if sum(count == "*" for _, count in found) > 1:
        raise DescriptionError(f"{where}: two starred operands in `{name}`")
    return tuple(found)


def _variable(line: str) -> tuple[str, str]:
    name, _, role = line.partition(":")
    return name.strip(), role.strip() or "text"


def _options(text: str, where: str, name: str) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        head, _, tail = line.partition(" : ")
        names = [w for w in head.split() if w[0] in "-+"]
        values = [w for w in head.split() if w[0] not in "-+"]
        if not names or len(values) > 1:
            raise DescriptionError(f"{where}: the option line `{line.strip()}` of `{name}` is not understood")
        arity = "none" if not values else "optional" if values[0].startswith("[") else "value"
        option = _option(names[0], arity, tail.split(), f"{where}: `{line.strip()}` of `{name}`")
        for one in names:
            found[one] = tuple(option)
    return found


def _option(name: str, arity: str, words: list[str], where: str) -> Option:
    option = Option(name, arity)
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key == "operands":
            option = option._replace(operands=_operands(value.replace("+", " "), where, name))
        elif equals and key == "only" and value in ROLES:
            option = option._replace(only=value)
        elif equals and key == "drop" and value in EFFECTS:
            option = option._replace(drop=(*option.drop, value))
        elif word in ("recursive", "info", "stop"):
            option = _flagged(option, word)
        elif word in EFFECTS and not (word == "unknown" and arity != "none" and option.role == "text"):
            option = option._replace(effects=(*option.effects, word))
        elif word in ROLES and arity != "none":
            option = option._replace(role=word)
        else:
            raise DescriptionError(f"{where}: `{word}` is neither a role of the value, an effect nor a directive")
    return option


def _flagged(option: Option, word: str) -> Option:
    if word == "recursive":
        return option._replace(recursive=True)
    return option._replace(info=True) if word == "info" else option._replace(stop=True)


# -- the catalogue --------------------------------------------------------------------------------


class Catalog:
    """Finds descriptions by the name of the program, and unpacks them when they are needed.

    `places` says where the packed form of each description lies in `data`.
    """

    __slots__ = ("_data", "_index", "_places", "_programs")

    def __init__(self, data: memoryview, places: Mapping[str, tuple[int, int]], index: Mapping[str, str]) -> None:
        self._data = data
        self._places = places
        self._index = index
        self._programs: dict[str, Program] = {}

    def get(self, name: str) -> Program | None:
        stem = self._index.get(name)
        if stem is None:
            return None
        program = self._programs.get(stem)
        if program is None:
            start, end = self._places[stem]
            program = self._programs[stem] = Program(marshal.loads(self._data[start:end]))
        return program

    def names(self) -> Iterator[str]:
        """Every name that a described program goes by."""
        return iter(self._index)

    def stems(self) -> Iterator[str]:
        """Every described program once."""
        return iter(self._places)


def pack(folder: str = _FOLDER) -> bytes:
    """Compiles every description of a folder into one data file."""
    import tomllib

    blobs: list[bytes] = []
    places: dict[str, tuple[int, int]] = {}
    index: dict[str, str] = {}
    at = 0
    for file in sorted(os.listdir(folder)):
        stem, dot, ending = file.rpartition(".")
        if not dot or ending != "toml":
            continue
        with open(os.path.join(folder, file), encoding="utf-8") as stream:
            text = stream.read()
        blobs.append(marshal.dumps(compile_text(text, file), _MARSHAL))
        places[stem] = (at, at + len(blobs[-1]))
        at += len(blobs[-1])
        table = tomllib.loads(text)
        for name in (table["name"], *table.get("also", [])):
            if index.setdefault(name, stem) != stem:
                raise DescriptionError(f"{file}: `{name}` is described in {index[name]}.toml already")
    head = marshal.dumps((_FORMAT, _looks(folder)[0], places, index), _MARSHAL)
    return len(head).to_bytes(8, "little") + head + b"".join(blobs)


def _looks(folder: str) -> tuple[int, int]:
    """A sum over names and sizes of the descriptions, and the time of the newest."""
    total, newest = 0, 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".toml"):
                facts = entry.stat()
                total += facts.st_size * 31 + sum(entry.name.encode())
                newest = max(newest, facts.st_mtime_ns)
    return total, newest


def _unpack(path: str, looks: int, *, newer_than: int) -> Catalog | None:
    try:
        if os.stat(path).st_mtime_ns < newer_than:
            return None
        with open(path, "rb") as stream:
            return _opened(stream.read(), looks)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def _opened(data: bytes, looks: int) -> Catalog | None:
    """The catalogue in a packed file, None where it is of another format or of other descriptions."""
    size = int.from_bytes(data[:8], "little")
    version, sizes, places, index = marshal.loads(data[8 : 8 + size])
    return Catalog(memoryview(data)[8 + size :], places, index) if version == _FORMAT and sizes == looks else None


_default: Catalog | None = None


def catalog() -> Catalog:
    """The descriptions that come with Stockade."""
    global _default
    if _default is None:
        _default = load()
    return _default


def load(folder: str = _FOLDER) -> Catalog:
    """Reads the packed file of a folder, or packs it anew where that is missing or older.

    The packed file of a wheel is made when the wheel is built; in a checkout it lies in `__pycache__`.
    """
    looks, newest = _looks(folder)
    shipped = _unpack(os.path.join(folder, "programs.bin"), looks, newer_than=0)
    if shipped is not None:
        return shipped
    cached = os.path.join(folder, "__pycache__", "programs.bin")
    found = _unpack(cached, looks, newer_than=newest)
    if found is not None:
        return found
    data = pack(folder)
    _store(cached, data)
    made = _opened(data, looks)
    assert made is not None
    return made


def _store(path: str, data: bytes) -> None:
    """Keeps the packed file for the next start; a folder that cannot be written costs only time."""
    scratch = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(scratch, "wb") as stream:
            stream.write(data)
        os.replace(scratch, path)
    except OSError:
        return
