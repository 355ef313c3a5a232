"""What is to be said about one effect: the finding of the guards, and the row of the floor.

A row is the kind, the target, and what is found.  A target is a path, with `~` for the home folder, and
relative to the workspace; a mark in front says what is known of it: `*` a pattern, `+` the whole tree,
`?` some name below a folder, `??` any name that was listed below it.
"""

from __future__ import annotations

import pytest

from stockade.model.context import Context, FileFact
from stockade.model.decision import CheckResult
from stockade.model.effects import Effect, Kind, Segment, Target
from stockade.model.protected import guarded_path
from stockade.policy.command_checks import _segment_checks
from stockade.policy.findings import Finding, gravity, judge
from stockade.policy.floor import ROWS, floor, protected_state
from stockade.policy.policy import build

CONTEXT = Context("/home/dev/app", "/home/dev/app", "/home/dev", tmp="/tmp/own")
LINKED = CONTEXT._replace(
    files={
        "/home/dev/app/out": FileFact("link", "/etc"), "/home/dev/app/root": FileFact("link", "/"),
        "/home/dev/app/key": FileFact("link", "/home/dev/.ssh/id_rsa"),
        "/home/dev/app/hook": FileFact("link", ".git/hooks/x"),
        "/home/dev/app/own": FileFact("link", "/home/dev/.local/state/stockade"),
        "/home/dev/app/disk": FileFact("link", "/dev/sda"), "/home/dev/app/in": FileFact("link", "src"),
    }
)  # fmt: skip


def target(text: str) -> Target:
    mark = text[: len(text) - len(text.lstrip("*+?"))] if text[:1] in "*+?" else ""
    rest = text[len(mark) + 1 :] if mark else text
    path = rest.replace("~", "/home/dev", 1) if rest.startswith("~") else rest
    path = path if path.startswith("/") or not path else f"/home/dev/app/{path}"
    if "?" in mark:
        return Target(None, path, rest, listed=mark == "??")
    return Target(path, "", rest, glob="*" in mark, recursive="+" in mark)


def effect(kind: str, text: str, code: str = "") -> Effect:
    return Effect(Kind(kind), target(text), start=2, end=5, code=code)


def about(one: Effect, context: Context = CONTEXT) -> tuple[str | None, str | None]:
    finding = judge(one, context)
    hit = floor(Segment(("x",), "x", (), (("x",),), (one,), 0, 9), context)
    return finding.rule if finding is not None else None, hit.code if hit is not None else None


# -- reading --------------------------------------------------------------------------------------------

