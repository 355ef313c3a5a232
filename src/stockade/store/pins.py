"""What a person agreed to under a pinned rule: for each folder and rule, the files that defined what ran.

Kept in `pins.json` of the state folder, as trust is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from stockade.store.files import read_table, write_private

Pins = Mapping[str, Mapping[str, str]]
"""By the rule (`allow bash npm test *`), the paths with their digests."""


def pins(path: str, workspace: str) -> Pins:
    """What was agreed to in a folder."""
    value = read_table(path).get(workspace)
    if not isinstance(value, dict):
        return {}
    return {
        rule: {name: digest for name, digest in files.items() if isinstance(digest, str)}
        for rule, files in value.items()
        if isinstance(files, dict)
    }


def pin(path: str, workspace: str, rules: list[str], definitions: Mapping[str, str]) -> None:
    """Remembers the files as they are now, for each of the rules."""
    store = read_table(path)
    folder = store.get(workspace)
    kept = folder if isinstance(folder, dict) else {}
    for rule in rules:
        old = kept.get(rule)
        kept[rule] = {**(old if isinstance(old, dict) else {}), **definitions}
    store[workspace] = kept
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_private(path, json.dumps(store, indent=1, sort_keys=True) + "\n")
