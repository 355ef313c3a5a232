"""The program that sets a sandbox up from within, and then becomes the command.  It imports nothing of Stockade.

It is started as `python3 -I -S SCRIPT FD PROGRAM ARGS…`; the descriptor gives a marshalled dict:
  mounts    every step of the plan as (kind, target, source), or None inside bubblewrap, which has made them
  covers    the steps that hide or keep, by the thousand: done here because bubblewrap's cost for them is quadratic
  blank     an empty file that nobody can read
  cwd, network, filter (of system calls), scopes (of Landlock)
Without bubblewrap it does what that does: namespaces, a new root of memory, the mounts, a first process that reaps.
Any failure ends it with 125 and a line that names the step.  Source: the manual pages of section 2 that it names.
"""

import ctypes
import fcntl
import marshal
import os
import signal
import socket
import struct
import sys
from typing import Any

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 19
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_SETATTR, PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 22, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL, SECCOMP_MODE_FILTER, LAST_CAPABILITY = 4, 2, 40
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class Scopes(ctypes.Structure):
    """struct landlock_ruleset_attr: nothing of files or ports is handled, only the scopes (ABI 6)."""

    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class Header(ctypes.Structure):
    """struct __user_cap_header_struct."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Attributes(ctypes.Structure):
    """struct mount_attr; its flags have the values of MS_RDONLY, MS_NOSUID and MS_NODEV."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("users", ctypes.c_uint64),
    )


def check(step: str, result: int) -> int:
    if result < 0:
        raise SystemExit(f"stockade: the sandbox cannot be set up: {step}: {os.strerror(ctypes.get_errno()).lower()}")
    return result


def shown(path: bytes) -> str:
    return path.decode(errors="backslashreplace")


