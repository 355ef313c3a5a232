"""A seccomp filter as bytes: classic BPF, computed from the table of refused calls.  Pure.

The program looks at the architecture, then at the number of the call, then for four calls at their arguments.
Source: seccomp(2), bpf(4); struct seccomp_data is {int nr; u32 arch; u64 ip; u64 args[6]}.
"""

from __future__ import annotations

import errno
import struct

from stockade.confine import calls

_LD_ABS, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH = 0, 4
_Rule = tuple[int, int, int, int]


def supported(machine: str) -> bool:
    """Whether there is a filter for a machine, as `os.uname().machine` names it."""
    return machine in calls.AUDIT_ARCH


def filter_for(machine: str) -> bytes:
    """The filter for a machine: an array of `struct sock_filter`, as bwrap's `--seccomp` and prctl(2) take it.

    Raises KeyError for a machine that has none; ask `supported` first.
    """
    program: list[_Rule] = [
        _load(_ARCH),
        (_JEQ, 1, 0, calls.AUDIT_ARCH[machine]),
        (_RET, 0, 0, _KILL),  # a call of another architecture: its numbers mean other things
        _load(_NUMBER),
    ]
    if machine == "x86_64":
        program += [(_JGE, 0, 1, calls.X32_BIT), (_RET, 0, 0, _error("ENOSYS"))]
    for row in calls.REFUSED:
        number = row.x86_64 if machine == "x86_64" else row.aarch64
        if number is not None:
            program += [(_JEQ, 0, 1, number), (_RET, 0, 0, _error(row.errno))]
    for number, block in (
        (calls.CLONE[machine], _clone()),
        (calls.SOCKET[machine], _socket()),
        (calls.SOCKETPAIR[machine], _socketpair()),
        (calls.IOCTL[machine], _ioctl()),
    ):
        program += [(_JEQ, 0, len(block), number), *block]
    program.append((_RET, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *rule) for rule in program)


def _load(offset: int) -> _Rule:
    return (_LD_ABS, 0, 0, offset)


def _argument(at: int) -> _Rule:
    """The lower half of an argument: all that these four calls look at is 32 bits wide."""
    return _load(16 + 8 * at)


def _error(name: str) -> int:
    return _ERRNO | int(getattr(errno, name))


def _clone() -> list[_Rule]:
    return [_argument(0), (_JSET, 0, 1, calls.NEW_NAMESPACES), (_RET, 0, 0, _error("EPERM")), (_RET, 0, 0, _ALLOW)]


def _socket() -> list[_Rule]:
    block: list[_Rule] = [_argument(0)]
    families = sorted(calls.FAMILIES)
    for at, family in enumerate(families):
        block.append((_JEQ, len(families) - at, 0, family))
    block.append((_RET, 0, 0, _error("EAFNOSUPPORT")))
    netlink: list[_Rule] = [_argument(2), (_JEQ, 1, 0, calls.NETLINK_ROUTE), (_RET, 0, 0, _error("EPERM")), (_RET, 0, 0, _ALLOW)]
    block += [(_JEQ, 0, len(netlink), calls.AF_NETLINK), *netlink]
    return [*block, *_no_datagrams()]


def _socketpair() -> list[_Rule]:
    return [_argument(0), *_no_datagrams()]


def _no_datagrams() -> list[_Rule]:
    """Family in the accumulator: a datagram socket of AF_UNIX can be sent to any path, also one end of a pair."""
    block: list[_Rule] = [_argument(1), (_AND, 0, 0, calls.SOCK_TYPE_MASK)]
    for kind in calls.DATAGRAMS:
        block += [(_JEQ, 0, 1, kind), (_RET, 0, 0, _error("EPERM"))]
    return [(_JEQ, 0, len(block), calls.AF_UNIX), *block, (_RET, 0, 0, _ALLOW)]


def _ioctl() -> list[_Rule]:
    block = [_argument(1)]
    for request in calls.TERMINAL_REQUESTS:
        block += [(_JEQ, 0, 1, request), (_RET, 0, 0, _error("EPERM"))]
    return [*block, (_RET, 0, 0, _ALLOW)]
