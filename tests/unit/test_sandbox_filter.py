"""The filter of system calls, run by an interpreter of classic BPF that is written here and nowhere else."""

from __future__ import annotations

import errno
import struct

import pytest

from stockade.confine import calls
from stockade.confine.seccomp import filter_for, supported

ALLOW, KILL = 0x7FFF0000, 0x80000000


def answer(machine: str, number: int, *args: int, arch: int | None = None) -> int:
    """What the filter answers to a call; slow and plain."""
    given = [*args, *[0] * (6 - len(args))]
    data = struct.pack("=IIQ6Q", number, calls.AUDIT_ARCH[machine] if arch is None else arch, 0, *given)
    program = list(struct.iter_unpack("=HBBI", filter_for(machine)))
    at = accumulator = 0
    while True:
        code, yes, no, k = program[at]
        at += 1
        if code == 0x06:
            return int(k)
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, k)
        elif code == 0x54:
            accumulator &= k
        else:
            held = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            at += yes if held else no


def refused(name: str) -> int:
    return 0x50000 | int(getattr(errno, name))


MACHINES = ("x86_64", "aarch64")


@pytest.mark.parametrize("machine", MACHINES)
def test_every_row_of_the_table(machine: str) -> None:
    for row in calls.REFUSED:
        number = row.x86_64 if machine == "x86_64" else row.aarch64
        if number is not None:
            assert (row.name, answer(machine, number)) == (row.name, refused(row.errno))


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_not_listed_is_allowed(machine: str) -> None:
    listed = {row.x86_64 if machine == "x86_64" else row.aarch64 for row in calls.REFUSED}
    special = {table[machine] for table in (calls.CLONE, calls.SOCKET, calls.SOCKETPAIR, calls.IOCTL)}
    for number in range(470):
        if number not in listed | special:
            assert answer(machine, number) == ALLOW, number


ARGUMENTS = [
    ("SOCKET", (1, 1), None), ("SOCKET", (1, 5), None), ("SOCKET", (1, 2), "EPERM"), ("SOCKET", (1, 3), "EPERM"),
    ("SOCKET", (1, 2 | 0o2000000), "EPERM"), ("SOCKET", (2, 2), None), ("SOCKET", (10, 1), None), ("SOCKET", (16, 3, 0), None),
    ("SOCKET", (16, 3, 9), "EPERM"), ("SOCKET", (16, 3, 12), "EPERM"), ("SOCKET", (17, 3), "EAFNOSUPPORT"),
    ("SOCKET", (40, 1), "EAFNOSUPPORT"), ("SOCKET", (38, 5), "EAFNOSUPPORT"), ("SOCKETPAIR", (1, 1), None),
    ("SOCKETPAIR", (1, 2), "EPERM"), ("CLONE", (0x1200011,), None), ("CLONE", (0x10000011,), "EPERM"),
    ("CLONE", (0x20000,), "EPERM"), ("IOCTL", (0, 0x5412), "EPERM"), ("IOCTL", (0, 0x541C), "EPERM"),
    ("IOCTL", (0, 0x5401), None),
    ("IOCTL", (0, 0x100005412), "EPERM"),
]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("call", "args", "error"), ARGUMENTS)
def test_four_calls_by_their_arguments(machine: str, call: str, args: tuple[int, ...], error: str | None) -> None:
    got = answer(machine, getattr(calls, call)[machine], *args)
    assert got == (ALLOW if error is None else refused(error))


def test_numbers_of_another_architecture() -> None:
    assert answer("x86_64", 1, arch=0x40000003) == KILL
    assert answer("x86_64", calls.X32_BIT | 1) == refused("ENOSYS")
    assert not supported("riscv64")
