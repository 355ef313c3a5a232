"""The catalogue of descriptions: packed, found again, packed anew where the packed file does not fit."""

from __future__ import annotations

import marshal
import os
from pathlib import Path

import pytest

from stockade.shell import catalog as module
from stockade.shell.catalog import Catalog, DescriptionError, Program, compile_text, load, pack

TEXT = 'name = "{name}"\nalso = ["{name}x"]\nsummary = "s"\nsource = "s"\noperands = "read*"\n[[example]]\ncommand = "{name}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(TEXT.format(name=name), encoding="utf-8")
    (tmp_path / "notes.md").write_text("no description", encoding="utf-8")
    return tmp_path


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that are packed while a test runs."""
    seen: list[str] = []

    def counted(where: str) -> bytes:
        seen.append(where)
        return pack(where)

    monkeypatch.setattr(module, "pack", counted)
    return seen


def cached(folder: Path) -> Path:
    return folder / "__pycache__" / "programs.bin"


def names(found: Catalog) -> list[str]:
    return sorted(found.names())


def test_descriptions_are_packed_once_and_found_again(folder: Path, packs: list[str]) -> None:
    assert names(load(str(folder))) == ["one", "onex", "two", "twox"]
    assert cached(folder).exists()
    again = load(str(folder))
    assert packs == [str(folder)]
    assert sorted(again.stems()) == ["one", "two"]
    found = again.get("onex")
    assert found is not None
    assert found.name == "one"
    assert again.get("one") is found
    assert again.get("three") is None


def test_a_description_that_changed_is_packed_anew(folder: Path, packs: list[str]) -> None:
    load(str(folder))
    (folder / "two.toml").write_text(TEXT.format(name="three"), encoding="utf-8")
    os.utime(folder / "two.toml", ns=(2**62, 2**62))
    assert "three" in names(load(str(folder)))
    assert len(packs) == 2


def test_a_description_of_another_size_is_packed_anew(folder: Path, packs: list[str]) -> None:
    load(str(folder))
    (folder / "two.toml").unlink()
    os.utime(cached(folder), ns=(2**62, 2**62))
    assert names(load(str(folder))) == ["one", "onex"]
    assert len(packs) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x05",
        b"\xff" * 40,
        (3).to_bytes(8, "little") + b"xyz",
        (5).to_bytes(8, "little") + marshal.dumps(7),
        (len(marshal.dumps((0, 0, {}, {})))).to_bytes(8, "little") + marshal.dumps((0, 0, {}, {})),
    ],
)
def test_a_packed_file_that_is_broken_is_replaced(folder: Path, packs: list[str], data: bytes) -> None:
    cached(folder).parent.mkdir()
    cached(folder).write_bytes(data)
    os.utime(cached(folder), ns=(2**62, 2**62))
    assert names(load(str(folder))) == ["one", "onex", "two", "twox"]
    assert packs == [str(folder)]
    assert names(load(str(folder))) == ["one", "onex", "two", "twox"]
    assert len(packs) == 1


def test_the_packed_file_of_a_wheel_needs_no_time(folder: Path, packs: list[str]) -> None:
    (folder / "programs.bin").write_bytes(pack(str(folder)))
    os.utime(folder / "programs.bin", ns=(1, 1))
    assert names(load(str(folder))) == ["one", "onex", "two", "twox"]
    assert packs == []


def test_the_packed_file_of_a_wheel_must_be_of_these_descriptions(folder: Path, packs: list[str]) -> None:
    (folder / "programs.bin").write_bytes(pack(str(folder)))
    (folder / "two.toml").unlink()
    assert names(load(str(folder))) == ["one", "onex"]
    assert packs == [str(folder)]


def test_a_folder_that_cannot_be_written_costs_only_time(folder: Path, packs: list[str]) -> None:
    (folder / "__pycache__").write_text("a file in the place of the folder", encoding="utf-8")
    assert names(load(str(folder))) == ["one", "onex", "two", "twox"]
    assert names(load(str(folder))) == ["one", "onex", "two", "twox"]
    assert len(packs) == 2


def test_a_name_of_two_descriptions_is_refused(folder: Path) -> None:
    (folder / "three.toml").write_text(TEXT.format(name="one"), encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"`onex?` is described in one\.toml already"):
        pack(str(folder))


def test_the_catalogue_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_default", None)
    first = module.catalog()
    assert module.catalog() is first


def compiled(text: str) -> Program:
    return Program(compile_text(f"name='x'\nsummary='s'\nsource='s'\n{text}", "x.toml"))


def test_what_a_subcommand_has_of_its_program() -> None:
    found = compiled(
        "style='single'\nreader='git'\nlanguage='shell'\nglobals='anywhere'\noptions='-a'\n[[example]]\ncommand='x'\n"
        "[sub.get]\nalso=['g']\noptions='--bb'\n[sub.put]\nsame='get'\noptions='-c'\n"
    )
    get, put = found.sub("get"), found.sub("put")
    assert get is not None
    assert put is not None
    assert found.sub("get") is get
    assert found.sub("g") is not None
    assert found.sub("other") is None
    assert (get.style, get.reader, get.language, sorted(get.options)) == ("single", "git", "shell", ["--bb", "-a"])
    assert get.long_names == ("--bb",)
    assert sorted(put.options) == ["-a", "-c"]


def test_an_option_line() -> None:
    found = compiled("""env = ["A: run", "B"]
options = '''

-a --aa FILE : write recursive
-b [X]       : info network
-c           : stop only=list drop=unknown
-d V         : operands=read+write* unknown
'''
[[example]]
command = "x"
""")
    assert found.env == {"A": "run", "B": "text"}
    assert found.options["--aa"] == found.options["-a"]
    a, b, c, d = (found.options[name] for name in ("-a", "-b", "-c", "-d"))
    assert (a.arity, a.role, a.recursive) == ("value", "write", True)
    assert (b.arity, b.info, b.effects) == ("optional", True, ("network",))
    assert (c.arity, c.stop, c.only, c.drop) == ("none", True, "list", ("unknown",))
    assert (d.operands, d.role, d.effects) == ((("read", "1"), ("write", "*")), "unknown", ())


@pytest.mark.parametrize("line", ["-a : only=odd", "-a : drop=odd", "-a : write", "-a X : odd", "FILE", "-a : operands=odd"])
def test_an_option_line_that_is_not_understood(line: str) -> None:
    with pytest.raises(DescriptionError, match=r"x\.toml"):
        compiled(f"options='{line}'\n[[example]]\ncommand='x'\n")
