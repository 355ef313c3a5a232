"""The parts of the check, without the catalogue: the log is read right, and each kind of miss is seen."""

from __future__ import annotations

import pytest

from stockade.model.effects import Target
from tests.real.compare import Foreseen, covers, foreseen, unforeseen
from tests.real.project import PROJECT
from tests.real.sandbox import Workshop
from tests.real.trace import Change, Exec, Observed, parse_trace, split_arguments, unquote


def read(*lines: str) -> Observed:
    return parse_trace(lines, cwd="/w")


def test_relative_paths_follow_each_process() -> None:
    seen = read(
        '1 chdir("/w/a")                     = 0',
        "1 clone(child_stack=NULL, flags=SIGCHLD) = 2",
        '2 chdir("..")                       = 0',
        '2 unlink("x")                       = 0',
        '1 unlink("x")                       = 0',
    )
    assert [change.path for change in seen.changes] == ["/w/x", "/w/a/x"]


def test_child_may_speak_before_its_parent() -> None:
    seen = read(
        '1 chdir("/w/a") = 0',
        "1 vfork( <unfinished ...>",
        '2 rmdir("x") = 0',
        "1 <... vfork resumed>)              = 2",
    )
    assert seen.changed == {"/w/a/x"}


def test_interrupted_calls_are_joined() -> None:
    seen = read(
        '1 openat(AT_FDCWD</w>, "a b", O_WRONLY|O_CREAT, 0666 <unfinished ...>',
        '2 execve("/usr/bin/ls", ["ls", "-l"], 0x7ff /* 3 vars */) = 0',
        "1 <... openat resumed>)             = 3</w/a b>",
    )
    assert seen.changes == (Change("openat", "/w/a b", "/w/a b"),)
    assert seen.execs == (Exec("/usr/bin/ls", ("ls", "-l"), True),)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ('1 openat(AT_FDCWD</w>, "x", O_RDONLY|O_CLOEXEC) = 3</w/x>', set()),
        ('1 openat(5</etc>, "x", O_RDWR) = -1 EROFS (Read-only file system)', {"/etc/x"}),
        ('1 openat(AT_FDCWD</w>, "x", O_RDWR) = -1 ENOENT (No such file or directory)', set()),
        ('1 mkdir("x", 0777) = -1 EEXIST (File exists)', set()),
        ('1 renameat2(AT_FDCWD</w>, "a", 4</d>, "b", RENAME_NOREPLACE) = 0', {"/w/a", "/d/b"}),
        ("1 fchmod(3</w/x>, 0600) = 0", {"/w/x"}),
        ("1 utimensat(3</w/x>, NULL, NULL, 0) = 0", {"/w/x"}),
        ('1 symlinkat("/etc", 4</d>, "x") = 0', {"/d/x"}),
        ('1 unlink("x" <unfinished ...>', set()),
    ],
)
def test_what_counts_as_a_change(line: str, changed: set[str]) -> None:
    assert read(line).changed == changed


def test_scratch_is_what_was_made_and_removed() -> None:
    seen = read(
        '1 openat(AT_FDCWD</w>, "/tmp/t", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</tmp/t>',
        '1 openat(AT_FDCWD</w>, "/tmp/u", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</tmp/u>',
        '1 unlink("/tmp/t") = 0',
        '1 unlink("/tmp/old") = 0',
    )
    assert seen.scratch == {"/tmp/t"}


def test_contacts() -> None:
    seen = read(
        '1 connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, 16) = 0',
        '1 connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = -1 ENOENT (No such file or directory)',
        "1 sendto(3<socket:[1]>, [{nlmsg_len=20}], 20, 0, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 20",
    )
    assert seen.contacts == ("10.0.0.1:53", "/run/x")


def test_strings() -> None:
    assert split_arguments(r'"a, \"b\"", [1, {x=2, y=3}], 4</a, b>') == [r'"a, \"b\""', "[1, {x=2, y=3}]", "4</a, b>"]
    assert unquote(r'"a\n\"\\\33[\x7f"...') == 'a\n"\\\x1b[\x7f'
    assert unquote("NULL") is None


@pytest.mark.parametrize(
    ("target", "path", "covered"),
    [
        (Target("/w/x"), "/w/x", True),
        (Target("/w/./d/../x"), "/w/x", True),
        (Target("/w/d"), "/w/d/x", True),
        (Target("/w/d"), "/w/d/e/x", False),
        (Target("/w/d", recursive=True), "/w/d/e/x", True),
        (Target("/w/d", recursive=True), "/w/dx", False),
        (Target("/w/*.py", glob=True), "/w/a.py", True),
        (Target("/w/*.py", glob=True), "/w/a.txt", False),
        (Target(None, under="/w"), "/w/a/b", True),
        (Target(None, under="/w"), "/x", False),
        (Target(None), "/x", True),
    ],
)
def test_what_a_target_covers(target: Target, path: str, covered: bool) -> None:
    assert covers(target, path) is covered


NOTHING = Foreseen(anything=False, paths=(), repository=False, contact=False, programs=frozenset(("cat",)))


@pytest.mark.parametrize(
    ("command", "missed"),
    [
        ("cat README.md", []),
        ("cat README.md > copy", [f"openat `{PROJECT}/copy`"]),
        ("chmod 600 README.md; cat .env", [f"fchmodat `{PROJECT}/README.md`", "started `chmod`"]),
        ("cat < /dev/tcp/127.0.0.1/9", ["contacted `127.0.0.1:9`"]),
        ("cat <<< text", []),
    ],
)
def test_each_kind_of_miss_is_seen(workshop: Workshop, command: str, missed: list[str]) -> None:
    (run,) = workshop.run([command])
    assert unforeseen(run.observed, NOTHING) == missed


def test_commands_do_not_see_each_other(workshop: Workshop) -> None:
    commands = ["rm -r src; echo > ~/left; exit 3", "sleep 60 & exit 3", "ls ~/left src/app.py; pgrep sleep"]
    first, second, third = workshop.run(commands, limit=1)
    assert first.status == 3
    assert second.ended, "strace waits for what a command leaves running"
    assert third.stdout == "src/app.py\n"


def test_a_command_that_does_not_end_is_ended(workshop: Workshop) -> None:
    (run,) = workshop.run(["sleep 60"], limit=1)
    assert run.ended


def test_a_vague_effect_is_not_compared() -> None:
    assert foreseen("./scripts/run.sh").anything
    assert not foreseen("cat README.md").anything
