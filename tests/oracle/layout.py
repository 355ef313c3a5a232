"""What the oracle's sandbox is made of: the compiled helpers, the folders, and the bwrap command.

The root file system holds only stubs under the names of programs, real copies of a few harmless ones
in `/real`, and the libraries that those need. A command therefore cannot reach a real `rm`, whatever
it does; at worst it writes into the sandbox's own temporary folders.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from stockade.shell.catalog import catalog

SUPPORT = Path(__file__).resolve().parent.parent / "support"

WORKDIR = "/w/cwd"
"""Current directory of every command; give it to the guard as well."""

HOME = "/w/home"

SEEDED = ("i", "in.txt")
"""Files that the driver puts into the working folder before each command, so that `<i` works."""

NOT_FOUND = "oracle-not-found"
"""The stub that the exported `command_not_found_handle` calls with the name that bash did not find."""

REAL_PROGRAMS = (
    *("base64", "basename", "bash", "cat", "dash", "dirname", "echo", "env", "false", "find", "nice", "nohup"),
    *("printf", "setsid", "sh", "stdbuf", "tee", "timeout", "true", "xargs"),
)
"""Programs that become real after they are logged; the table in stub.c must name the same ones."""

_OTHER_NAMES = """
    7z a apk apt apt-get ar arch aria2c as at awk b batch black bun bunzip2 bzip2 c cal cargo cc
    chattr chgrp chmod chown chroot chrt cksum clang cmake cmp column comm composer cp cpio crontab
    csplit curl cut d date dd deno df diff dig dmesg docker doas docker-compose dotnet du echo ed
    egrep eslint ex expand expr fallocate fd fdisk fgrep file flock fmt fold free ftp fuser g++ gawk
    gcc gdb gem gh git go gpg gradle grep groups gunzip gzip halt hash head helm hexdump host
    hostname htop http iconv id ifconfig insmod install ionice ip iptables java javac jobs join jq
    just kill killall kubectl last ld ldd less link ln locate logger login logname look losetup ls
    lsblk lsof lua lz4 make man mawk md5sum mkdir mkfifo mkfs mkfs.ext4 mknod mktemp mode more mount
    mv mvn mypy nano nc ncat netcat nl nmap node nohup npm npx nproc nslookup od openssl parallel
    parted passwd paste patch perl pgrep php ping pip pip3 pkill pnpm podman poetry pr prettier
    printenv ps pwd pytest python python3 readlink realpath reboot renice reset rev rg rm
    rmdir rsync ruby ruff run-parts rustc scp screen script sed seq service sftp sha1sum sha256sum
    shred shuf shutdown sleep socat sort split ssh stat strace strings strip stty su sudo sum swapoff
    sync sysctl systemctl tac tail tar taskset terraform test tmux top touch tox tr tree truncate
    tsc tsort tty umount uname unexpand uniq unlink unshare unzip uptime useradd uv uvx vi vim watch
    wc wget whereis which who whoami wipefs x xxd xz y yarn yes yq zcat zip zsh zstd [
"""

_DESCRIBED = (name for name in catalog().names() if re.fullmatch(r"[\w][\w.+-]*", name))
STUB_NAMES = sorted({*REAL_PROGRAMS, NOT_FOUND, *_OTHER_NAMES.split(), *_DESCRIBED})
"""Names under which the stub is installed; short letters make random lines run something."""


class LayoutError(Exception):
    """The sandbox cannot be put together; the text says what is missing."""


def compile_helper(name: str, target: Path) -> None:
    """Compile `support/NAME.c` statically, so that the result runs in an empty root."""
    source = SUPPORT / f"{name}.c"
    command = ["gcc", "-static", "-O2", "-std=gnu11", "-o", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LayoutError(f"gcc cannot compile `{source.name}`: {_last_line(done.stderr)}")


def build(folder: Path) -> None:
    """Fill `folder` with the driver, the stubs, the real programs and an empty argv log."""
    compile_helper("driver", folder / "driver")
    compile_helper("stub", folder / "stub")
    for name in ("stubs", "real"):
        (folder / name).mkdir()
    for name in STUB_NAMES:
        os.link(folder / "stub", folder / "stubs" / name)
    for name in REAL_PROGRAMS:
        shutil.copy(_host_path(name), folder / "real" / name)
    (folder / "argv.log").touch()


def bwrap_command(folder: Path) -> list[str]:
    """The command that starts the driver in the sandbox built in `folder`."""
    command = ["bwrap", "--unshare-user", "--unshare-all", "--uid", "1000", "--gid", "1000"]
    command += ["--cap-drop", "ALL", "--clearenv", "--die-with-parent", "--as-pid-1"]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/w", "--tmpfs", "/tmp"]
    command += ["--ro-bind", str(folder / "driver"), "/driver"]
    command += ["--ro-bind", str(folder / "real"), "/real"]
    for place in ("/usr/bin", "/bin"):
        command += ["--ro-bind", str(folder / "stubs"), place]
    command += ["--bind", str(folder / "argv.log"), "/log/argv"]
    for library in libraries(_host_path(name) for name in REAL_PROGRAMS):
        command += ["--ro-bind", os.path.realpath(library), library]
    for data in ("/usr/lib/locale/C.utf8", "/usr/libexec/coreutils"):
        command += ["--ro-bind-try", data, data]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "/driver"]


def libraries(programs: Iterable[str]) -> list[str]:
    """Shared libraries, and the loader, that `programs` need, as absolute paths."""
    found: set[str] = set()
    for program in programs:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        found.update(re.findall(r"(/\S+) \(0x", done.stdout))
    return sorted(found)


def _host_path(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise LayoutError(f"`{name}` is not installed")
    return os.path.realpath(path)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"