READS: list[tuple[str, str, str | None, str | None]] = [
    ("read", "src/a", None, None), ("read", "/etc/hosts", None, None), ("read", "/usr/lib/x", None, None),
    ("read", "/tmp/own/x", None, None),
    ("read", "/dev/null", None, None), ("read", "/tmp/x", "outside-project", None), ("read", "~/other", "outside-project", None),
    ("read", "~/.ssh/id_rsa", "secrets-file", None), ("read", ".env", "secrets-file", None), ("read", ".env.example", None, None),
    ("read", "/etc/shadow", "secrets-file", None), ("read", "/proc/1/environ", "secrets-file", None),
    ("read", "/proc/cpuinfo", None, None),
    ("read", "? src", None, None), ("read", "? /etc", None, None), ("read", "? ~", "outside-project", None),
    ("read", "? ", "outside-project", None),
    ("read", "?? /proc", "secrets-file", None), ("read", "?? /proc/1", "secrets-file", None),
    ("read", "?? /procs", "outside-project", None),
    ("read", "? /proc", None, None), ("read", "+ /proc", "secrets-file", None), ("read", "+ /proc/self", None, None),
    ("read", "+ src", None, None),
    ("list", "/", None, None), ("list", "/tmp", None, None), ("list", "/home", None, None),
    ("list", "+ /", "outside-project", None),
    ("list", "* /tmp/*", "outside-project", None), ("list", "~", "outside-project", None),
    ("list", "~/.ssh", "outside-project", None),
    ("list", ".env", None, None), ("list", "/root", "outside-project", None),
    ("read", "* src/*", None, None), ("read", "* ~/*", "outside-project", None), ("read", "* /etc/*", None, None),
    ("read", "* .env*", "secrets-file", None),
    ("read", "* *.env", "secrets-file", None), ("read", "* ?.env", "secrets-file", None),
    ("read", "* src/.e*", "secrets-file", None),
    ("read", "* src/.*", "secrets-file", None), ("read", "* *.pem", "secrets-file", None),
    ("read", "* *.k?y", "secrets-file", None),
    ("read", "* *.p*", "secrets-file", None), ("read", "* *.py", None, None), ("read", "* *.*", None, None),
    ("read", "* id_*", "secrets-file", None),
    ("read", "* cred*", "secrets-file", None), ("read", "* */.netrc", "secrets-file", None), ("read", "* */a.py", None, None),
    ("read", "* ~/.ssh/*", "secrets-file", None), ("read", "* /proc/*/environ", "secrets-file", None),
    ("read", "* /proc/*/e*", "secrets-file", None),
    ("read", "* /proc/*/status", None, None), ("read", "* /proc/[0-9]*", None, None), ("read", "* \\*.pem", "secrets-file", None),
    ("read", "* *", None, None), ("read", "* ??", None, None), ("read", "* *rsa", "secrets-file", None),
]  # fmt: skip
# -- writing --------------------------------------------------------------------------------------------
WRITES: list[tuple[str, str, str | None, str | None]] = [
    ("write", "src/a", "edit-in-project", None), ("edit", "src/a", "edit-in-project", None),
    ("mode", "src/a", "edit-in-project", None),
    ("write", "/tmp/own/a", "edit-in-project", None), ("write", "/dev/null", None, None), ("write", "/dev/fd/3", None, None),
    ("write", "~/x", "outside-project", None), ("write", "/etc/hosts", "outside-project", None),
    ("write", "? src", "unknown-effect", None),
    ("write", "? ~", "outside-project", None), ("write", "? ", "outside-project", None),
    ("write", "? /dev/fd", "outside-project", None),
    ("delete", "src/a", "destructive", None), ("delete", "~/x", "outside-project", None),
    ("delete", "? src", "destructive", None),
    ("write", ".env", "secrets-file", None), ("write", "~/.ssh/authorized_keys", "secrets-file", None),
    ("write", ".git/config", "git-internals", None),
    ("write", "sub/.git/hooks/x", "git-internals", None), ("write", "mirror.git/config", "git-internals", None),
    ("write", "mirror.git", "edit-in-project", None),
    ("write", ".gitignore", "edit-in-project", None), ("write", ".GIT/config", "git-internals", None),
    ("delete", ".git", "git-internals", None),
    ("write", "CLAUDE.md", "agent-config", None), ("write", "docs/agents.md", "agent-config", None),
    ("write", "CLAUDE.md/x", "edit-in-project", None),
    ("write", ".claude/settings.json", "agent-config", None), ("write", ".vscode/tasks.json", "agent-config", None),
    ("write", ".husky", "agent-config", None),
    ("write", ".github/workflows/ci.yml", "agent-config", None), ("write", ".github/x/workflows", "edit-in-project", None),
    ("write", ".cargo/config.toml", "agent-config", None), ("write", ".envrc", "agent-config", None),
    ("write", "sitecustomize.py", "agent-config", None),
    ("write", "+ .", "git-internals", None), ("write", "+ src", "edit-in-project", None),
    ("edit", "+ .", "git-internals", None),
    ("write", "* src/*", "edit-in-project", None), ("write", "* .g*/config", "git-internals", None),
    ("write", "* *git/config", "edit-in-project", None),
    ("write", "* [.]git/config", "edit-in-project", None), ("write", "* .gi[t]/x", "git-internals", None),
    ("write", "* .cl*/x", "agent-config", None), ("write", "* CL*.md", "agent-config", None),
    ("write", "* *.md", "agent-config", None), ("write", "* C*", "edit-in-project", None),
    ("write", "* .git/*", "git-internals", None),
    ("write", "* */CLAUDE.md", "agent-config", None), ("write", "* */a.md", "edit-in-project", None),
    ("write", "* *.toml", "edit-in-project", None),
    ("write", "* .claude/*.json", "agent-config", None), ("write", "* \\.git/x", "git-internals", None),
]  # fmt: skip
# -- what no mode allows ----------------------------------------------------------------------------------
FLOOR: list[tuple[str, str, str | None, str | None]] = [
    ("delete", "+ /", "outside-project", "delete-root"), ("delete", "/", "outside-project", None),
    ("delete", "* /*", "outside-project", None),
    ("delete", "*+ /*", "outside-project", "delete-root"), ("delete", "*+ /.*", "secrets-file", "delete-root"),
    ("delete", "+ ~", "outside-project", "delete-home"),
    ("delete", "*+ ~/*", "outside-project", "delete-home"), ("delete", "*+ ~/.[!.]*", "secrets-file", "delete-home"),
    ("delete", "*+ ~/*/*", "outside-project", "delete-home"),
    ("delete", "*+ ~/*/x", "outside-project", None), ("delete", "*+ ~/a*", "outside-project", None),
    ("delete", "*+ /home/d*", "outside-project", "delete-home"),
    ("delete", "+ /root", "outside-project", "delete-home"), ("delete", "+ /etc", "outside-project", "delete-system"),
    ("delete", "+ /usr/lib", "outside-project", "delete-system"),
    ("delete", "+ /usr/lib/x", "outside-project", None), ("delete", "+ /etc/x", "outside-project", None),
    ("delete", "*+ /e*", "outside-project", "delete-system"),
    ("delete", "*+ /usr/l*", "outside-project", "delete-system"), ("delete", "*+ /u*/x", "outside-project", None),
    ("delete", "*+ /z*", "outside-project", None),
    ("delete", "*+ /etc", "outside-project", "delete-system"), ("delete", "+ /home", "outside-project", "delete-system"),
    ("delete", "+ ..", "outside-project", "delete-home"),
    ("delete", "+ .", "destructive", None), ("delete", "*+ *", "destructive", None),
    ("delete", "+ src", "destructive", None), ("delete", "?? /", "outside-project", "delete-root"),
    ("delete", "?? ~", "outside-project", "delete-home"), ("delete", "?? /etc", "outside-project", "delete-system"),
    ("delete", "?? src", "destructive", None),
    ("delete", "? /", "outside-project", None), ("delete", "+ /mnt", "outside-project", None),
    ("delete", "+ /nix", "outside-project", "delete-system"),
    ("mode", "+ /", "outside-project", "mode-root"), ("mode", "/", "outside-project", None),
    ("mode", "+ /etc", "outside-project", "mode-root"),
    ("mode", "+ /srv", "outside-project", None), ("mode", "+ ~", "outside-project", None),
    ("mode", "*+ /*", "outside-project", "mode-root"),
    ("mode", "+ /usr/lib", "outside-project", None), ("mode", "+ src", "edit-in-project", None),
    ("mode", "*+ /e*", "outside-project", "mode-root"), ("mode", "?? /", "outside-project", "mode-root"),
    ("mode", "*+ ~/*", "outside-project", None),
    ("write", "/dev/sda", "outside-project", "device-write"),
    ("write", "/dev/nvme0n1p1", "outside-project", "device-write"), ("edit", "/dev/mem", "outside-project", "device-write"),
    ("delete", "/dev/sda", "outside-project", "device-write"),
    ("write", "/dev/mapper/x", "outside-project", "device-write"), ("write", "/dev/ttyS0", "outside-project", None),
    ("write", "/dev", "outside-project", None), ("write", "* /dev/sd*", "outside-project", "device-write"),
    ("write", "* /dev/*", "outside-project", "device-write"), ("write", "* /dev/tty*", "outside-project", None),
    ("write", "* /dev/shm/*", "outside-project", None), ("write", "* /dev/pts/*", "outside-project", None),
    ("write", "?? /dev", "outside-project", "device-write"), ("write", "? /dev", "outside-project", None),
    ("write", "?? src", "unknown-effect", None),
    ("mode", "/dev/sda", "outside-project", None), ("read", "/dev/sda", "outside-project", None),
    ("disk", "/dev/sda", "destructive", "mkfs"), ("disk", "disk.img", "destructive", None),
    ("disk", "~/disk.img", "destructive", "mkfs"), ("disk", "* /dev/sd*", "destructive", "mkfs"),
    ("disk", "* *.img", "destructive", None),
    ("disk", "? src", "destructive", None), ("disk", "?? /dev", "destructive", "mkfs"),
    ("write", ".stockade/config.toml", "agent-config", "self-control"),
    ("write", ".stockade/plans/a.md", "agent-config", None), ("delete", ".stockade", "agent-config", "self-control"),
    ("write", ".stockade/plans/a/b.md", "agent-config", "self-control"),
    ("write", ".stockade/plans/a.sh", "agent-config", "self-control"),
    ("write", "sub/.stockade/x", "agent-config", "self-control"),
    ("delete", "+ .stockade/plans/a.md", "agent-config", "self-control"),
    ("mode", ".stockade/x", "agent-config", "self-control"), ("read", ".stockade/config.toml", None, None),
    ("list", ".stockade", None, None),
    ("write", "~/.config/stockade/config.toml", "outside-project", "self-control"),
    ("write", "~/.config/stockadex", "outside-project", None),
    ("write", "~/.local/state/stockade/x", "outside-project", "self-control"),
    ("read", "~/.local/state/stockade/x", "outside-project", "self-control"),
    ("list", "~/.local/state/stockade", "outside-project", None),
    ("write", "* .stock*/x", "agent-config", "self-control"), ("write", "* .s*/x", "agent-config", None),
    ("delete", "*+ .*", "secrets-file", None), ("write", "* .stockade/*", "agent-config", "self-control"),
    ("write", "* .stockade/plans/*.md", "agent-config", None),
    ("write", "* ~/.local/state/stockade/*", "outside-project", None), ("write", "? .stockade", "unknown-effect", None),
    ("write", "* /dev/hd*", "outside-project", "device-write"), ("write", "* /dev/vd*", "outside-project", "device-write"),
    ("write", "* /dev/nvme*", "outside-project", "device-write"), ("write", "* /dev/mmc*", "outside-project", "device-write"),
    ("write", "* /dev/xv*", "outside-project", "device-write"), ("write", "* /dev/dm-*", "outside-project", "device-write"),
    ("write", "* /dev/md*", "outside-project", "device-write"), ("write", "* /dev/sd[a]", "outside-project", "device-write"),
    ("write", "* /dev/sd[b]", "outside-project", "device-write"), ("write", "* /dev/sd?1", "outside-project", "device-write"),
    ("write", "* /dev/nv?e0n1", "outside-project", "device-write"), ("write", "* /dev/loop*", "outside-project", None),
    ("write", "* /dev/sr*", "outside-project", None), ("write", "* /dev/fd/*", "outside-project", None),
    ("write", "* /dev/mqueue/*", "outside-project", None), ("mode", "+ /bin", "outside-project", "mode-root"),
    ("mode", "+ /boot", "outside-project", "mode-root"), ("mode", "+ /lib", "outside-project", "mode-root"),
    ("mode", "+ /lib64", "outside-project", "mode-root"), ("mode", "+ /sbin", "outside-project", "mode-root"),
    ("mode", "+ /usr", "outside-project", "mode-root"), ("mode", "+ /var", "outside-project", "mode-root"),
    ("mode", "+ /dev", "outside-project", "mode-root"), ("mode", "+ /opt", "outside-project", None),
    ("mode", "+ /home", "outside-project", None), ("mode", "+ /root", "outside-project", None),
    ("delete", "*+ ~/**", "outside-project", "delete-home"), ("delete", "*+ ~/?*", "outside-project", "delete-home"),
    ("delete", "*+ ~/*?", "outside-project", "delete-home"), ("delete", "*+ ~/[!.]*", "secrets-file", "delete-home"),
    ("delete", "*+ ~/*.*", "outside-project", "delete-home"), ("delete", "*+ ~/.??*", "secrets-file", "delete-home"),
    ("delete", "*+ ~/.[^.]*", "outside-project", "delete-home"), ("delete", "*+ ~/.?*", "secrets-file", "delete-home"),
    ("delete", "*+ ~/???", "outside-project", "delete-home"), ("delete", "*+ ~/***", "outside-project", "delete-home"),
    ("delete", "*+ ~/**/*", "outside-project", "delete-home"), ("delete", "*+ ~/[a]*", "outside-project", None),
    ("write", "* .st*/x", "agent-config", "self-control"), ("write", "* .s?ockade/x", "agent-config", None),
    ("write", "* mc*.json", "agent-config", None), ("write", "* mc?.json", "agent-config", None),
    ("write", "* m?p.json", "edit-in-project", None), ("write", "* m[c]p.json", "edit-in-project", None),
    ("write", "* mc[p].json", "agent-config", None), ("mode", "?? /etc", "outside-project", "mode-root"),
    ("mode", "?? /srv", "outside-project", None), ("mode", "*+ /usr/l*", "outside-project", None),
]  # fmt: skip
ALL = [*READS, *WRITES, *FLOOR]