def mount(source: bytes, target: bytes, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
    check(f"mount `{shown(target)}`", libc.mount(source, target, kind, ctypes.c_ulong(flags), data))


def bind(source: bytes, target: bytes, *, writable: bool) -> None:
    """A bind with all that is mounted below it; the flags hold for all of that (mount_setattr(2), Linux 5.12)."""
    mount(source, target, None, MS_BIND | MS_REC)
    wanted = Attributes(MS_NOSUID | MS_NODEV | (0 if writable else MS_RDONLY), 0, 0, 0)
    done = libc.syscall(MOUNT_SETATTR, AT_FDCWD, target, AT_RECURSIVE, ctypes.byref(wanted), ctypes.sizeof(wanted))
    check(f"restrict `{shown(target)}`", done)


def memory(target: bytes, data: bytes, *, flags: int = MS_NOSUID | MS_NODEV) -> None:
    mount(b"tmpfs", target, b"tmpfs", flags, data)


def cover(kind: str, target: bytes, source: bytes, blank: bytes) -> None:
    if kind == "hide-folder":
        memory(target, b"mode=0000,size=4k", flags=MS_NOSUID | MS_NODEV | MS_RDONLY)
    else:
        bind(blank if kind == "hide-file" else source, target, writable=kind == "write")


# -- without bubblewrap ---------------------------------------------------------------------------


def enter(*, network: bool) -> None:
    """Namespaces of its own: user_namespaces(7).  The user stays the same inside."""
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
    check("namespaces", libc.unshare(flags | (0 if network else CLONE_NEWNET)))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(text)


def build(mounts: list[tuple[str, bytes, bytes]], *, network: bool) -> None:
    """A new root of memory with every step of the plan in it; what is not in it does not exist."""
    mount(b"none", b"/", None, MS_REC | MS_SLAVE)
    memory(b"/tmp", b"mode=0755")
    os.chdir("/tmp")
    os.mkdir("root")
    os.mkdir("old")
    pivot(b".", b"old")
    os.chdir("/")
    mount(b"root", b"root", None, MS_BIND)  # a mount point, so that it can become the root
    for kind, target, source in mounts:
        step(kind, b"/root" + target, source)
    if not network:
        loopback()
    check("name", libc.sethostname(b"sandbox", 7))
    check("leave the host's files", libc.umount2(b"/old", MNT_DETACH))
    os.chdir("/root")
    pivot(b".", b".")
    check("leave the first root", libc.umount2(b".", MNT_DETACH))
    mount(b"none", b"/", None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def pivot(new: bytes, old: bytes) -> None:
    check("change the root", libc.syscall(PIVOT_ROOT[os.uname().machine], new, old))


def step(kind: str, target: bytes, source: bytes) -> None:
    if kind == "link":
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(source, target)
    elif kind in ("read", "write"):
        place(target, folder=os.path.isdir(b"/old" + source))
        bind(b"/old" + source, target, writable=kind == "write")
    elif kind == "proc":
        place(target, folder=True)
        mount(b"proc", target, b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    elif kind == "devices":
        place(target, folder=True)
        devices(target)
    else:
        place(target, folder=True)
        memory(target, b"mode=1777" if target in (b"/root/tmp", b"/root/var/tmp") else b"mode=0755")


def place(target: bytes, *, folder: bool) -> None:
    """A mount point.  Only in our own memory can one be missing: the plan mentions no place that does not exist."""
    if folder:
        os.makedirs(target, exist_ok=True)
    elif not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def devices(target: bytes) -> None:
    memory(target, b"mode=0755", flags=MS_NOSUID)
    for name in DEVICES:
        path = target + b"/" + name.encode()
        place(path, folder=False)
        mount(b"/old/dev/" + name.encode(), path, None, MS_BIND)
    os.mkdir(target + b"/pts")
    os.mkdir(target + b"/shm")
    mount(b"devpts", target + b"/pts", b"devpts", MS_NOSUID | MS_NOEXEC, b"newinstance,ptmxmode=0666,mode=620")
    memory(target + b"/shm", b"mode=1777")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1"}
    for name, to in {**links, "stderr": "/proc/self/fd/2", "core": "/proc/kcore"}.items():
        os.symlink(to.encode(), target + b"/" + name.encode())


def loopback() -> None:
    """A new network has a loopback that is down: netdevice(7)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        asked = fcntl.ioctl(handle, SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        (flags,) = struct.unpack("16xH22x", asked)
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))


def status_of(child: int) -> int:
    """Waits for a child, reaping whatever else ends in the meantime; gives its code, 128 + n for a signal."""
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


# -- the last steps -------------------------------------------------------------------------------


def drop_privilege() -> None:
    check("capabilities", libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    for number in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # one that is not there any more answers EPERM
    check("capabilities", libc.capset(ctypes.byref(Header(0x20080522, 0)), ctypes.create_string_buffer(24)))
    check("no new privileges", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def restrict(scopes: int) -> None:
    """Landlock: no abstract socket of a program outside, where the network is not its own."""
    ruleset = check("landlock", libc.syscall(LANDLOCK_CREATE, ctypes.byref(Scopes(0, 0, scopes)), ctypes.sizeof(Scopes), 0))
    check("landlock", libc.syscall(LANDLOCK_RESTRICT, ruleset, 0))
    os.close(ruleset)


def become(told: dict[str, Any], command: list[str]) -> None:
    for kind, target, source in told["covers"]:
        cover(kind, target, source, told["blank"])
    os.chdir(told["cwd"])
    drop_privilege()
    if told["scopes"]:
        restrict(told["scopes"])
    if told["filter"]:
        program = Program(len(told["filter"]) // 8, told["filter"])
        check("system calls", libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and a program would inherit that
    os.execvp(command[0], command)  # noqa: S606 - the command itself


def main() -> None:
    with os.fdopen(int(sys.argv[1]), "rb") as stream:
        told = marshal.loads(stream.read())
    os.close(int(os.path.basename(sys.argv[0])))  # this program's own text
    if told["mounts"] is not None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        enter(network=told["network"])
        first = os.fork()
        if first:
            os._exit(status_of(first))
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        build(told["mounts"], network=told["network"])
        child = os.fork()
        if child:
            for number in range(3, 64):
                try:
                    os.close(number)
                except OSError:
                    continue
            drop_privilege()
            os._exit(status_of(child))
    become(told, sys.argv[2:])


if __name__ == "__main__":
    try:
        main()
    except SystemExit as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(125)
    except OSError as error:
        print(f"stockade: the sandbox cannot be set up: {(error.strerror or 'error').lower()}", file=sys.stderr, flush=True)
        os._exit(125)
