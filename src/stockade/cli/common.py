"""What every command needs: the places, the context, the configuration."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from stockade.config.descriptions import FOLDER, description_sources
from stockade.config.layers import PROJECT_FILE, PROJECT_FOLDER, Loaded, Places, merge, places
from stockade.config.sources import Source, read_source
from stockade.config.trust import trusted_digest
from stockade.engine.world import ContextError, described, gather, home_of
from stockade.model.context import Context
from stockade.policy.modes import ModeError, mode

USAGE = 2


class UsageError(Exception):
    """The command line or a file named on it is wrong; the message says what to do."""


class World(NamedTuple):
    """Where a command works: `look` is False where the machine is only described."""

    context: Context
    loaded: Loaded
    places: Places
    look: bool


def own_places() -> Places:
    return places(os.environ, home_of(os.environ))


def open_world(
    *, cwd: str | None = None, config: str | None = None, context_file: str | None = None, mode_name: str | None = None
) -> World:
    """Gathers context and configuration.  Raises UsageError with a clear message."""
    where = own_places()
    try:
        if context_file is not None:
            context, look = described(_read(context_file), context_file), False
        else:
            context, look = gather(cwd, os.environ, state=where.state, config=where.config), True
    except ContextError as error:
        raise UsageError(str(error)) from None
    overrides = {}
    if mode_name is not None:
        try:
            overrides["permission_mode"] = mode(mode_name).name
        except ModeError as error:
            raise UsageError(str(error)) from None
    sources = _sources(where, context, config, look=look)
    digest = trusted_digest(where.trust_file, context.workspace) if look else ""
    added = _descriptions(where, context) if look and config is None else []
    loaded = merge(sources, added, trusted_digest=digest, overrides=overrides)
    if look and any(rule.pinned for rule in loaded.rules):
        from stockade.store.pins import pins

        loaded = loaded._replace(pins=pins(where.pins_file, context.workspace))
    if look:
        profile = loaded.value("sandbox.profile")
        context = context._replace(sandbox="" if profile == "off" else profile)
    return World(context, loaded, where, look)


def _read(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]


def _sources(where: Places, context: Context, config: str | None, *, look: bool) -> list[Source]:
    """The files of the layers.  `--config` takes the place of project and user."""
    found = [read_source(where.managed, shown=where.managed, layer="managed")] if look or config is None else []
    if config is not None:
        source = read_source(config, shown=config, layer="user")
        if source.text is None:
            problem = source.problems[0].message if source.problems else "there is no such file"
            raise UsageError(f"`{config}` cannot be read: {problem}")
        return [source, *found]
    if not look:
        return found
    user = read_source(where.user_file, shown=short(where.user_file, context.home), layer="user", owner=context.uid)
    project = read_source(os.path.join(context.workspace, PROJECT_FILE), shown=PROJECT_FILE, layer="project")
    return [project, user, *found]


def _descriptions(where: Places, context: Context) -> list[Source]:
    """Descriptions of programs beside the user's configuration and the project's."""
    mine = os.path.join(where.config, FOLDER)
    return [
        *description_sources(mine, shown=short(mine, context.home), layer="user", owner=context.uid),
        *project_descriptions(context),
    ]


def project_descriptions(context: Context) -> list[Source]:
    folder = f"{PROJECT_FOLDER}/{FOLDER}"
    return description_sources(os.path.join(context.workspace, folder), shown=folder, layer="project")


def short(path: str, home: str) -> str:
    """A path with the home folder as `~`."""
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def problems_to_stderr(loaded: Loaded) -> None:
    """Errors and warnings of the configuration, once, on the error stream."""
    from stockade.cli.text import say, visible

    chosen = loaded.chosen()
    if chosen.reason:
        say(f"stockade: the mode is `{chosen.mode.name}`: {chosen.reason}")
    for problem in loaded.problems:
        if problem.severity == "error" or (problem.severity == "warning" and problem.code != "config/shadowed"):
            say(f"stockade: {visible(str(problem))}" + (f" ({problem.hint})" if problem.hint else ""))
