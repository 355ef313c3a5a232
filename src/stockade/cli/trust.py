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
from stockade.cli.common import UsageError, World, _reason, open_world
from stockade.cli.inspect import value_text
from stockade.cli.table import table
from stockade.cli.text import colourful, one_line, paint, say
from stockade.config.layers import PROJECT_FILE, Effective, read_source
from stockade.config.trust import revoke, trust, trusted_digest

REFUSED = 126
NOBODY = "refused: there is no terminal to ask on; read the file, then use `--yes`"
CHANGED = "refused: the file has changed since it was shown; run `stockade trust` again"
_EPILOG = """examples:
  stockade trust
  stockade trust --yes           (after you have read the file)
  stockade trust --revoke

Trust belongs to one folder and to the exact bytes of its .stockade/config.toml: a change of the file
ends it. Without a terminal to ask on, and without `--yes`, nothing is trusted.

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
    path = os.path.join(world.context.workspace, PROJECT_FILE)
    if os.path.islink(path):
        return f"there is nothing to trust: {PROJECT_FILE} is a symbolic link; replace it by a file"
    file = next((f for f in world.loaded.files if f.layer == "project"), None)
    if file is not None and file.broken:
        return f"there is nothing to trust: {PROJECT_FILE} has errors, see `stockade config validate`"
    if not world.loaded.project_digest:
        return f"there is nothing to trust: {PROJECT_FILE} is not there; `stockade init` writes one"
    return ""


def _held(world: World) -> list[Effective]:
    return [item for item in world.loaded.held if item.layer == "project"]


def _shown(world: World) -> list[str]:
    """What a person has to see before trusting: the folder, the bytes, and what would loosen."""
    on = colourful(sys.stderr)
    lines = table([
        ["folder", paint(one_line(world.context.workspace), "bold", on=on)], ["file", PROJECT_FILE],
        ["sha256", world.loaded.project_digest],
    ])  # fmt: skip
    held = _held(world)
    if not held:
        return [*lines, "", "nothing in it is held: it only tightens"]
    rows = [[f"line {item.line}", one_line(item.name), one_line(value_text(item.value))] for item in held]
    return [*lines, "", paint("held now, and in effect once you trust it:", "bold", on=on), *table(rows, indent="  ")]


def _agrees() -> bool:
    sys.stderr.write("trust this file? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _digest_now(world: World) -> str:
    path = os.path.join(world.context.workspace, PROJECT_FILE)
    source = read_source(path, shown=PROJECT_FILE, layer="project")
    return "" if source.distrusted else source.digest


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
        "v": 1, "folder": world.context.workspace, "file": PROJECT_FILE, "sha256": digest, "held": held,
        "trusted": bool(digest) and trusted_digest(world.places.trust_file, world.context.workspace) == digest,
        "message": message, "exit": code,
    }  # fmt: skip
