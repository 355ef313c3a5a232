"""The documentation says what is so: pages are up to date, links lead somewhere, examples run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from docs import generate, scan
from stockade.cli.main import COMMANDS
from stockade.config.problems import CODES
from stockade.config.settings import SETTINGS
from stockade.model.action import KEYS
from stockade.model.effects import Kind
from stockade.policy.evaluate import PRECEDENCE
from stockade.policy.findings import GUARDS, ORDER
from stockade.policy.floor import ROWS
from stockade.policy.modes import MODES
from stockade.policy.rules import LAYERS
from stockade.shell.catalog import EFFECTS, ROLES, catalog
from tests.support.required import required

ROOT = generate.ROOT
LAWS = (
    "floor_stands", "adding_a_deny_never_loosens", "exact_grant_covers_only_its_digest", "sequence_is_at_least_as_strict",
    "unknown_is_never_on_the_safe_list", "unevaluable_counts_at_its_strictest", "parse_print_identity", "explain_is_enforce",
)  # fmt: skip
SKIPPED = frozenset((".git", ".venv", "node_modules", "mutants", "dist", "build"))
PLACEHOLDERS = re.compile(r"\b(?:TODO|FIXME|TBD|XXX|lorem ipsum|coming soon)\b", re.IGNORECASE)
MACHINE_PATHS = re.compile(r"(?<![\w./~-])/(?:work|Users/\w+|root/\w+)/\w+")


def pages() -> list[Path]:
    """Every Markdown file of the repository."""
    found = (path for path in ROOT.rglob("*.md") if not SKIPPED & set(path.relative_to(ROOT).parts))
    return sorted(path for path in found if not path.relative_to(ROOT).parts[0].startswith("."))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def missing(name: str, codes: list[str]) -> list[str]:
    """The codes that a page does not show as code."""
    text = text_of(name)
    return [code for code in codes if f"`{code}`" not in text]


# -- generated pages ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(generate.PAGES))
def test_the_page_is_up_to_date(name: str) -> None:
    path = ROOT / "docs" / name
    assert path.is_file(), "run `python docs/generate.py`"
    assert path.read_text(encoding="utf-8") == generate.PAGES[name](), "run `python docs/generate.py`"


def test_no_reference_page_is_left_over() -> None:
    found = {f"reference/{path.name}" for path in (ROOT / "docs" / "reference").iterdir()}
    assert found == {name for name in generate.PAGES if name.startswith("reference/")}


# -- everything is somewhere ----------------------------------------------------------------------


def test_every_setting_has_its_row() -> None:
    assert missing("docs/reference/settings.md", [s.name for s in SETTINGS]) == []


def test_every_mode_has_its_row() -> None:
    assert missing("docs/reference/modes.md", [name for m in MODES for name in (m.name, *m.aliases) if name]) == []


def test_every_rule_id_has_its_row() -> None:
    ids = [f"floor/{row.code}" for row in ROWS] + [f"smart/{name}" for name in ORDER] + [f"mode/{m.name}" for m in MODES]
    ids += sorted(set(GUARDS.values())) + [name for name in sorted(scan.literals("guard/")) if not name.endswith("/")]
    assert missing("docs/reference/rules.md", ids) == []


def test_every_code_has_its_row() -> None:
    codes = [*CODES, *generate.batch_codes(), *generate.refusals()]
    assert missing("docs/reference/errors.md", codes) == []


def test_every_problem_that_is_made_has_a_code() -> None:
    made = scan.literals("config/", ROOT / "src" / "stockade" / "config")
    assert made - set(CODES) == set()


def test_every_command_and_option_is_there() -> None:
    text = text_of("docs/reference/commands.md")
    for command in COMMANDS:
        assert f"## stockade {command.name}\n" in text
        for action in import_module(f"stockade.cli.{command.module}").parser()._actions:
            assert all(f"`{name}" in text for name in action.option_strings if name not in ("-h", "--help"))


def test_every_effect_role_and_program_is_there() -> None:
    assert missing("docs/reference/effects.md", [*(k.value for k in Kind), *sorted(EFFECTS | ROLES)]) == []
    assert missing("docs/program-format.md", sorted(EFFECTS | ROLES)) == []
    assert missing("docs/reference/programs.md", list(catalog().names())) == []


def test_every_variable_is_there() -> None:
    names: set[str] = set()
    for folder in ("src", "tests"):
        for _, tree in scan.trees(ROOT / folder):
            texts = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
            names |= {t for t in texts if re.fullmatch(r"STOCKADE_[A-Z_]*[A-Z]|XDG_(?:CONFIG|STATE)_HOME", t)}
    assert missing("docs/reference/environment.md", sorted(names)) == []


def test_the_decision_model_names_everything_that_decides() -> None:
    model = "docs/decision-model.md"
    assert missing(model, [*KEYS, *LAYERS, *LAWS]) == []
    text = text_of(model)
    rows = [f"| {stage.number} | {stage.name} |" for stage in PRECEDENCE]
    assert [row for row in rows if row not in text] == []
    assert [mode.name for mode in MODES if f"`{mode.name}`" not in text] == []


def test_the_catalogue_allows_nothing() -> None:
    assert [line for line in text_of("docs/attack-catalogue.md").splitlines() if "| allow |" in line] == []


# -- links, words ---------------------------------------------------------------------------------


def without_code(text: str) -> str:
    """A page without what it shows as code."""
    text = re.sub(r"^(`{3,}).*?^\1`*\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "`code`", text)


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_left_to_be_written(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert PLACEHOLDERS.findall(without_code(text)) == []
    assert MACHINE_PATHS.findall(text) == []


# -- README ---------------------------------------------------------------------------------------

SHOWN = "/home/dev/app"
"""What the page shows as the folder in which its examples run."""

Step = tuple[str, str]
"""A command as a shell would get it, and what the page shows below it."""


def console_blocks(text: str) -> list[list[Step]]:
    """The commands of every ```console block, each with the lines shown below it."""
    return [_steps(block) for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def _steps(block: str) -> list[Step]:
    steps: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], ""))
        elif line.startswith("> "):
            steps[-1] = (f"{steps[-1][0]}\n{line[2:]}", "")
        else:
            steps[-1] = (steps[-1][0], steps[-1][1] + line + "\n")
    return steps


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder in which the examples run: a repository with two files, and `stockade` on the path."""
    root = tmp_path_factory.mktemp("readme")
    app = root / "app"
    for folder in (app / "src", root / "bin", root / "home"):
        folder.mkdir(parents=True)
    (app / "src" / "app.py").write_text("print(1)\n")
    (app / ".env").write_text("A=1\n")
    program = root / "bin" / "stockade"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stockade "$@"\n')
    program.chmod(0o755)
    env = {
        "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(root / "home"), "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT / "src"), "STOCKADE_STATE_DIR": str(root / "state"), "STOCKADE_CONFIG_DIR": str(root / "config"),
        "STOCKADE_MANAGED_CONFIG": str(root / "managed.toml"),
    }  # fmt: skip
    subprocess.run(["git", "init", "-q", "-b", "main", str(app)], check=True, env=env)
    return app, env


def ran(command: str, project: tuple[Path, dict[str, str]]) -> str:
    folder, env = project
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=60,
    )  # fmt: skip
    return done.stdout.replace(str(folder), SHOWN) + (f"[exit {done.returncode}]\n" if done.returncode else "")


def test_the_examples_of_the_readme_run(project: tuple[Path, dict[str, str]]) -> None:
    """Each shows its whole output, and `[exit N]` where it fails.

    Lines with `…` are left out on the page; they stand for any number of lines.
    """
    required("git")
    steps = [step for block in console_blocks(text_of("README.md")) for step in block]
    assert len(steps) >= 6
    for command, shown in steps:
        wanted = "".join(".*" if line == "…" else re.escape(line) + "\n" for line in shown.splitlines())
        got = ran(command, project)
        assert re.fullmatch(wanted, got, re.DOTALL), f"{command}\n--- shown\n{shown}--- got\n{got}"
