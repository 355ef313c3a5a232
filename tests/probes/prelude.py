"""Pasted in front of each Python probe: nothing of the project can be imported inside a sandbox.

A probe says what happened in lines `PROBE ok` and `PROBE refused ERRNO`; anything else that ends it
is a broken probe, which never counts as held.  The constants (WORKSPACE, OUTSIDE, HOME, ...) stand
between this text and the probe's own; `probe.py` writes them.
"""

import ctypes
import errno
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)

# (x86_64, aarch64); -1 where the machine has no such call.
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "fsopen": (430, 430), "init_module": (175, 105),
    "io_uring_setup": (425, 425), "ioperm": (173, -1), "iopl": (172, -1), "kcmp": (312, 272), "kexec_load": (246, 104),
    "keyctl": (250, 219), "landlock_create_ruleset": (444, 444), "lookup_dcookie": (212, 18), "mknodat": (259, 33),
    "modify_ldt": (154, -1), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41), "process_madvise": (440, 440), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218), "sethostname": (170, 161),
    "setns": (308, 268), "shmat": (30, 196), "shmget": (29, 194), "swapon": (167, 224), "syslog": (103, 116),
    "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip


def checked(answer):
    """A C call's answer, or its errno as an exception."""
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS}


def syscall(name, *args):
    """The kernel's answer to a call by name; a number goes as a C long, everything else as ctypes takes it."""
    number = NUMBERS[name][0 if platform.machine() == "x86_64" else 1]
    if number < 0:
        raise OSError(errno.ENOSYS, "no such call here")
    return syscall_number(number, *args)


def syscall_number(number, *args):
    """As `syscall`, for a number that stands in no table."""
    libc.syscall.restype = ctypes.c_long
    return checked(libc.syscall(ctypes.c_long(number), *(ctypes.c_long(one) if isinstance(one, int) else one for one in args)))


def say(result, detail=""):
    sys.stdout.flush()
    os.write(1, f"\nPROBE {result} {detail}".rstrip().encode("utf-8", "backslashreplace") + b"\n")


def attempt(call, *args):
    """Do `call` and say whether the system let it happen."""
    try:
        answer = call(*args)
    except OSError as error:
        say("refused", errno.errorcode.get(error.errno, f"E{error.errno}"))
        return None
    except MemoryError:
        say("refused", "ENOMEM")
        return None
    say("ok")
    return answer


def reaches(name, *args):
    """Say whether the kernel looks at the call at all: an argument that it finds wrong is no refusal."""

    def call():
        try:
            return syscall(name, *args)
        except OSError as error:
            if error.errno in REFUSALS:
                raise
            return -1

    return attempt(call)


def seen(yes, detail=""):
    """Say `ok` when what should be hidden is there."""
    say("ok", detail) if yes else say("refused", "ABSENT")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text="changed by a probe\n"):
    with open(path, "w") as file:
        file.write(text)


def append(path, text="appended by a probe\n"):
    with open(path, "a") as file:
        file.write(text)


def extend(path, text="appended by a probe\n"):
    """Append to a file that must exist: a private folder of the same name is no way out."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, text.encode())
    os.close(descriptor)


def rewrite(path):
    """Open an existing file for writing and change nothing."""
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def same_value(path):
    """Write a setting's own value back."""
    value = read(path)
    with open(path, "wb", buffering=0) as file:
        file.write(value)


def child(call):
    """Run `call` in a forked child; the answer is its exit status: 0, the errno that it met, or minus a signal."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            call()
            code = 0
        except OSError as error:
            code = error.errno
        finally:
            os._exit(code)
    _, ended = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(ended)


def leaks(path, needle):
    """Say whether the text of a masked file can be read."""
    try:
        text = read(path)
    except OSError as error:
        say("refused", errno.errorcode.get(error.errno, "?"))
    else:
        seen(needle.encode() in text)


def status(code):
    """Turn the exit status of `child` into an exception: 0 is well, the child's errno otherwise."""
    if code:
        raise OSError(code if code > 0 else errno.EPERM, "in the child")
