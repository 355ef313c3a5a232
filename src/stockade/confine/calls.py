"""The system calls that a confined command may not make: a table with a reason a row.

A row is refused with EPERM unless it says otherwise.  Numbers are those of x86-64 and AArch64, from the kernel's
tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h); None where an architecture has
no such call.  What is not listed is allowed: the namespaces and mounts are what confines, this takes away the parts
of the kernel that no build, test or server needs and that have led out of sandboxes before.
"""

from __future__ import annotations

from typing import NamedTuple


class Refused(NamedTuple):
    """One system call that is refused, and why."""

    name: str
    x86_64: int | None
    aarch64: int | None
    reason: str
    errno: str = "EPERM"


REFUSED: tuple[Refused, ...] = (
    # reaching into other processes
    Refused("ptrace", 101, 117, "reads and writes another process"),
    Refused("process_vm_readv", 310, 270, "reads another process's memory"),
    Refused("process_vm_writev", 311, 271, "writes another process's memory"),
    Refused("pidfd_getfd", 438, 438, "takes a descriptor out of another process"),
    Refused("kcmp", 312, 272, "compares what two processes hold in the kernel"),
    Refused("process_madvise", 440, 440, "advises on another process's memory"),
    # namespaces and mounts
    Refused("unshare", 272, 97, "makes namespaces of its own, and with them new rights in the kernel"),
    Refused("setns", 308, 268, "enters another namespace"),
    Refused("mount", 165, 40, "changes what is mounted"),
    Refused("umount2", 166, 39, "uncovers what a mount hides"),
    Refused("pivot_root", 155, 41, "changes the root"),
    Refused("chroot", 161, 51, "changes the root"),
    Refused("open_tree", 428, 428, "the newer interface to mounts"),
    Refused("move_mount", 429, 429, "the newer interface to mounts"),
    Refused("fsopen", 430, 430, "the newer interface to mounts"),
    Refused("fsconfig", 431, 431, "the newer interface to mounts"),
    Refused("fsmount", 432, 432, "the newer interface to mounts"),
    Refused("fspick", 433, 433, "the newer interface to mounts"),
    Refused("mount_setattr", 442, 442, "the newer interface to mounts"),
    Refused("open_tree_attr", 467, 467, "the newer interface to mounts"),
    Refused("clone3", 435, 435, "its flags lie where a filter cannot look; C libraries fall back to clone", "ENOSYS"),
    # parts of the kernel with a history
    Refused("bpf", 321, 280, "loads programs into the kernel"),
    Refused("perf_event_open", 298, 241, "observes the whole machine"),
    Refused("userfaultfd", 323, 282, "halts the kernel in the middle of a copy"),
    Refused("io_uring_setup", 425, 425, "makes system calls that no filter sees"),
    Refused("io_uring_enter", 426, 426, "makes system calls that no filter sees"),
    Refused("io_uring_register", 427, 427, "makes system calls that no filter sees"),
    Refused("add_key", 248, 217, "the kernel's key rings know no namespaces"),
    Refused("request_key", 249, 218, "the kernel's key rings know no namespaces"),
    Refused("keyctl", 250, 219, "the kernel's key rings know no namespaces"),
    Refused("name_to_handle_at", 303, 264, "names a file past all mounts"),
    Refused("open_by_handle_at", 304, 265, "opens a file past all mounts"),
    Refused("vmsplice", 278, 75, "gives pages of memory to a pipe"),
    # the machine itself
    Refused("kexec_load", 246, 104, "starts another kernel"),
    Refused("kexec_file_load", 320, 294, "starts another kernel"),
    Refused("init_module", 175, 105, "loads a kernel module"),
    Refused("finit_module", 313, 273, "loads a kernel module"),
    Refused("delete_module", 176, 106, "removes a kernel module"),
    Refused("reboot", 169, 142, "ends the machine"),
    Refused("swapon", 167, 224, "changes the machine's memory"),
    Refused("swapoff", 168, 225, "changes the machine's memory"),
    Refused("acct", 163, 89, "changes the machine's accounting"),
    Refused("quotactl", 179, 60, "changes quotas"),
    Refused("settimeofday", 164, 170, "sets the machine's clock"),
    Refused("clock_settime", 227, 112, "sets the machine's clock"),
    Refused("adjtimex", 159, 171, "sets the machine's clock"),
    Refused("clock_adjtime", 305, 266, "sets the machine's clock"),
    Refused("sethostname", 170, 161, "names the machine"),
    Refused("setdomainname", 171, 162, "names the machine"),
    Refused("syslog", 103, 116, "reads the kernel's log"),
    Refused("lookup_dcookie", 212, 18, "names files for a profiler"),
    Refused("iopl", 172, None, "reaches the hardware"),
    Refused("ioperm", 173, None, "reaches the hardware"),
    Refused("modify_ldt", 154, None, "changes how memory is addressed"),
    Refused("uselib", 134, None, "loads a library in a way that nothing uses", "ENOSYS"),
    Refused("nfsservctl", 180, 42, "is gone from the kernel", "ENOSYS"),
    Refused("_sysctl", 156, None, "is gone from the kernel", "ENOSYS"),
    Refused("create_module", 174, None, "is gone from the kernel", "ENOSYS"),
)

CLONE = {"x86_64": 56, "aarch64": 220}
NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET; clone(2) itself has no CLONE_NEWTIME."""

SOCKET = {"x86_64": 41, "aarch64": 198}
SOCKETPAIR = {"x86_64": 53, "aarch64": 199}
FAMILIES = {1: "AF_UNIX", 2: "AF_INET", 10: "AF_INET6", 16: "AF_NETLINK"}
"""The families of sockets that are allowed; any other is refused with EAFNOSUPPORT."""
AF_UNIX, SOCK_TYPE_MASK = 1, 0xF
DATAGRAMS = {2: "SOCK_DGRAM", 3: "SOCK_RAW, which the kernel takes for SOCK_DGRAM"}
AF_NETLINK, NETLINK_ROUTE = 16, 0
"""Of netlink only routes and addresses, which programs ask for their own interfaces."""

IOCTL = {"x86_64": 16, "aarch64": 29}
TERMINAL_REQUESTS = {0x5412: "TIOCSTI: types into the terminal", 0x541C: "TIOCLINUX: pastes into a console"}

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
