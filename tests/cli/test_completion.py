"""`stockade completion`."""

from __future__ import annotations

import subprocess

import pytest

from stockade.cli.completion import SHELLS, shapes
from stockade.cli.main import COMMANDS
from stockade.policy.modes import MODES
from tests.support.required import required


def _bash(script: str, *words: str, cwd: str = ".") -> list[str]:
    """What bash offers for these words, the last of which is being typed."""
    program = script + '\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stockade; printf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-uc", program, "bash", *words], capture_output=True, text=True, check=True, cwd=cwd)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def script(cli) -> str:
    return cli("completion", "bash").out


def test_every_command_has_its_options():
    found = {shape.name: shape for shape in shapes()}
    assert set(found) == {command.name for command in COMMANDS}
    assert all("--help" in {name for flag in shape.flags for name in flag.names} for shape in found.values())


def test_bash_reads_it(script):
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("stockade", "lo"), ["log"]),
        (("stockade", "exp"), ["explain"]),
        (("stockade", "check", "--mo"), ["--mode"]),
        (("stockade", "check", "--mode", ""), [mode.name for mode in MODES]),
        (("stockade", "check", "--mode", "=", "sm"), ["smart"]),
        (("stockade", "check", "--mode", "="), [mode.name for mode in MODES]),
        (("stockade", "init", "--preset", ""), ["s-code", "mendcode", "oceancode"]),
        (("stockade", "log", "--json", "--verdict", "d"), ["deny"]),
        (("stockade", "config", ""), ["validate", "schema", "path", "-h", "--help"]),
        (("stockade", "config", "validate", "--j"), ["--json"]),
        (("stockade", "policy", "test", "--con"), ["--config", "--context"]),
        (("stockade", "completion", "z"), ["zsh"]),
        (("stockade", "check", "--", "--mo"), []),
        (("stockade", "check", "--config", ""), []),
        (("stockade", "nonsense", ""), []),
        (("stockade", "explain", "--mode", "check", "--ba"), []),
    ],
)
def test_bash_completes(script, words, wanted):
    assert _bash(script, *words) == wanted


def test_bash_completes_folders_only(script, place):
    (place.project / "folder").mkdir()
    (place.project / "file").write_text("")
    assert _bash(script, "stockade", "check", "--cwd", "f", cwd=str(place.project)) == ["folder"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_is_in_every_script(cli, shell):
    answer = cli("completion", shell)
    assert (answer.code, answer.err) == (0, "")
    assert all(command.name in answer.out for command in COMMANDS)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_read_it(cli, shell):
    program = required(shell)
    subprocess.run([program, "-n", "/dev/stdin"], input=cli("completion", shell).out, text=True, check=True)


@pytest.mark.parametrize(("line", "wanted"), [
    ("stockade lo", ["log"]), ("stockade check --mode sm", ["smart"]), ("stockade config ", ["path", "schema", "validate"]),
    ("stockade completion f", ["fish"]), ("stockade config validate --j", ["--json"]),
])  # fmt: skip
def test_fish_completes(cli, tmp_path, line, wanted):
    program = required("fish")
    path = tmp_path / "c.fish"
    path.write_text(cli("completion", "fish").out)
    done = subprocess.run([program, "-c", f"source {path}; complete -C '{line}'"], capture_output=True, text=True, check=True)
    assert [row.split("\t")[0] for row in done.stdout.splitlines()] == wanted


@pytest.mark.parametrize("args", [(), ("tcsh",), ("bash", "zsh")])
def test_bad_input(cli, args):
    assert cli("completion", *args).code == 2