@pytest.mark.parametrize(("kind", "text", "finding", "code"), ALL, ids=[f"{row[0]} {row[1]}" for row in ALL])
def test_effect(kind: str, text: str, finding: str | None, code: str | None) -> None:
    one = effect(kind, text)
    assert about(one) == (finding, code)
    said = judge(one, CONTEXT)
    if said is not None:
        assert (said.start, said.end, said.lifted, said.outer) == (2, 5, True, False)
        assert target(text).word in said.reason or said.rule in ("outside-project", "destructive")


def test_a_home_folder_at_the_top() -> None:
    there = CONTEXT._replace(home="/me")
    found = [
        about(Effect(Kind.DELETE, Target(path, glob="*" in path, recursive=True)), there)[1] for path in ("/me", "/m*", "/x*")
    ]
    assert found == ["delete-home", "delete-home", None]


def test_a_folder_that_holds_the_workspace() -> None:
    deep = CONTEXT._replace(workspace="/home/dev/work/team/app", cwd="/home/dev/work/team/app")
    found = [
        about(Effect(Kind.DELETE, Target(path, recursive=True)), deep)[1]
        for path in ("/home/dev/work", "/home/dev/work/team", deep.cwd)
    ]
    assert found == ["delete-above-workspace", "delete-above-workspace", None]


