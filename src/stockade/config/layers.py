"""All layers put together: which files there are, what is held, and what each setting came from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from stockade.config.descriptions import NONE, Descriptions, digest_of, read_descriptions
from stockade.config.files import File, Value
from stockade.config.problems import Problem
from stockade.config.settings import SETTINGS
from stockade.config.sources import Source
from stockade.model.verdict import Verdict
from stockade.policy.grants import Grants
from stockade.policy.modes import Chosen, choose
from stockade.policy.policy import Policy, build
from stockade.policy.rules import LAYERS, Rule, shadowed
from stockade.store.pins import Pins

if TYPE_CHECKING:
    from stockade.shell.own import Own

PROJECT_FOLDER = ".stockade"
PROJECT_FILE = f"{PROJECT_FOLDER}/config.toml"
_PRESETS = os.path.join(os.path.dirname(__file__), "presets")


class Places(NamedTuple):
    """Where configuration and state lie.  `docs/reference/environment.md` lists the variables."""

    config: str
    state: str
    managed: str

    @property
    def user_file(self) -> str:
        return os.path.join(self.config, "config.toml")

    @property
    def trust_file(self) -> str:
        return os.path.join(self.state, "trust.json")

    @property
    def pins_file(self) -> str:
        return os.path.join(self.state, "pins.json")


def places(env: Mapping[str, str], home: str) -> Places:
    """The places for an environment: Stockade's own variables first, XDG otherwise."""
    config = env.get("STOCKADE_CONFIG_DIR") or os.path.join(_xdg(env, "XDG_CONFIG_HOME", home, ".config"), "stockade")
    state = env.get("STOCKADE_STATE_DIR") or os.path.join(_xdg(env, "XDG_STATE_HOME", home, ".local/state"), "stockade")
    managed = env.get("STOCKADE_MANAGED_CONFIG") or "/etc/stockade/managed.toml"
    return Places(os.path.abspath(config), os.path.abspath(state), managed)


def _xdg(env: Mapping[str, str], name: str, home: str, default: str) -> str:
    value = env.get(name, "")
    return value if value.startswith("/") else os.path.join(home, default)


class Effective(NamedTuple):
    """A setting with the file and layer that it came from."""

    name: str
    value: Any
    layer: str
    file: str
    line: int
    held: bool = False


class Loaded(NamedTuple):
    """Everything that was read.  `held` are settings and rules of a project that is not trusted."""

    files: tuple[File, ...]
    rules: tuple[Rule, ...]
    settings: dict[str, Effective]
    problems: tuple[Problem, ...]
    held: tuple[Effective, ...]
    project_digest: str
    trusted: bool
    descriptions: Descriptions = NONE
    pins: Pins = MappingProxyType({})

    def value(self, name: str) -> Any:
        return self.settings[name].value

    @property
    def degraded(self) -> str:
        """Why every answer is at least an ask: a file that does not load."""
        for problem in self.problems:
            if problem.severity == "error":
                return f"the configuration does not load: {problem}"
        return ""

    def chosen(self, mode_name: str = "") -> Chosen:
        """The mode that holds for a request; nothing confines commands yet, so `workspace` gives `default`."""
        return choose(mode_name or self.value("permission_mode"), sandbox_works=False)

    def policy(self, *, mode_name: str = "", grants: Grants | None = None, trace: bool = False) -> Policy:
        return build(
            self.rules,
            mode_name=self.chosen(mode_name).mode.name,
            posture=self.value("posture"),
            grants_policy=self.value("approvals.grants"),
            env_guard=self.value("guards.env"),
            safe_extra=tuple(self.value("shell.safe_list_extra")),
            grants=grants,
            degraded=self.degraded,
            careful=not self.trusted and self.settings["permission_mode"].layer == "project",
            trace=trace,
            owns=self.descriptions.owns,
            pins=self.pins,
            trusts_repositories=self.value("guards.repository") == "off",
        )


def read_preset(name: str) -> File:
    from stockade.config.read import read_text

    with open(os.path.join(_PRESETS, f"{name}.toml"), encoding="utf-8") as stream:
        return read_text(stream.read(), file=f"preset/{name}", layer="builtin")


# -- merging --------------------------------------------------------------------------------------


