"""Trust in a folder's own configuration, bound to a hash of what was shown."""

from __future__ import annotations

import os

from stockade.store.files import read_table, write_private


def trusted_digest(path: str, workspace: str) -> str:
    """The hash of the configuration that was trusted for a folder, or an empty string."""
    entry = read_table(path).get(workspace)
    digest = entry.get("digest") if isinstance(entry, dict) else None
    return digest if isinstance(digest, str) else ""


def trust(path: str, workspace: str, digest: str, when: str) -> None:
    import json

    store = read_table(path)
    store[workspace] = {"digest": digest, "when": when}
    write_private(path, json.dumps(store, indent=1, sort_keys=True) + "\n")


def revoke(path: str, workspace: str) -> bool:
    """Takes trust back; False where there was none."""
    if not os.path.exists(path):
        return False
    import json

    store = read_table(path)
    if store.pop(workspace, None) is None:
        return False
    write_private(path, json.dumps(store, indent=1, sort_keys=True) + "\n")
    return True
