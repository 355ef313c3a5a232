"""The plan of a sandbox is a value: every step of it, for requests and machines that are only described."""

from __future__ import annotations

from stockade.confine.bubblewrap import FEW, words
from stockade.confine.index import Find
from stockade.confine.plan import DENIED, PINNED, SECRET, STAYS, Facts, Kind, Limits, Mount, Place, Request, plan, wanted
from stockade.confine.repositories import Shared

WS, HOME = "/home/u/app", "/home/u"
REQUEST = Request("workspace", "off", WS, WS, HOME, {"PATH": "/usr/bin", "SSH_AUTH_SOCK": "/run/agent", "TMPDIR": "/x"})
FOLDERS = ("/usr", "/etc", "/proc/sys", "/tmp", "/run", "/var/tmp", "/var", HOME, WS, f"{HOME}/.pyenv", "/data", "/etc/ssh")


def facts(*finds: Find, folders: tuple[str, ...] = FOLDERS, **more: object) -> Facts:
    places = {path: Place(path, "folder") for path in folders} | {"/bin": Place("/bin", "link", "usr/bin")}
    places["/etc/shadow"] = Place("/etc/shadow", "file")
    return Facts(places, finds, **more)  # type: ignore[arg-type]


def steps(request: Request, known: Facts) -> list[tuple[str, str]]:
    return [(str(mount.kind), mount.target) for mount in plan(request, known).mounts]


COMMON = [
    ("read", "/usr"), ("link", "/bin"), ("read", "/etc"), ("proc", "/proc"), ("devices", "/dev"), ("read", "/proc/sys"),
    ("empty", "/tmp"), ("empty", "/run"), ("empty", "/var/tmp"), ("link", "/var/run"), ("empty", "/run/stockade/git-template"),
    ("empty", HOME), ("read", f"{HOME}/.pyenv"),
]  # fmt: skip
SYSTEM_HIDDEN = [("hide-file", "/etc/shadow"), ("hide-folder", "/etc/ssh")]


def test_workspace() -> None:
    assert steps(REQUEST, facts()) == [*COMMON, ("write", WS), *SYSTEM_HIDDEN]


def test_readonly() -> None:
    known = facts(Find(f"{WS}/.git", "git", True), git_parts=(f"{WS}/.git/hooks",))
    assert steps(REQUEST._replace(profile="readonly"), known) == [
        *COMMON, ("read", WS), *SYSTEM_HIDDEN,
    ]  # fmt: skip


def test_strict_shows_little_of_the_system_and_no_runtime_that_path_does_not_name() -> None:
    got = steps(REQUEST._replace(profile="strict"), facts())
    assert ("read", "/etc") not in got
    assert ("read", f"{HOME}/.pyenv") not in got
    named = REQUEST._replace(profile="strict", env={"PATH": f"/usr/bin:{HOME}/.pyenv/shims"})
    assert ("read", f"{HOME}/.pyenv") in steps(named, facts())


def test_what_stays_as_it_is_and_what_is_hidden() -> None:
    known = facts(
        Find(f"{WS}/.git", "git", True), Find(f"{WS}/.claude", "held", True), Find(f"{WS}/sub/.git", "gitfile"),
        Find(f"{WS}/.env", "secret"), Find(f"{WS}/s", "socket"), Find("/data/.env", "secret"),
        git_parts=(f"{WS}/.git/hooks", f"{WS}/.git/config"),
    )  # fmt: skip
    request = REQUEST._replace(read=("/data",), deny=("/data",), unmask=(f"{WS}/.env",), release=(f"{WS}/.git/config",))
    covers = [(str(m.kind), m.target, m.why) for m in plan(request, known).covers if not m.target.startswith("/etc")]
    assert covers == [
        ("write", f"{WS}/.git", PINNED), ("read", f"{WS}/.git/hooks", STAYS), ("read", f"{WS}/.claude", STAYS),
        ("read", f"{WS}/sub/.git", STAYS), ("hide-file", f"{WS}/s", "a socket of a program outside"),
        ("hide-file", "/data/.env", SECRET), ("hide-folder", "/data", DENIED),
    ]  # fmt: skip


def test_what_is_released_is_neither_kept_nor_hidden() -> None:
    finds = (Find(f"{WS}/sub/.git", "git", True), Find(f"{WS}/sub/.env", "secret"), Find(f"{WS}/.env", "secret"))
    made = plan(REQUEST._replace(release=(f"{WS}/sub",)), facts(*finds, git_parts=(f"{WS}/sub/.git/hooks",)))
    assert [mount.target for mount in made.covers if mount.target.startswith(WS)] == [f"{WS}/.env"]