LINKS = [
    ("read", "out/hosts", None, None), ("read", "out/shadow", "secrets-file", None), ("read", "key", "secrets-file", None),
    ("write", "out/hosts", "outside-project", None),
    ("write", "hook", "git-internals", None), ("write", "key", "secrets-file", None),
    ("delete", "+ out", "outside-project", "delete-system"), ("delete", "+ root", "outside-project", "delete-root"),
    ("delete", "+ root/home/dev", "outside-project", "delete-home"), ("write", "disk", "outside-project", "device-write"),
    ("write", "own/trust.json", "outside-project", "self-control"),
    ("read", "own/trust.json", "outside-project", "self-control"), ("write", "in/a", "edit-in-project", None),
    ("read", "root/home/dev/app/src/a", None, None), ("disk", "disk", "destructive", "mkfs"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "finding", "code"), LINKS)
def test_links_are_seen_through(kind: str, text: str, finding: str | None, code: str | None) -> None:
    assert about(effect(kind, text), LINKED) == (finding, code)


CODES = [
    ("edit", "/", "move", "outside-project", None), ("edit", "+ /", "move", "outside-project", "delete-root"),
    ("edit", "+ /", "", "outside-project", None),
    ("write", "src/a", "nested", "project-code", None), ("write", "src/a", "nested-redirect", "project-code", None),
    ("write", "src/a", "redirect", "edit-in-project", None),
    ("delete", "src/a", "nested", "destructive", None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "code", "finding", "row"), CODES)