def merge(
    sources: list[Source],
    descriptions: Sequence[Source] = (),
    *,
    trusted_digest: str = "",
    overrides: Mapping[str, Any] | None = None,
) -> Loaded:
    """The layers in their order of precedence, each setting with its origin."""
    files = [_file_of(source) for source in sources]
    distrusted = {source.shown for source in sources if source.distrusted}
    project = next((s for s in sources if s.layer == "project" and s.text is not None), None)
    of_project = [s for s in descriptions if s.layer == "project"]
    digest = digest_of(project, of_project)
    odd = any(s.distrusted for s in (project, *of_project) if s is not None)
    trusted = (project is None and not of_project) or (bool(trusted_digest) and digest == trusted_digest and not odd)
    added = read_descriptions(descriptions, trusted=trusted)
    preset = _preset_of(files, trusted)
    if preset:
        files.insert(0, read_preset(preset))
    files.sort(key=lambda f: LAYERS.index(f.layer))
    merger = _Merger(distrusted, trusted)
    for file in files:
        merger.add(file)
    for name, value in (overrides or {}).items():
        merger.settings[name] = Effective(name, value, "cli", "", 0)
    rules = tuple(merger.rules)
    for own in added.held:
        merger.hold_description(own)
    problems = [p for f in files for p in f.problems] + merger.problems + list(added.problems)
    problems.extend(_shadow_problem(rule, later) for rule, later in shadowed(rules))
    return Loaded(tuple(files), rules, merger.settings, tuple(problems), tuple(merger.held), digest, trusted, added)


def _file_of(source: Source) -> File:
    if source.text is None:
        return File(source.shown, source.layer, (), (), source.problems)
    from stockade.config.read import read_text

    file = read_text(source.text, file=source.shown, layer=source.layer)
    return file._replace(problems=source.problems + file.problems)


def _preset_of(files: list[File], trusted: bool) -> str:
    found = ""
    for file in sorted(files, key=lambda f: LAYERS.index(f.layer)):
        if (file.layer != "project" or trusted) and not file.broken:
            found = next((v.value for v in file.values if v.name == "preset"), found)
    return found


def _shadow_problem(rule: Rule, later: Rule) -> Problem:
    place = f"{later.file}:{later.line}" if later.line else later.id
    message = f"the rule `{rule}` can never win: `{later}` at {place} matches all that it does"
    return Problem("config/shadowed", "warning", rule.file, rule.line, message, "move it below, or delete it")


class _Merger:
    """Adds files from the lowest layer up; what loosens is held where its file is not to be trusted."""

    def __init__(self, distrusted: set[str], trusted: bool) -> None:
        self.distrusted = distrusted
        self.trusted = trusted
        self.rules: list[Rule] = []
        self.settings = {s.name: Effective(s.name, s.default, "builtin", "default", 0) for s in SETTINGS}
        self.held: list[Effective] = []
        self.problems: list[Problem] = []

    def add(self, file: File) -> None:
        tighten_only = file.broken or file.file in self.distrusted or (file.layer == "project" and not self.trusted)
        for rule in file.rules:
            self._rule(rule, file, tighten_only)
        for value in file.values:
            self._value(value, file, tighten_only)

    def _rule(self, rule: Rule, file: File, tighten_only: bool) -> None:
        if not tighten_only:
            self.rules.append(rule)
            return
        self.rules.append(rule._replace(held=True))
        if rule.verdict is Verdict.ALLOW:
            self.held.append(Effective(f"{rule.key}({rule.pattern})", "allow", file.layer, rule.file, rule.line, True))
            self._note(file, rule.line, f"the rule `{rule}`")

    def _value(self, value: Value, file: File, tighten_only: bool) -> None:
        setting = next(s for s in SETTINGS if s.name == value.name)
        old = self.settings[value.name].value
        if tighten_only and not setting.tightens(old, value.value):
            self.held.append(Effective(value.name, value.value, file.layer, value.file, value.line, True))
            if setting.name != "shell.allow":
                self._note(file, value.line, f"`{value.name}`")
            return
        joined = value.value
        if setting.kind == "texts" and setting.name != "child_env.include_only":
            joined = tuple(dict.fromkeys((*old, *value.value)))
        elif setting.kind == "table":
            joined = {**old, **value.value}
        self.settings[value.name] = Effective(value.name, joined, file.layer, value.file, value.line)

    def hold_description(self, own: Own) -> None:
        """A description that counts only where it makes an answer stricter."""
        name = own.program.name
        self.held.append(Effective(f"programs.{name}", own.program.summary, own.layer, own.file, 0, True))
        message = f"the description of `{name}` is held: it could loosen, and it is not trusted"
        self.problems.append(Problem("config/held", "note", own.file, 0, message, "look at it with `stockade trust`"))

    def _note(self, file: File, line: int, what: str) -> None:
        if file.layer == "project" and not file.broken:
            self.problems.append(
                Problem(
                    "config/held",
                    "note",
                    file.file,
                    line,
                    f"{what} is held: it would loosen, and the folder is not trusted",
                    "look at it with `stockade trust`",
                )
            )
