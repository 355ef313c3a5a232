"""Mutation testing of `policy/`: `python tools/mutants.py run FOLDER`, then `python tools/mutants.py report FOLDER`.

`run` copies the sources and the tests of the policy into an empty FOLDER and starts mutmut there, so that
nothing in the clone changes; it takes about an hour on two cores.  `report` prints one line a module and, with
`--survivors`, the change that each surviving mutant made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("test_findings.py", "test_patterns.py", "test_precedence.py", "test_decisions.py")
SETTINGS = f"""
[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["src", "."]
addopts = "-p no:cacheprovider"

[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/stockade/policy/*.py"]
also_copy = ["src", "tests"]
pytest_add_cli_args_test_selection = {[*(f"tests/unit/{name}" for name in TESTS), "tests/laws"]}
timeout_multiplier = 10.0
timeout_constant = 5.0
"""
_SURVIVED = {0: "survived", None: "not run", 33: "no test"}  # an exit code of pytest, or one of mutmut's own


def prepare(folder: Path) -> None:
    """Copies what the mutants and their tests need."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(SETTINGS)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    for part in ("corpus", "laws", "support"):
        shutil.copytree(ROOT / "tests" / part, folder / "tests" / part, ignore=ignored)
    (folder / "tests" / "unit").mkdir()
    for name in ("__init__.py", *(f"unit/{test}" for test in TESTS), "unit/__init__.py"):
        if (ROOT / "tests" / name).exists():
            shutil.copy(ROOT / "tests" / name, folder / "tests" / name)


def outcomes(folder: Path) -> dict[str, dict[str, str]]:
    """For each module, what became of each mutant: `killed`, `survived`, `no test` or `not run`."""
    found = {}
    for path in sorted((folder / "mutants" / "src" / "stockade" / "policy").glob("*.meta")):
        codes = json.loads(path.read_text())["exit_code_by_key"]
        found[path.name.removesuffix(".py.meta")] = {key: _SURVIVED.get(code, "killed") for key, code in codes.items()}
    return found


def report(folder: Path, *, survivors: bool) -> None:
    total: Counter[str] = Counter()
    for module, mutants in outcomes(folder).items():
        counts = Counter(mutants.values())
        total.update(counts)
        if mutants:
            print(_line(module, counts))
    print(_line("all", total))
    if survivors:
        for mutants in outcomes(folder).values():
            for key in (key for key, outcome in mutants.items() if outcome != "killed"):
                shown = subprocess.run([_mutmut(), "show", key], cwd=folder, capture_output=True, text=True, check=False).stdout
                changed = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
                print(f"\n{key} ({mutants[key]})", *changed, sep="\n")


def _line(name: str, counts: Counter[str]) -> str:
    tested = counts.total() - counts["not run"]
    rest = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()) if outcome != "killed")
    return (
        f"{name:<15} {counts['killed']:>5} of {tested:>5} killed ({counts['killed'] / max(tested, 1):.1%}); {rest or 'none left'}"
    )


def _mutmut() -> str:
    return str(Path(sys.executable).parent / "mutmut")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--survivors", action="store_true")
    options = parser.parse_args()
    if options.what == "run":
        prepare(options.folder)
        few = {**os.environ, "HYPOTHESIS_PROFILE": "quick"}  # few examples of each law: most mutants die of the first
        subprocess.run([_mutmut(), "run", "--max-children", options.jobs], cwd=options.folder, env=few, check=False)
    report(options.folder, survivors=options.survivors)


if __name__ == "__main__":
    main()