def test_how_it_comes_about(kind: str, text: str, code: str, finding: str, row: str | None) -> None:
    assert about(effect(kind, text, code)) == (finding, row)


# Effects without a path: kind, detail, code, the finding, the row.
PLAIN: list[tuple[str, str, str, Finding, str | None]] = [
    ("network", "example.com", "host", Finding("network", "contacts example.com", 2, 5), None),
    ("network", "", "", Finding("network", "contacts another machine", 2, 5), None),
    ("install", "", "", Finding("install", "installs, updates or publishes packages", 2, 5), None),
    ("privilege", "", "wrapper", Finding("privilege", "raises privilege or changes the system", 2, 5, True, True), None),
    ("destructive", "", "", Finding("destructive", "destroys data", 2, 5), None),
    ("secret", "uses a secret", "", Finding("secrets-file", "uses a secret", 2, 5), None),
    ("process", "", "", Finding("privilege", "signals or changes other processes", 2, 5), None),
    ("service", "", "", Finding("project-code", "speaks to a service of this machine", 2, 5), None),
    ("vcs", "", "", Finding("project-code", "changes the repository", 2, 5), None),
    ("execute", "", "", Finding("project-code", "runs the project's code", 2, 5), None),
    ("execute", "runs a hook", "", Finding("project-code", "runs a hook", 2, 5), None),
    ("unknown", "", "", Finding("unknown-effect", "something that is not known", 2, 5), None),
    ("disk", "", "", Finding("destructive", "overwrites a device or an image", 2, 5), None),
    ("floor", "a bomb", "fork-bomb", Finding("unknown-effect", "a bomb", 2, 5), "fork-bomb"),
    ("floor", "", "network-to-interpreter", Finding("unknown-effect", "something that is not known", 2, 5),
    "network-to-interpreter"),
    ("forced-push", "", "", Finding("destructive", "overwrites a remote branch", 2, 5), "forced-push"),
    ("hijack", "LD_PRELOAD", "", Finding("unknown-effect", "LD_PRELOAD", 2, 5, False), None),
    ("hijack", "STOCKADE_STATE_DIR", "self-control", Finding("unknown-effect", "STOCKADE_STATE_DIR", 2, 5, False),
    "self-control"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "detail", "code", "finding", "row"), PLAIN)
