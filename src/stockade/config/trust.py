"""Trust in a folder's own configuration, bound to a hash of what was shown."""

from __future__ import annotations

import os
from typing import Any

from stockade.store.files import write_private


def _load(path: str) -> dict[str, Any]:
    """The trust store; one that cannot be read trusts nothing."""
    if not os.path.exists(path):
        return {}
    import json

    try:
        with open(path, encoding="utf-8") as stream:
            value = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def trusted_digest(path: str, workspace: str) -> str:
    """The hash of the configuration that was trusted for a folder, or an empty string."""
    entry = _load(path).get(workspace)
    digest = entry.get("digest") if isinstance(entry, dict) else None
    return digest if isinstance(digest, str) else ""


def trust(path: str, workspace: str, digest: str, when: str) -> None:
    import json

    store = _load(path)
    store[workspace] = {"digest": digest, "when": when}
    write_private(path, json.dumps(store, indent=1, sort_keys=True) + "\n")


def revoke(path: str, workspace: str) -> bool:
    """Takes trust back; False where there was none."""
    if not os.path.exists(path):
        return False
    import json

    store = _load(path)
    if store.pop(workspace, None) is None:
        return False
    write_private(path, json.dumps(store, indent=1, sort_keys=True) + "\n")
    return True
