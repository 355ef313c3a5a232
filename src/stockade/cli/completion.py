"""`stockade completion`: a completion script, made from the commands and their own parsers.

A script is static: completing never starts Stockade, and so never reads a configuration.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from stockade.cli.args import Formatter
from stockade.cli.main import COMMANDS
from stockade.config.settings import PRESETS
from stockade.policy.modes import MODES

_EPILOG = """examples:
  eval "$(stockade completion bash)"          (in ~/.bashrc)
  stockade completion zsh > "${fpath[1]}/_stockade"
  stockade completion fish > ~/.config/fish/completions/stockade.fish

exit codes: 0, 2 usage"""
SHELLS = ("bash", "zsh", "fish")
# Values of options whose parser takes any text, because an error there should say more.
_VALUES = {"--mode": tuple(mode.name for mode in MODES), "--preset": PRESETS, "--verdict": ("allow", "ask", "deny")}
_FOLDERS = frozenset(("--cwd",))


class Flag(NamedTuple):
    """An option: `values` is None where it takes none, and empty where it takes any text."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    values: tuple[str, ...] | None = None

    @property
    def folder(self) -> bool:
        return any(name in _FOLDERS for name in self.names)


class Shape(NamedTuple):
    """A command or sub-command: its options, the words that may follow, and its own sub-commands."""

    name: str
    help: str
    flags: tuple[Flag, ...] = ()
    words: tuple[str, ...] = ()
    subs: tuple[Shape, ...] = ()


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade completion", description="Print the script that completes `stockade` in a shell.", epilog=_EPILOG,
        formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    return made


def run(args: list[str]) -> int:
    shell = parser().parse_args(args).shell
    made = {"bash": bash, "zsh": zsh, "fish": fish}[shell]
    print(made(shapes()), end="")
    return 0


# -- reading the parsers --------------------------------------------------------------------------


def shapes() -> tuple[Shape, ...]:
    """All commands, as their parsers describe them."""
    return tuple(_shape(c.name, c.summary, import_module(f"stockade.cli.{c.module}").parser()) for c in COMMANDS)


def _shape(name: str, summary: str, made: argparse.ArgumentParser) -> Shape:
    flags: list[Flag] = []
    words: tuple[str, ...] = ()
    subs: tuple[Shape, ...] = ()
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {a.dest: a.help or "" for a in action._choices_actions}
            subs = tuple(_shape(sub, helps.get(sub, ""), one) for sub, one in action.choices.items())
        elif action.option_strings:
            flags.append(_flag(action))
        elif action.choices:
            words += tuple(str(choice) for choice in action.choices)
    return Shape(name, summary, tuple(flags), words, subs)


def _flag(action: argparse.Action) -> Flag:
    names = tuple(action.option_strings)
    help_text = (action.help or "").replace("%%", "%")
    if action.nargs == 0:
        return Flag(names, help_text)
    known = next((_VALUES[name] for name in names if name in _VALUES), ())
    values = tuple(str(choice) for choice in action.choices) if action.choices else known
    return Flag(names, help_text, str(action.metavar or action.dest).upper(), values)