def test_an_effect_without_a_path(kind: str, detail: str, code: str, finding: Finding, row: str | None) -> None:
    one = Effect(Kind(kind), None, detail, 2, 5, code)
    assert judge(one, CONTEXT) == finding
    assert about(one) == (finding.rule, row)


def test_running_a_secret_is_about_the_secret() -> None:
    found = judge(Effect(Kind.EXECUTE, target(".env"), "runs it", 2, 5), CONTEXT)
    assert found == Finding("secrets-file", "runs `.env`: an environment file", 2, 5)
    assert judge(Effect(Kind.EXECUTE, target("src/a"), "runs it", 2, 5), CONTEXT) == Finding("project-code", "runs it", 2, 5)


def test_a_suffix_that_is_known_tells_a_secret() -> None:
    for suffix, wanted in ((".env", "secrets-file"), ("/.netrc", "secrets-file"), (".py", None), ("", None)):
        one = Effect(Kind.READ, Target(None, "/home/dev/app", "$x", suffix=suffix), "", 2, 5)
        assert about(one)[0] == wanted


def test_a_segment_has_its_gravest_finding_first() -> None:
    effects = (
        effect("write", "src/a"),
        Effect(Kind.UNKNOWN),
        Effect(Kind.NETWORK),
        Effect(Kind.PRIVILEGE),
        effect("read", "src/a"),
    )
    segment = Segment(("x",), "x", (), (("x",),), effects, 0, 9)
    found = sorted((f for e in segment.effects if (f := judge(e, CONTEXT)) is not None), key=gravity)
    assert [f.rule for f in found] == ["privilege", "network", "unknown-effect", "edit-in-project"]


def test_what_is_defined_and_not_run_asks_and_is_no_floor() -> None:
    segment = Segment(("x",), "x", (), (("x",),), (effect("delete", "+ /"),), 0, 9, dormant=True)
    results: list[CheckResult] = []
    _segment_checks(segment, CONTEXT, build(()), results)
    (result,) = [result for result in results if result.key == "bash"]
    assert (result.reason, result.start, result.end) == ("defined and not run: writes `/` outside the project", 2, 5)
    assert floor(segment, CONTEXT) is None
    assert floor(segment._replace(dormant=False), CONTEXT) is not None


