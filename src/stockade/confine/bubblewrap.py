"""The plan in the words of bubblewrap.  Pure but for the two files that it names.

bubblewrap reads /proc/self/mountinfo for every mount, so that the cost of covers is quadratic (measured: 68 ms for 100,
3.8 s for 1,000).  Above `FEW` of them the covers are left to `inner`, a small program inside, which also loads the filter
of system calls then, because that filter refuses mounts.  bubblewrap lets only root keep the power for that.
"""

from __future__ import annotations

from collections.abc import Iterable

from stockade.confine.plan import Kind, Mount, SandboxPlan

FEW = 24
_WORDS: dict[Kind, str] = {Kind.READ: "--ro-bind", Kind.WRITE: "--bind", Kind.LINK: "--symlink"}


def words(plan: SandboxPlan, *, blank: str, staged: bool) -> tuple[str, ...]:
    """The options for a plan.  `blank` is an empty file that nobody can read; `staged` leaves the covers to `inner`.

    They go through `--args`, so that neither their number nor a process list shows or bounds them.
    """
    options = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if plan.network == "off":
        options.append("--unshare-net")
    options += ["--die-with-parent", "--hostname", "sandbox", "--cap-drop", "ALL"]
    if staged:
        options += ["--cap-add", "CAP_SYS_ADMIN"]
    else:
        options.append("--disable-userns")
    for mount in plan.base if staged else plan.mounts:
        options += _mount(mount, blank)
    if not any(mount.target == "/" for mount in plan.mounts):
        options += ["--remount-ro", "/"]
    return (*options, "--chdir", plan.cwd)


def _mount(mount: Mount, blank: str) -> Iterable[str]:
    kind = mount.kind
    if kind in _WORDS:
        return (_WORDS[kind], mount.source, mount.target)
    if kind is Kind.EMPTY:
        return ("--perms", "1777" if mount.target in ("/tmp", "/var/tmp") else "0755", "--tmpfs", mount.target)
    if kind is Kind.PROC:
        return ("--proc", mount.target)
    if kind is Kind.DEVICES:
        return ("--dev", mount.target)
    if kind is Kind.HIDE_FILE:
        return ("--ro-bind", blank, mount.target)
    return ("--perms", "0000", "--tmpfs", mount.target, "--remount-ro", mount.target)
