"""The architecture as one table, and the sizes that keep a file readable."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "stockade"
MAX_LINES = 500
MAX_FUNCTION = 60
LAYERS: dict[str, frozenset[str]] = {
    "version": frozenset(),
    "model": frozenset(),
    "secrets": frozenset(("model",)),
    "shell": frozenset(("model", "secrets")),
    "policy": frozenset(("model", "secrets", "shell")),
    "store": frozenset(("model", "secrets")),
    "vcs": frozenset(("model",)),
    "confine": frozenset(("model", "secrets", "vcs")),
    "config": frozenset(("model", "secrets", "shell", "policy", "store")),
    "engine": frozenset(("model", "secrets", "shell", "policy", "config", "store", "vcs", "confine")),
    "bench": frozenset(),
    "cli": frozenset(("model", "secrets", "shell", "policy", "config", "store", "confine", "engine", "bench", "version")),
    "__main__": frozenset(("cli",)),
    "__init__": frozenset(("version",)),
}
"""What a package may import of Stockade, besides itself.  Imports point down only."""

PURE = ("model", "secrets", "shell", "policy")
"""Values in, values out: these packages touch no file, process, socket, clock or environment."""

WORLD = frozenset(
    ("os", "io", "sys", "pathlib", "subprocess", "socket", "shutil", "tempfile", "glob", "time", "random", "threading", "asyncio",
     "signal", "fcntl", "pwd", "urllib", "http", "ctypes", "importlib", "logging")
)  # fmt: skip
MAY_TOUCH = {"shell/catalog.py": frozenset(("os",)), "shell/readers/__init__.py": frozenset(("importlib",))}
"""The exceptions: the descriptions of programs are data files of the package, and a reader is loaded when it is needed."""

WORLD_CALLS = frozenset(("open", "input", "print", "eval", "exec", "__import__"))


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")


def package_of(name: str) -> str:
    return name.partition("/")[0].removesuffix(".py")


def imported(text: str) -> Iterator[str]:
    """The modules that a source imports, also inside functions; `from stockade import x` names `stockade.x`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "stockade":
                yield from (f"stockade.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


def upward(name: str, text: str) -> list[str]:
    """The imports of a source that its layer does not allow."""
    package = package_of(name)
    found = {module.split(".")[1] for module in imported(text) if module.startswith("stockade.")}
    return sorted(found - LAYERS[package] - {package})


def test_every_package_has_its_layer() -> None:
    assert {package_of(name) for name, _ in sources()} == set(LAYERS)


def test_layers_form_no_circle() -> None:
    for package, below in LAYERS.items():
        assert all(package not in LAYERS[other] for other in below)


def test_imports_point_down() -> None:
    assert {name: found for name, text in sources() if (found := upward(name, text))} == {}


def test_the_core_touches_nothing() -> None:
    found = {}
    for name, text in sources():
        if package_of(name) in PURE:
            touched = {module.partition(".")[0] for module in imported(text)} & WORLD
            found[name] = sorted(touched - MAY_TOUCH.get(name, frozenset()))
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_the_core_calls_nothing_of_the_world() -> None:
    found = []
    for name, text in sources():
        if package_of(name) not in PURE or name in MAY_TOUCH:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLD_CALLS:
                found.append(f"{name}:{node.lineno}: {node.func.id}")
    assert found == []


def test_modules_are_short() -> None:
    """A longer module says why in its docstring, in a sentence with the word `long`."""
    found = {}
    for name, text in sources():
        lines = text.count("\n")
        if lines > MAX_LINES and "long" not in (ast.get_docstring(ast.parse(text)) or "").lower().split():
            found[name] = lines
    assert found == {}


def test_functions_are_short() -> None:
    found = {}
    for name, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION:
                    found[f"{name}:{node.name}"] = lines
    assert found == {}


def test_every_module_says_what_it_is() -> None:
    assert [name for name, text in sources() if not ast.get_docstring(ast.parse(text)) and text.strip()] == []


@pytest.mark.parametrize(("name", "text", "wanted"), [
    ("model/x.py", "from stockade.policy.rules import Rule", ["policy"]),
    ("policy/x.py", "def f():\n    import stockade.cli.main", ["cli"]),
    ("policy/x.py", "from stockade import engine", ["engine"]),
    ("policy/x.py", "from stockade.policy.rules import Rule\nfrom stockade.model.action import Action", []),
])  # fmt: skip
def test_upward_imports_are_seen(name: str, text: str, wanted: list[str]) -> None:
    assert upward(name, text) == wanted