def test_the_floor_says_where_and_why() -> None:
    what = {row.code: row.what for row in ROWS}
    hit = floor(Segment(("rm",), "rm", (), (("rm",),), (effect("read", "src/a"), effect("delete", "+ /")), 0, 9), CONTEXT)
    assert hit == ("delete-root", what["delete-root"], 2, 5)
    reached = {row[3] for row in ALL} | {row[4] for row in PLAIN} | {"delete-above-workspace"}
    assert reached - {None} == set(what)


# -- Stockade's own commands --------------------------------------------------------------------------------

OWN: list[tuple[tuple[str | None, ...], str | None]] = [
    (("stockade", "trust"), "runs Stockade, which only a person does"), (("stockade", "check", "--", "ls"), None),
    (("stockade",), None),
    (("stockade", None), "runs Stockade, which only a person does"), (("stockade", "--json", "check"),
    "runs Stockade, which only a person does"),
    (("stockaded",), None), (("stockaded", "run"), "runs Stockade, which only a person does"), (("kill", "stockade"),
    "stops Stockade"),
    (("pkill", "-f", "Stockade.daemon"), "stops Stockade"), (("pkill", "-f", None), None), (("killall", "other"), None),
    (("systemctl", "stop", "stockade"), "stops Stockade"),
    (("echo", "stockade"), None), (("python3", "-m", "stockade", "trust"), "runs Stockade, which only a person does"),
    (("python3", "-m", "stockade", "check"), None),
    (("python3", "-m", "stockade"), None), (("python3.12", "-mstockade", "stop-all"),
    "runs Stockade, which only a person does"), (("python", "-m", "stockade.cli.main", "check"),
    "runs Stockade, which only a person does"),
    (("pypy3", "-m", "stockade", "init"), "runs Stockade, which only a person does"),
    (("python3", "-Im", "stockade", "trust"), "runs Stockade, which only a person does"),
    (("python3", "-Imstockade", "trust"), "runs Stockade, which only a person does"),
    (("python3", "-m", "stockadex", "trust"), None), (("python3", "-m", "pytest", "stockade"), None), (("python3", "-m"), None),
    (("python3", "stockade/x.py"), None), (("python3", None), None), (("python3", "-c", "import stockade.store"),
    "runs Stockade's own code"),
    (("python3", "-c", "from stockade import x"), "runs Stockade's own code"), (("python3", "-c", "import stockader"),
    None), (("python3", "-c", "print('stockade')"), None), (("python3",), None),
]  # fmt: skip


@pytest.mark.parametrize(("argv", "reason"), OWN)
def test_own_commands(argv: tuple[str | None, ...], reason: str | None) -> None:
    segment = Segment(argv, argv[0], (), (argv,), (), 3, 9)
    hit = floor(segment, CONTEXT)
    assert hit == (("self-control", reason, 3, 9) if reason else None)


def test_own_folders_as_they_are_set() -> None:
    placed = CONTEXT._replace(state="/s", config="/c")
    for path, wanted in (
        ("/s/x", True),
        ("/s", True),
        ("/sx", False),
        ("/c/config.toml", True),
        ("/home/dev/.config/stockade/x", False),
    ):
        assert protected_state(Target(path), placed) is wanted
    assert about(Effect(Kind.READ, Target("/s/x")), placed)[1] == "self-control"
    assert about(Effect(Kind.READ, Target("/c/x")), placed)[1] is None


GUARDED = [
    ("/a/.git", "git-internals"), ("/a/.git/x", "git-internals"), ("/a/x.git/y", "git-internals"), ("/a/x.git", None),
    ("/a/.gitx", None), ("/.git", "git-internals"),
    ("/a/.Claude/x", "agent-config"), ("/a/Claude.MD", "agent-config"), ("/a/claude.md/x", None),
    ("/a/.github/workflows/x", "agent-config"), ("/a/.github/x", None),
    ("/a/workflows/.github", None), ("/a/.cargo/config", "agent-config"), ("/a/.cargo/x", None), ("/", None), ("/a", None),
]  # fmt: skip


@pytest.mark.parametrize(("path", "wanted"), GUARDED)
def test_guarded_path(path: str, wanted: str | None) -> None:
    assert guarded_path(path) == wanted
