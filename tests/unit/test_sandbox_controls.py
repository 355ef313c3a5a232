"""What a plan holds on a machine, what it must, and what a command's errors say was refused."""

from __future__ import annotations

import pytest

from stockade.confine.ability import Ability
from stockade.confine.controls import controls, unmet
from stockade.confine.index import Find
from stockade.confine.plan import Facts, Limits, Place, Request, SandboxPlan, plan
from stockade.confine.refusals import refusals

WS = "/home/u/app"
GOOD = Ability("/usr/bin/bwrap", "", True, "x86_64", 7, 1000)


def made(network: str = "off", profile: str = "workspace", limits: Limits = Limits()) -> SandboxPlan:  # noqa: B008 - frozen
    request = Request(profile, network, WS, WS, "/home/u", {}, limits=limits)
    places = {path: Place(path, "folder") for path in ("/usr", "/etc", WS, "/home/u", "/tmp", "/run")}
    return plan(request, Facts(places, (Find(f"{WS}/.env", "secret"),), (f"{WS}/.git/hooks",)))


def levels(sandbox: SandboxPlan, able: Ability, holds: frozenset[str] | None = None) -> dict[str, str]:
    return {control.name: control.level for control in controls(sandbox, able, holds)}


def test_all_is_full_where_all_is_there() -> None:
    assert set(levels(made(), GOOD).values()) == {"full"}
    assert unmet(made(), controls(made(), GOOD)) == ()


LEVELS = [
    (made("on"), GOOD, None, {"network": "none"}),
    (made("on"), GOOD._replace(landlock=4), None, {"network": "none", "sockets": "partial"}),
    (made("on"), GOOD._replace(namespaces=False), None, {"network": "none", "sockets": "partial"}),
    (made(), GOOD._replace(machine="riscv64"), None, {"system calls": "none"}),
    (made(limits=Limits(memory=1, processes=1)), GOOD, frozenset(), {"bound on memory": "partial"}),
    (made(limits=Limits(memory=1, processes=1)), GOOD._replace(uid=0), frozenset(),
     {"bound on memory": "partial", "bound on processes": "none"}),
    (made(limits=Limits(memory=1, processes=1)), GOOD._replace(uid=0), frozenset(("memory", "processes")), {}),
    (made(limits=Limits(cpu_seconds=1, file_size=1, seconds=1, output=1)), GOOD, None, {"bound on computing": "partial"}),
]  # fmt: skip


@pytest.mark.parametrize(("sandbox", "able", "holds", "weak"), LEVELS)
def test_what_is_weaker_is_said(sandbox: SandboxPlan, able: Ability, holds: frozenset[str] | None, weak: dict[str, str]) -> None:
    assert {name: level for name, level in levels(sandbox, able, holds).items() if level != "full"} == weak


def test_a_control_that_is_required_and_not_held() -> None:
    weak = GOOD._replace(machine="riscv64")
    assert [control.name for control in unmet(made(), controls(made(), weak))] == ["system calls"]
    assert unmet(made("on"), controls(made("on"), GOOD)) == ()
    strict = made("on", "strict")
    assert [control.name for control in unmet(strict, controls(strict, GOOD))] == ["network"]


ERRORS = [
    ("touch: cannot touch '/etc/x': Read-only file system", [("/etc/x", 'sandbox.write = ["/etc"]')]),
    ("bash: line 1: /etc/motd: Read-only file system", [("/etc/motd", 'sandbox.write = ["/etc"]')]),
    ("OSError: [Errno 30] Read-only file system: '/usr/lib/x'", [("/usr/lib/x", 'sandbox.write = ["/usr/lib"]')]),
    ("touch: cannot touch '.git/hooks/a': Read-only file system",
     [(f"{WS}/.git/hooks/a", "nothing: do it outside of the sandbox")]),
    ("cat: .env: Permission denied", [(f"{WS}/.env", f'sandbox.unmask = ["{WS}/.env"]')]),
    ("cat: other: Permission denied", []),
    ("curl: (6) Could not resolve host: example.org", [("example.org", 'sandbox.network = "on"')]),
    ("connect: Network is unreachable", [("the network", 'sandbox.network = "on"')]),
    ("all is well", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), ERRORS)
def test_a_refusal(text: str, wanted: list[tuple[str, str]]) -> None:
    assert [(refusal.what, refusal.setting) for refusal in refusals(f"first\n{text}\nlast\n", made())] == wanted


def test_each_refusal_once_and_not_too_many() -> None:
    text = "".join(f"touch: cannot touch '/etc/{n}': Read-only file system\n" * 2 for n in range(20))
    assert len(refusals(text, made())) == 8
