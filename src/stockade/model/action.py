"""Actions: what a tool call asks to do, as canonical values."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, NamedTuple

# Tool names (any case) to the key of their rules.  A key's class is what it needs of permission.
TOOL_KEYS: Mapping[str, str] = {
    "bash": "bash", "shell": "bash", "run_command": "bash", "run_shell_command": "bash", "exec": "bash", "terminal": "bash",
    "read": "read", "read_file": "read", "list": "read", "list_files": "read", "ls": "read", "glob": "read", "grep": "read",
    "search": "read", "search_text": "read", "git_status": "read", "git_diff": "read", "git_log": "read", "git_show": "read",
    "edit": "edit", "write": "edit", "write_file": "edit", "edit_file": "edit", "apply_patch": "edit", "multiedit": "edit",
    "hashline": "edit", "notebookedit": "edit", "patch": "edit", "replace": "edit", "str_replace": "edit",
    "network": "network", "webfetch": "network", "web_fetch": "network", "fetch": "network",
    "mcp": "mcp", "external_directory": "external_directory", "externaldirectory": "external_directory",
    "sandbox": "sandbox", "task": "task", "agent": "task", "plan": "plan", "process": "process", "tool_search": "plan",
}  # fmt: skip
KEY_CLASS: Mapping[str, str] = {
    "read": "read", "edit": "write", "bash": "execute", "network": "execute", "mcp": "execute",
    "external_directory": "write", "sandbox": "execute", "task": "execute", "plan": "read", "process": "execute",
}  # fmt: skip
KEYS = tuple(KEY_CLASS)
# Tools that show the state of the repository, and run in `plan` too.
INSPECTING = frozenset(("git_status", "git_diff", "git_log", "git_show"))


class Action(NamedTuple):
    """One thing that is asked for.

    `key` is the rules' key.  `command` is set for `bash`; `paths` are the targets of file tools, as
    given; `subject` is the host, MCP tool or process of the other keys.
    """

    tool: str
    key: str
    command: str = ""
    paths: tuple[str, ...] = ()
    subject: str = ""

    def canonical(self) -> dict[str, Any]:
        """The value that a digest is taken of."""
        return {"tool": self.tool, "key": self.key, "command": self.command, "paths": list(self.paths), "subject": self.subject}


class ActionError(ValueError):
    """A tool call that cannot be understood: its input says too little, or the tool is unknown."""


def command_action(command: str) -> Action:
    return Action("bash", "bash", command)


def from_tool(tool: str, given: Mapping[str, Any]) -> Action:
    """The action of a tool call.  Raises ActionError for an unknown tool or an input without its target."""
    name = tool.lower()
    if name.startswith("mcp__"):
        server, _, inner = tool[5:].partition("__")
        return Action(tool, "mcp", subject=f"{server}/{inner}")
    key = TOOL_KEYS.get(name)
    if key is None:
        raise ActionError(f"unknown tool `{tool}`: known are {', '.join(sorted(TOOL_KEYS))}, mcp__SERVER__TOOL")
    if key == "bash":
        return Action(name, key, command=_text(given, "command", tool))
    if key in ("read", "edit", "external_directory"):
        return Action(name, key, paths=_paths(name, given))
    if key == "network":
        return Action(name, key, subject=_host(given, tool))
    if key == "mcp":
        return Action(name, key, subject=f"{_text(given, 'server', tool)}/{_text(given, 'tool', tool)}")
    return Action(name, key, subject=str(given.get("subject", given.get("name", ""))))


def _text(given: Mapping[str, Any], name: str, tool: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise ActionError(f"the input of `{tool}` needs `{name}`, a text that is not empty")
    return value


def _paths(tool: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    for name in ("path", "file_path", "notebook_path", "filePath", "absolute_path"):
        if isinstance(given.get(name), str):
            return (given[name],)
    files = given.get("files")
    if isinstance(files, list) and files:
        named = [f.get("path") if isinstance(f, dict) else f for f in files]
        texts = tuple(f for f in named if isinstance(f, str))
        if len(texts) == len(named):
            return texts
    if isinstance(given.get("patch"), str):
        return patch_paths(given["patch"], tool)
    if tool in ("list_files", "list", "ls", "glob", "search_text", "search", "grep") or tool in INSPECTING:
        return (".",)
    raise ActionError(f"the input of `{tool}` names no path: give `path`, `files` or `patch`")


def patch_paths(patch: str, tool: str) -> tuple[str, ...]:
    """The files that a patch in the `*** Begin Patch` form touches."""
    found = []
    for line in patch.split("\n"):
        for head in ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "):
            if line.startswith(head):
                found.append(line[len(head) :].strip())
    if not found:
        raise ActionError(
            f"the patch of `{tool}` names no file: lines `*** Add File: PATH` or `*** Update File: PATH` are missing"
        )
    return tuple(found)


def _host(given: Mapping[str, Any], tool: str) -> str:
    if isinstance(given.get("host"), str):
        port = given.get("port")
        return f"{given['host'].lower()}:{port}" if port else given["host"].lower()
    url = _text(given, "url", tool)
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise ActionError(f"the input of `{tool}` needs a full URL, such as `https://host/path`")
    if "\\" in url or any(c <= " " or c == "\x7f" for c in url):
        raise ActionError(f"the URL of `{tool}` has a backslash, a blank or a control character: write it percent-encoded")
    authority = rest.split("/")[0].split("?")[0].split("#")[0].rpartition("@")[2].lower()
    if ":" not in authority.rpartition("]")[2]:
        authority += {"http": ":80", "https": ":443"}.get(scheme.lower(), "")
    return authority


def absolute(path: str, cwd: str, home: str) -> str:
    """A path of a file tool, absolute and not resolved."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return path if path.startswith("/") else posixpath.join(cwd, path)
