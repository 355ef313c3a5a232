"""`stockade programs`."""

from __future__ import annotations

import pytest

from stockade.cli.programs import entries, grouped
from stockade.shell.catalog import catalog


def test_the_table_has_every_program_once(cli):
    lines = cli("programs").out.splitlines()
    assert len(lines) == len(list(catalog().stems())) + 2
    assert lines[-1] == f"{len(lines) - 2} programs; `stockade programs NAME` shows one"
    sort = next(line for line in lines if line.startswith("sort "))
    assert sort.split(maxsplit=2) == ["sort", "gsort", "sort lines of text files"]


def test_json_is_an_array(cli):
    value = cli("programs", "--json").json()
    assert isinstance(value, list)
    assert {name for entry in value for name in (entry["name"], *entry["also"])} == set(catalog().names())
    assert all(entry["summary"] and entry["source"] for entry in value)


def test_one_program(cli):
    out = cli("programs", "gsort").out
    for line in (
        "sort: sort lines of text files", "  source    sort(1), GNU coreutils 9.1",
        "  -o --output                 takes a path that is written",
        "  --compress-program          takes a program that is run",
        "  ask (allow in smart)  sort -u -odata/out.txt data/users.csv",
    ):  # fmt: skip
        assert line in out.splitlines()


def test_a_subcommand(cli):
    out = cli("programs", "git", "push").out
    assert out.startswith("git push\n  effects   network, vcs\n")
    assert "  -f --force" in out
    assert "  deny  git push origin +topic:main" in out
    assert "git log" not in out


def test_one_as_json(cli):
    (value,) = cli("programs", "git", "--json").json()
    assert (value["name"], value["subcommands"]["push"]["effects"]) == ("git", ["network", "vcs"])
    force = next(o for o in value["subcommands"]["push"]["options"] if "--force" in o["names"])
    assert (force["names"], force["effects"]) == (["-f", "--force"], ["forced-push"])
    assert {e["want"] for e in value["examples"]} == {"allow", "ask", "deny"}


def test_every_program_can_be_shown(cli):
    from stockade.cli.programs import _examples, _json, _text

    for entry in entries():
        examples = _examples([entry.program.name])
        assert examples
        assert _text(entry, examples, on=False)
        assert _json(entry)["name"] == entry.program.name


def test_no_option_is_lost():
    for entry in entries():
        assert sorted(name for names, _ in grouped(entry.program) for name in names) == sorted(entry.program.options)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("gitt",), "there is no description of `gitt`; did you mean"),
        (("git", "psuh"), "`git` has no subcommand `psuh`; did you mean `push`?"),
        (("zz\x1b[2J",), "there is no description of `zz⟨U+001B⟩[2J` (see `stockade programs`)"),
    ],
)
def test_unknown_names(cli, args, said):
    answer = cli("programs", *args)
    assert (answer.code, answer.out) == (1, "")
    assert said in answer.err


def test_bad_input(cli):
    assert cli("programs", "--nonsense").code == 2


ADDED = """name = "deploy"
summary = "our own deploy"
source = "docs/deploy.md"
operands = "read*"
options = "--live : network"
[[example]]
command = "deploy src"
want = "allow"
[[example]]
command = "deploy --live"
want = "{want}"
"""


def _added(folder, want="ask"):
    path = folder / "programs" / "deploy.toml"
    path.parent.mkdir(parents=True)
    path.write_text(ADDED.format(want=want))
    path.chmod(0o600)
    return path


def test_an_added_description_is_shown_and_used(cli, place):
    assert cli("check", "--", "deploy src").code == 10
    _added(place.config)
    assert cli("check", "--", "deploy src").code == 0
    lines = cli("programs").out.splitlines()
    assert lines[lines.index("added") + 1].split()[:4] == ["deploy", "our", "own", "deploy"]
    out = cli("programs", "deploy").out
    assert "  --live  network" in out
    assert "  allow  deploy src" in out
    (value,) = cli("programs", "deploy", "--json").json()
    assert (value["layer"], value["held"], value["examples"][1]) == ("user", False, {"command": "deploy --live", "want": "ask"})
    assert cli("policy", "test").out == "2 examples and 0 cases: 2 passed, 0 failed\n"


def test_an_example_of_an_added_description_that_fails(cli, place):
    path = _added(place.config, want="allow")
    done = cli("policy", "test")
    assert done.code == 1
    assert f"{path}: deploy --live  (in default)" in done.out
    assert done.out.endswith("2 examples and 0 cases: 1 passed, 1 failed\n")


def test_a_projects_description_is_held_until_trusted(cli, place):
    path = _added(place.project / ".stockade")
    assert cli("check", "--", "deploy src").code == 10
    assert "held: it only makes answers stricter" in cli("programs", "deploy").out
    shown = cli("trust").out
    assert ".stockade/programs/deploy.toml" in shown
    assert "programs.deploy" in shown
    assert cli("trust", "--yes").code == 0
    assert cli("check", "--", "deploy src").code == 0
    assert "project  read" in cli("config", "path").out
    path.write_text(path.read_text() + "\n")
    assert cli("check", "--", "deploy src").code == 10


def test_a_project_with_a_broken_or_linked_description_cannot_be_trusted(cli, place):
    path = _added(place.project / ".stockade", want="perhaps")
    assert "has errors" in cli("trust", "--yes").err
    path.write_text(ADDED.format(want="ask"))
    other = path.rename(place.home / "deploy.toml")
    path.symlink_to(other)
    assert "is a symbolic link" in cli("trust", "--yes").err
    assert cli("check", "--", "deploy src").code == 10


def test_text_of_a_project_is_never_shown_as_it_is(cli, place):
    path = _added(place.project / ".stockade")
    path.write_text(ADDED.format(want="ask").replace("our own deploy", r"our \u001b[31mown\u202e deploy"))
    shown = cli("programs", "deploy").out + cli("programs").out + cli("trust").out
    assert "own" in shown
    assert not [c for c in shown if c in "\x1b\u202e"]
