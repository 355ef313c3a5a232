"""Runs in a process of its own: libbash is bash's real parser, and can take its process down with it.

Reads JSON lines (texts) and answers each with the words of every simple command outside substitutions,
or null where bash rejects the text.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any


def simple_commands(node: Any, out: list[list[str]]) -> None:
    if isinstance(node, list):
        for child in node:
            simple_commands(child, out)
    elif isinstance(node, dict):
        if node.get("type") == "simple":
            out.append([word["word"] for word in node["value"]["words"]])
            return
        for child in node.values():
            simple_commands(child, out)


def main() -> None:
    import libbash

    for line in sys.stdin:
        with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as stream:
            stream.write(json.loads(line) + "\n")
            stream.flush()
            found: list[list[str]] | None = []
            try:
                for command in libbash.bash_to_ast(stream.name):
                    simple_commands(command._to_json(), found)
            except RuntimeError:
                found = None
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
