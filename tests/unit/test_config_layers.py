"""Configuration: how the layers join, and what is held of a project that is not trusted."""

from __future__ import annotations

import pytest

from stockade.config.layers import Effective, merge, read_preset
from stockade.config.problems import Problem
from stockade.config.settings import PRESETS
from stockade.policy.grants import Grants
from tests.unit.test_config import PROJECT, V, source, verdict


def test_later_layers_win_and_say_where_they_stand() -> None:
    loaded = merge([
        source("managed", V + '[guards]\nenv = "deny"\n'),
        source("user", V + 'posture = "open"\n[guards]\nenv = "ask"\n'),
        source("project", V + 'posture = "asking"\n[shell]\ndeny = ["rm *"]\n'),
    ], overrides={"permission_mode": "plan"})  # fmt: skip
    assert [file.layer for file in loaded.files] == ["project", "user", "managed"]
    assert {
        name: loaded.settings[name] for name in ("posture", "guards.env", "permission_mode", "shell.deny", "approvals.grants")
    } == {
        "posture": Effective("posture", "open", "user", "user.toml", 2),
        "guards.env": Effective("guards.env", "deny", "managed", "managed.toml", 3),
        "permission_mode": Effective("permission_mode", "plan", "cli", "", 0),
        "shell.deny": Effective("shell.deny", ("rm *",), "project", "project.toml", 4),
        "approvals.grants": Effective("approvals.grants", "exact", "builtin", "default", 0),
    }
    assert loaded.problems == ()


def test_lists_join_and_tables_merge_over_the_layers() -> None:
    loaded = merge([
        source("user", V + '[shell]\ndeny = ["a", "b"]\n[child_env]\ninclude_only = ["PATH"]\nset = { A = "1", B = "1" }\n'),
        source("managed", V + '[shell]\ndeny = ["b", "c"]\n[child_env]\ninclude_only = ["HOME"]\nset = { B = "2" }\n'),
    ])  # fmt: skip
    assert loaded.value("shell.deny") == ("a", "b", "c")
    assert loaded.value("child_env.include_only") == ("HOME",)
    assert loaded.value("child_env.set") == {"A": "1", "B": "2"}


def test_the_last_match_over_all_layers_wins() -> None:
    user = V + '[permission]\nbash = { "make" = "allow" }\n'
    managed = V + '[permission]\nbash = { "make" = "deny" }\n'
    assert verdict(merge([source("user", user)]), "make") == ("allow", "user:user.toml:3")
    assert verdict(merge([source("managed", managed), source("user", user)]), "make") == ("deny", "managed:managed.toml:3")


def test_nothing_lifts_what_is_managed() -> None:
    managed = V + '[permission]\nbash = { "make" = "deny" }\n'
    loaded = merge([source("managed", managed), source("user", V)], overrides={"permission_mode": "bypassPermissions"})
    assert verdict(loaded, "make") == ("deny", "managed:managed.toml:3")


def test_a_policy_has_the_settings() -> None:
    text = V + 'permission_mode = "acceptEdits"\nposture = "open"\n[approvals]\ngrants = "tool"\n[guards]\nenv = "ask"\n'
    loaded = merge([source("user", text + '[shell]\nsafe_list_extra = ["mytool"]\n')])
    policy = loaded.policy(grants=Grants().with_tool("bash"), trace=True)
    assert (policy.mode.name, policy.posture, policy.grants_policy, policy.env_guard) == ("acceptEdits", "open", "tool", "ask")
    assert (policy.safe_extra, policy.grants, policy.degraded, policy.trace) == (
        ("mytool",),
        Grants().with_tool("bash"),
        "",
        True,
    )
    assert loaded.policy(mode_name="plan").mode.name == "plan"


def test_a_mode_that_cannot_hold_gives_default() -> None:
    loaded = merge([source("user", V + 'permission_mode = "workspace"\n')])
    assert (loaded.chosen().mode.name, loaded.chosen().requested) == ("default", "workspace")
    assert loaded.policy().mode.name == "default"


@pytest.mark.parametrize("name", PRESETS)
def test_preset(name: str) -> None:
    preset = read_preset(name)
    assert (preset.layer, preset.file, preset.problems) == ("builtin", f"preset/{name}", ())
    loaded = merge([source("user", V + f'preset = "{name}"\n')])
    for value in preset.values:
        assert loaded.settings[value.name] == Effective(value.name, value.value, "builtin", f"preset/{name}", value.line)
    over = merge([source("user", V + f'preset = "{name}"\npermission_mode = "plan"\n')])
    assert over.value("permission_mode") == "plan"


PRESET_VALUES = {
    "s-code": {"permission_mode": "ask", "posture": "asking", "approvals.grants": "none", "guards.env": "deny",
    "sandbox.profile": "workspace"},
    "mendcode": {"permission_mode": "smart", "posture": "asking", "approvals.grants": "tool", "guards.env": "ask",
    "sandbox.profile": "off"},
    "oceancode": {"permission_mode": "default", "posture": "open", "approvals.grants": "exact", "guards.env": "deny",
    "sandbox.profile": "off"},
}  # fmt: skip


