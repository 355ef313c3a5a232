"""`stockade trust`: let this folder's own configuration loosen something, or take that back.

Trust is bound to the hash of what was shown: the file is read again right before trust is written,
and one that has changed in between is refused.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from stockade.cli.args import Formatter
from stockade.cli.common import UsageError, World, _reason, open_world, project_descriptions
from stockade.cli.inspect import value_text
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint, say
from stockade.config.descriptions import digest_of
from stockade.config.layers import PROJECT_FILE, Effective
from stockade.config.sources import Source, read_source
from stockade.config.trust import revoke, trust, trusted_digest

REFUSED = 126
NOBODY = "refused: there is no terminal to ask on; read the file, then use `--yes`"
CHANGED = "refused: the file has changed since it was shown; run `stockade trust` again"
_EPILOG = """examples:
  stockade trust
  stockade trust --yes           (after you have read the file)
  stockade trust --revoke

Trust belongs to one folder and to the exact bytes of its .stockade/config.toml and of the
descriptions in .stockade/programs: a change of any of them ends it. Without a terminal to ask on,
and without `--yes`, nothing is trusted.

exit codes: 0 trusted (or revoked), 1 there is nothing to trust (or to revoke), 2 usage, 126 refused"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="stockade trust", description="Show what this folder's configuration would loosen, and trust it if you say so.",
        epilog=_EPILOG, formatter_class=Formatter,
    )  # fmt: skip
    made.add_argument("--yes", action="store_true", help="trust it without asking")
    made.add_argument("--revoke", action="store_true", help="take the trust in this folder back")
    made.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return made


def run(args: list[str]) -> int:
    options = parser().parse_args(args)
    if options.yes and options.revoke:
        raise UsageError("`--yes` and `--revoke` contradict each other: give one of them")
    world = open_world()
    try:
        return _revoke(world, as_json=options.json) if options.revoke else _trust(world, yes=options.yes, as_json=options.json)
    except OSError as error:
        raise UsageError(f"the trust store `{one_line(world.places.trust_file)}` cannot be written: {_reason(error)}") from None


def _trust(world: World, *, yes: bool, as_json: bool) -> int:
    loaded = world.loaded
    nothing = _nothing(world)
    if nothing:
        return _end(world, nothing, 1, as_json=as_json)
    if loaded.trusted:
        return _end(world, "this file is trusted already", 0, as_json=as_json)
    if not as_json or not yes:
        print("\n".join(_shown(world)), file=sys.stderr if as_json else sys.stdout, flush=True)
    if not yes:
        if not sys.stdin.isatty():
            return _end(world, NOBODY, REFUSED, as_json=as_json)
        if not _agrees():
            return _end(world, "not trusted", REFUSED, as_json=as_json)
    if _digest_now(world) != loaded.project_digest:
        return _end(world, CHANGED, REFUSED, as_json=as_json)
    trust(world.places.trust_file, world.context.workspace, loaded.project_digest, _now())
    return _end(world, "trusted; a change of the file ends it", 0, as_json=as_json)


def _revoke(world: World, *, as_json: bool) -> int:
    if revoke(world.places.trust_file, world.context.workspace):
        return _end(world, "revoked: what the file loosens is held again", 0, as_json=as_json)
    return _end(world, "there is nothing to revoke: this folder was not trusted", 1, as_json=as_json)


def _nothing(world: World) -> str:
    """Why there is nothing that could be trusted, or an empty text."""
    config, descriptions = _sources(world)
    linked = next((s.shown for s in (config, *descriptions) if s.distrusted and s.text is not None), None)
    if linked is not None:
        return f"there is nothing to trust: {one_line(linked)} is a symbolic link; replace it by a file"
    ours = {source.shown for source in (config, *descriptions)}
    broken = next((p.file for p in world.loaded.problems if p.severity == "error" and p.file in ours), None)
    if broken is not None:
        return f"there is nothing to trust: {one_line(broken)} has errors, see `stockade config validate`"
    if not world.loaded.project_digest:
        return f"there is nothing to trust: {PROJECT_FILE} is not there; `stockade init` writes one"
    return ""


def _held(world: World) -> list[Effective]:
    return [item for item in world.loaded.held if item.layer == "project"]


def _shown(world: World) -> list[str]:
    """What a person has to see before trusting: the folder, the bytes, and what would loosen."""
    on = colourful(sys.stderr)
    rows = [["folder", paint(one_line(world.context.workspace), "bold", on=on)]]
    rows += [["file", one_line(file)] for file in _files(world)]
    lines = table([*rows, ["sha256", world.loaded.project_digest]])
    held = _held(world)
    if not held:
        return [*lines, "", "nothing in it is held: it only tightens"]
    rows = [
        [f"line {item.line}" if item.line else one_line(item.file), one_line(item.name), one_line(value_text(item.value))]
        for item in held
    ]
    return [*lines, "", paint("held now, and in effect once you trust it:", "bold", on=on), *table(rows, indent="  ")]


def _agrees() -> bool:
    sys.stderr.write("trust this file? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _sources(world: World) -> tuple[Source, list[Source]]:
    """The project's files as they are now."""
    path = os.path.join(world.context.workspace, PROJECT_FILE)
    return read_source(path, shown=PROJECT_FILE, layer="project"), project_descriptions(world.context)


def _files(world: World) -> list[str]:
    config, descriptions = _sources(world)
    return [source.shown for source in (config, *descriptions) if source.text is not None]


def _digest_now(world: World) -> str:
    config, descriptions = _sources(world)
    odd = any(source.distrusted for source in (config, *descriptions))
    return "" if odd else digest_of(config if config.text is not None else None, descriptions)


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")


def _end(world: World, message: str, code: int, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(_json(world, message, code)))
    elif code == 0:
        print(message)
    else:
        say(f"stockade trust: {message}")
    return code


def _json(world: World, message: str, code: int) -> dict[str, Any]:
    digest = world.loaded.project_digest
    held = [{"name": item.name, "value": item.value, "line": item.line} for item in _held(world)]
    return {
        "v": 1, "folder": world.context.workspace, "file": PROJECT_FILE, "files": _files(world), "sha256": digest, "held": held,
        "trusted": bool(digest) and trusted_digest(world.places.trust_file, world.context.workspace) == digest,
        "message": message, "exit": code,
    }  # fmt: skip