def test_roots_lie_shallow_before_deep_and_writing_wins() -> None:
    request = REQUEST._replace(read=("/data", "/data/deep/er"), write=("/data/deep",))
    known = facts(folders=(*FOLDERS, "/data/deep", "/data/deep/er"))
    assert steps(request, known)[len(COMMON) : -2] == [
        ("read", "/data"), ("write", "/data/deep"), ("read", "/data/deep/er"), ("write", WS),
    ]  # fmt: skip


def test_a_root_that_is_not_there_is_named_and_left_out() -> None:
    made = plan(REQUEST._replace(write=("/none",)), facts())
    assert made.missing == ("/none",)
    assert all(mount.target != "/none" for mount in made.mounts)


def test_the_repository_of_a_linked_work_tree() -> None:
    shared = (Shared("/r/.git", False), Shared("/r/.git/worktrees/w", True), Shared("/r/.git/objects", True))
    got = steps(REQUEST, facts(shared=shared))
    assert got[len(COMMON) : -2] == [
        ("read", "/r/.git"),
        ("write", WS),
        ("write", "/r/.git/objects"),
        ("write", "/r/.git/worktrees/w"),
    ]


def test_the_whole_disk_masks_credentials_and_has_its_home() -> None:
    known = facts(folders=(*FOLDERS, f"{HOME}/.ssh"))
    made = plan(REQUEST._replace(read_all=True), known)
    assert made.mounts[0] == Mount(Kind.READ, "/", "/", "`sandbox.read` is `all`")
    assert Mount(Kind.HIDE_FOLDER, f"{HOME}/.ssh", why=SECRET) in made.mounts
    assert all(mount.target != HOME for mount in made.mounts)


def test_the_environment() -> None:
    assert plan(REQUEST, facts()).env == {
        "PATH": "/usr/bin", "TMPDIR": "/tmp", "GIT_TEMPLATE_DIR": "/run/stockade/git-template", "STOCKADE_SANDBOX": "workspace",
        "HOME": HOME,
    }  # fmt: skip


def test_every_place_that_is_mentioned_was_looked_at() -> None:
    request = REQUEST._replace(read=("/a",), write=("/b",), deny=("/c",))
    assert {"/a", "/b", "/c", WS, HOME, "/usr", "/proc/sys", f"{HOME}/.ssh", f"{HOME}/.pyenv"} <= set(wanted(request))


# -- the words of bubblewrap --------------------------------------------------------------------------


def test_bubblewrap() -> None:
    said = words(plan(REQUEST, facts(Find(f"{WS}/.env", "secret"), folders=("/usr", "/tmp", WS))), blank="/blank", staged=False)
    assert said == (
        "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--unshare-net",
        "--die-with-parent", "--hostname", "sandbox", "--cap-drop", "ALL", "--disable-userns",
        "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev",
        "--perms", "1777", "--tmpfs", "/tmp", "--perms", "0755", "--tmpfs", "/run", "--perms", "1777", "--tmpfs", "/var/tmp",
        "--perms", "0755", "--tmpfs", "/run/stockade/git-template", "--perms", "0755", "--tmpfs", HOME,
        "--bind", WS, WS, "--ro-bind", "/blank", f"{WS}/.env", "--ro-bind", "/blank", "/etc/shadow", "--remount-ro", "/",
        "--chdir", WS,
    )  # fmt: skip


def test_many_covers_are_left_to_the_inner_program() -> None:
    known = facts(*(Find(f"{WS}/{n}/.env", "secret") for n in range(FEW + 1)))
    said = words(plan(REQUEST, known), blank="/blank", staged=True)
    assert not any(word.endswith(".env") for word in said)
    assert said[said.index("--cap-add") + 1] == "CAP_SYS_ADMIN"


def test_the_network_is_shared_only_where_it_is_on() -> None:
    on = plan(REQUEST._replace(network="on", limits=Limits(seconds=1)), facts(resolver="/run/r/resolv.conf"))
    assert "--unshare-net" not in words(on, blank="/blank", staged=False)
    assert Mount(Kind.READ, "/run/r/resolv.conf", "/run/r/resolv.conf", "names are looked up there") in on.mounts