@pytest.mark.parametrize(("name", "wanted"), PRESET_VALUES.items())
def test_what_a_preset_sets(name: str, wanted: dict[str, str]) -> None:
    loaded = merge([source("user", V + f'preset = "{name}"\n')])
    assert {key: loaded.value(key) for key in wanted} == wanted


def test_a_preset_of_a_project_is_held_until_it_is_trusted() -> None:
    project = source("project", V + 'preset = "oceancode"\n')
    assert merge([project]).value("posture") == "asking"
    assert merge([project], trusted_digest=project.digest).value("posture") == "open"
    managed = source("managed", V + 'preset = "s-code"\n')
    assert merge([project, managed], trusted_digest=project.digest).value("approvals.grants") == "none"


def test_a_rule_that_can_never_win_is_named_with_what_shadows_it() -> None:
    text = V + '[permission]\n"Bash(git push origin)" = "allow"\n"Bash(git push *)" = "deny"\n'
    message = (
        "the rule `bash git push origin allow` can never win: `bash git push * deny` at user.toml:4 matches all that it does"
    )
    wanted = Problem("config/shadowed", "warning", "user.toml", 3, message, "move it below, or delete it")
    loaded = merge([source("user", text)])
    assert loaded.problems == (wanted,)
    assert loaded.degraded == ""


# -- a project that is not trusted ----------------------------------------------------------------------


def test_what_loosens_is_held_and_what_tightens_is_not() -> None:
    loaded = merge([source("project", PROJECT)])
    assert sorted((e.name, e.value, e.line) for e in loaded.held) == sorted([
        ("permission_mode", "full", 2), ("posture", "open", 3), ("bash(make)", "allow", 5), ("bash(npm test)", "allow", 7),
        ("shell.allow", ("npm test",), 7), ("shell.safe_list_extra", ("mytool",), 9), ("guards.env", "ask", 11),
        ("child_env.set", {"LD_PRELOAD": "./x.so"}, 16),
    ])  # fmt: skip
    assert all((e.layer, e.file, e.held) == ("project", "project.toml", True) for e in loaded.held)
    assert (loaded.trusted, loaded.degraded) == (False, "")
    assert {p.code for p in loaded.problems} == {"config/held"}
    assert {name: loaded.value(name) for name in ("permission_mode", "posture", "guards.env", "child_env.set")} == {
        "permission_mode": "smart", "posture": "asking", "guards.env": "deny", "child_env.set": {},
    }  # fmt: skip
    assert (loaded.value("sandbox.required"), loaded.value("child_env.inherit"), loaded.value("shell.deny")) == (
        True,
        "core",
        ("rm *",),
    )
    assert [verdict(loaded, c)[0] for c in ("make", "ls src", "rm x", "npm test", "mytool", "cat src/a")] == [
        "ask", "deny", "deny", "ask", "ask", "allow",
    ]  # fmt: skip


def test_trust_is_bound_to_the_bytes() -> None:
    project = source("project", PROJECT)
    loaded = merge([project], trusted_digest=project.digest)
    assert (loaded.trusted, loaded.held, loaded.problems, loaded.project_digest) == (True, (), (), project.digest)
    assert (loaded.value("posture"), verdict(loaded, "make")) == ("open", ("allow", "project:project.toml:5"))
    changed = source("project", PROJECT + "# more\n")
    again = merge([changed], trusted_digest=project.digest)
    assert (again.trusted, again.value("posture")) == (False, "asking")
    assert merge([project], trusted_digest="").trusted is False
    assert merge([source("user", V)]).trusted is True


def test_a_project_that_is_distrusted_is_not_trusted_by_its_digest() -> None:
    project = source("project", PROJECT, distrusted=True)
    loaded = merge([project], trusted_digest=project.digest)
    assert (loaded.trusted, loaded.value("posture")) == (False, "asking")


def test_of_a_users_file_that_others_can_write_only_what_tightens_holds() -> None:
    text = V + 'posture = "open"\n[permission]\nbash = { "make" = "allow", "ls *" = "deny" }\n'
    loaded = merge([source("user", text, distrusted=True)])
    assert (loaded.value("posture"), verdict(loaded, "make")[0], verdict(loaded, "ls a")[0]) == ("asking", "ask", "deny")
    assert [e.name for e in loaded.held] == ["bash(make)", "posture"]
    assert loaded.problems == ()


def test_of_a_file_that_does_not_load_only_what_tightens_holds_and_everything_asks() -> None:
    text = V + 'posture = "open"\nnonsense = 1\n[permission]\nbash = { "make" = "allow", "ls *" = "deny" }\n'
    loaded = merge([source("user", text)])
    assert loaded.degraded == "the configuration does not load: user.toml:3: error: unknown key `nonsense`"
    assert loaded.value("posture") == "asking"
    assert verdict(loaded, "cat src/a") == ("ask", "guard/config")
    assert verdict(loaded, "ls a") == ("deny", "user:user.toml:5")
    assert verdict(merge([source("user", text)], overrides={"permission_mode": "bypassPermissions"}), "true")[0] == "ask"