def _leaves(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """A command with the words that lead to it: `config`, `config validate`."""
    yield shape.name, shape
    for sub in shape.subs:
        yield f"{shape.name} {sub.name}", sub


# -- bash -----------------------------------------------------------------------------------------

_BASH = """# bash completion for stockade; made by `stockade completion bash`
_stockade() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at word path= words=
    COMPREPLY=()
    # `=` is a word of its own to readline.
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" && COMP_CWORD -ge 2 ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        # Behind `--` stands somebody else's command: left to the shell.
        [[ $word == "--" ]] && return 0
        case "$path $word" in
@paths@
        esac
    done
    case "$path $prev" in
@values@
    esac
    [[ -z $path && COMP_CWORD -gt 1 ]] && return 0
    case "$path" in
@words@
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _stockade stockade
"""


def bash(commands: tuple[Shape, ...]) -> str:
    leaves = [leaf for shape in commands for leaf in _leaves(shape)]
    paths = [f'            "{_parent(path)} {path.rpartition(" ")[2]}") path="{path}" ;;' for path, _ in leaves]
    values = [line for path, shape in leaves for flag in shape.flags for line in _bash_value(path, flag)]
    names = " ".join(shape.name for shape in commands)
    words = [f'        "") words="{names} --help --version" ;;']
    words += [f'        "{path}") words="{" ".join(_first_words(shape))}" ;;' for path, shape in leaves]
    text = _BASH.replace("@paths@", "\n".join(paths)).replace("@values@", "\n".join(values))
    return text.replace("@words@", "\n".join(words))


def _parent(path: str) -> str:
    return path.rpartition(" ")[0]


def _bash_value(path: str, flag: Flag) -> list[str]:
    """What follows an option: its values, folders, or whatever the shell completes by default."""
    if flag.values is None:
        return []
    patterns = "|".join(f'"{path} {name}"' for name in flag.names)
    if flag.values:
        reply = f'COMPREPLY=($(compgen -W "{" ".join(flag.values)}" -- "$cur")); '
    else:
        reply = 'COMPREPLY=($(compgen -d -- "$cur")); ' if flag.folder else ""
    return [f"        {patterns}) {reply}return 0 ;;"]


def _first_words(shape: Shape) -> list[str]:
    names = [name for flag in shape.flags for name in flag.names]
    return [*(sub.name for sub in shape.subs), *shape.words, *names]


# -- zsh ------------------------------------------------------------------------------------------

_ZSH = """#compdef stockade
# zsh completion for stockade; made by `stockade completion zsh`
_stockade() {
    local -a commands
    commands=(
@commands@
    )
    if (( CURRENT == 2 )); then
        _describe -t commands 'stockade command' commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
@cases@
    esac
}
if [[ $funcstack[1] == _stockade ]]; then
    _stockade "$@"
else
    compdef _stockade stockade
fi
"""
_ZSH_NESTED = """        @name@)
            if (( CURRENT == 2 )); then
                commands=(@names@)
                _describe -t commands 'stockade @name@' commands
                return
            fi
            command=$words[2]
            shift words
            (( CURRENT-- ))
            case $command in
@subs@
            esac ;;"""


def zsh(commands: tuple[Shape, ...]) -> str:
    listed = "\n".join(f"        {_quoted(f'{shape.name}:{shape.help}')}" for shape in commands)
    cases = "\n".join(line for shape in commands for line in _zsh_case(shape))
    return _ZSH.replace("@commands@", listed).replace("@cases@", cases)


def _zsh_case(shape: Shape) -> list[str]:
    if not shape.subs:
        return [f"        {shape.name})", f"            _arguments -s {_zsh_arguments(shape)} ;;"]
    names = " ".join(_quoted(f"{sub.name}:{sub.help}") for sub in shape.subs)
    subs = "\n".join(f"                {sub.name}) _arguments -s {_zsh_arguments(sub)} ;;" for sub in shape.subs)
    return _ZSH_NESTED.replace("@name@", shape.name).replace("@names@", names).replace("@subs@", subs).split("\n")


def _zsh_arguments(shape: Shape) -> str:
    specs = [_quoted(spec) for flag in shape.flags for spec in _zsh_flag(flag)]
    rest = f"*:word:({' '.join(shape.words)})" if shape.words else "*::command:_normal" if _runs(shape) else "*:file:_files"
    return " ".join([*specs, _quoted(rest)])


def _runs(shape: Shape) -> bool:
    """Whether a command line stands behind the options."""
    return shape.name in ("exec", "check", "explain")


def _zsh_flag(flag: Flag) -> list[str]:
    about = flag.help.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    value = ""
    if flag.values is not None:
        action = f"({' '.join(flag.values)})" if flag.values else "_files -/" if flag.folder else "_files"
        value = f":{flag.metavar}:{action}"
    return [f"{name}{'=' if value and name.startswith('--') else ''}[{about}]{value}" for name in flag.names]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# -- fish -----------------------------------------------------------------------------------------


def fish(commands: tuple[Shape, ...]) -> str:
    lines = ["# fish completion for stockade; made by `stockade completion fish`"]
    lines += [f"complete -c stockade -f -n __fish_use_subcommand -a {s.name} -d {_fish_quoted(s.help)}" for s in commands]
    for shape in commands:
        here = f"__fish_seen_subcommand_from {shape.name}"
        inside = " ".join(sub.name for sub in shape.subs)
        for sub in shape.subs:
            condition = f"{here}; and not __fish_seen_subcommand_from {inside}"
            lines.append(f"complete -c stockade -f -n '{condition}' -a {sub.name} -d {_fish_quoted(sub.help)}")
            lines += _fish_flags(sub, f"{here}; and __fish_seen_subcommand_from {sub.name}")
        lines += _fish_flags(shape, here) if not shape.subs else []
    return "\n".join(lines) + "\n"


def _fish_flags(shape: Shape, condition: str) -> list[str]:
    head = f"complete -c stockade -n '{condition}'"
    lines = [f"{head} -f -a {_fish_quoted(' '.join(shape.words))}"] if shape.words else []
    for flag in shape.flags:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
        value = "" if flag.values is None else f" -x -a {_fish_quoted(' '.join(flag.values))}" if flag.values else " -r"
        if flag.folder:
            value = " -x -a '(__fish_complete_directories)'"
        lines.append(f"{head} {names}{value} -d {_fish_quoted(flag.help)}")
    return lines


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
