"""`stockade init`: a configuration in which every setting stands, commented, with what it means."""

from __future__ import annotations

import argparse
import json
import os
import textwrap
from typing import Any

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, _reason, own_places, short
from stockade.cli.text import one_line
from stockade.config.layers import PROJECT_FILE
from stockade.config.settings import PRESETS, SETTINGS, Setting

_EPILOG = """examples:
  stockade init
  stockade init --user --preset mendcode
  stockade init --force          (keeps the old file as config.toml.bak)

What a project's own file would loosen is held until a person runs `stockade trust` in that folder.

exit codes: 0 written, 2 usage, or a file that is there already or cannot be written"""

_SECTIONS = {
    "approvals": "What a person's approval is good for.",
    "guards": "Guards that stand beside the rules.",
    "shell": "Commands. These rules come after those of [permission].",
    "sandbox": "What confines a command that runs.",
    "child_env": "The variables that a command gets: inherit, strip, include only, set, in this order.",
}
_EXAMPLES: dict[str, Any] = {
    "shell.safe_list_extra": ["mytool status"],
    "shell.allow": ["npm test:*"],
    "shell.deny": ["terraform destroy:*"],
    "child_env.include_only": ["PATH", "HOME", "LANG"],
    "child_env.set": {"LANG": "C.UTF-8"},
}
_RULES = """
# Rules: a key or `Tool(pattern)`, and `allow`, `ask` or `deny`.  The last rule that matches wins.
# Keys: {keys}.
# In a command `*` stands for anything and `cmd:*` for the command with any arguments; paths are as in
# .gitignore.  Examples beside a rule are checked when the file loads (`stockade policy test`).
[permission]
# bash = {{ "*" = "ask", "git push *" = "deny" }}
# "Bash(npm test:*)" = {{ verdict = "allow", match = ["npm test", "npm test --watch"], not_match = ["npm testing"] }}
# "Edit(src/**)" = "allow"
# "Read(secrets/**)" = "deny"
# network = {{ "*" = "ask", "pypi.org:443" = "allow" }}
# mcp = {{ "github/*" = "allow", "github/delete_repo" = "deny" }}
"""
_HELD = "# A project's preset has no effect while this file is not trusted (`stockade trust`)."


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade init", epilog=_EPILOG,
        description="Write a commented configuration: every setting, what it means, its values and its default.",
        formatter_class=Formatter,
    )  # fmt: skip
    where = made.add_mutually_exclusive_group()
    where.add_argument("--project", action="store_true", help=f"write {PROJECT_FILE} of this project (the default)")
    where.add_argument("--user", action="store_true", help="write your own file, which holds in every project")
    made.add_argument("--preset", choices=PRESETS, help="begin with the settings of that system")
    made.add_argument("--force", action="store_true", help="replace a file that is there; the old one is kept beside it")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    path = own_places().user_file if options.user else os.path.join(_workspace(), PROJECT_FILE)
    text = configuration(preset=options.preset or "", project=not options.user)
    try:
        kept = _keep(path, force=options.force)
        _write(path, text, private=options.user)
    except OSError as error:
        raise UsageError(f"`{one_line(path)}` cannot be written: {_reason(error)}") from None
    _say(path, kept, options.preset or "", project=not options.user)
    return 0


def _workspace() -> str:
    from stockade.engine.world import ContextError, find_workspace, home_of

    try:
        return find_workspace(os.getcwd(), os.path.realpath(home_of(os.environ)))
    except ContextError as error:
        raise UsageError(f"{error}; for a file that holds everywhere, use `--user`") from None


# -- the text -------------------------------------------------------------------------------------


def configuration(*, preset: str, project: bool) -> str:
    """The text of the file, made from the settings table."""
    from stockade.model.action import KEYS

    whose = "of this project" if project else "of yours, for every project"
    lines = [f"# Stockade's configuration {whose}.", "# Uncomment what you change, then run `stockade config validate`."]
    lines.append("version = 1")
    for setting in (s for s in SETTINGS if "." not in s.name):
        lines += ["", *_entry(setting, preset, project=project)]
    lines += _RULES.format(keys=", ".join(KEYS)).rstrip("\n").split("\n")
    for section, meaning in _sections():
        lines += ["", f"# {meaning}", f"[{section}]"]
        for at, setting in enumerate(s for s in SETTINGS if s.name.startswith(f"{section}.")):
            lines += [*([""] if at else []), *_entry(setting, preset, project=project)]
    return "\n".join(lines) + "\n"


def _sections() -> list[tuple[str, str]]:
    names = dict.fromkeys(s.name.partition(".")[0] for s in SETTINGS if "." in s.name)
    return [(name, _SECTIONS.get(name, f"Settings of {name}.")) for name in names]


def _entry(setting: Setting, preset: str, *, project: bool) -> list[str]:
    """The comment and the line of one setting."""
    key = setting.name.rpartition(".")[2]
    about = f"{setting.meaning[:1].upper()}{setting.meaning[1:]}.{_values(setting)} Default: {_toml(setting.default)}."
    lines = textwrap.wrap(about, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    if setting.name == "preset" and preset:
        return [*lines, *([_HELD] if project else []), f'preset = "{preset}"']
    return [*lines, f"# {key} = {_toml(_EXAMPLES.get(setting.name, setting.default))}"]


def _values(setting: Setting) -> str:
    if setting.kind == "flag":
        return " Either true or false."
    words = ", ".join(_toml(value) for value in setting.values)
    return f" One of {words}." if words else ""


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{name} = {_toml(one)}" for name, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


# -- the file -------------------------------------------------------------------------------------


def _keep(path: str, *, force: bool) -> str:
    """Moves a file that is there out of the way, to a name that is free; gives that name."""
    if not os.path.lexists(path):
        return ""
    if not force:
        raise UsageError(f"`{one_line(path)}` is there already; `--force` replaces it and keeps the old one as config.toml.bak")
    kept, number = f"{path}.bak", 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{path}.bak{number}"
    os.rename(path, kept)
    return kept


def _write(path: str, text: str, *, private: bool) -> None:
    """Creates the file; it fails where somebody else made one in the meantime."""
    os.makedirs(os.path.dirname(path), mode=0o700 if private else 0o777, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if private else 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)


def _say(path: str, kept: str, preset: str, *, project: bool) -> None:
    from stockade.engine.world import home_of

    home = home_of(os.environ)
    print(f"wrote {one_line(short(path, home))}")
    if kept:
        print(f"  the old file is {one_line(short(kept, home))}")
    if project:
        print("  what it loosens is held until a person runs `stockade trust`; what it tightens holds at once")
    if project and preset:
        print(f'  `preset = "{preset}"` is held too; `stockade init --user --preset {preset}` takes effect at once')
    print("  next: uncomment what you change, then `stockade config validate`")
