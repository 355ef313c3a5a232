"""Names that make git, an agent or an editor run something, or that tell it what to do, at any depth."""

from __future__ import annotations

from itertools import pairwise

AGENT_FOLDERS = frozenset(
    (".claude", ".codex", ".gemini", ".cursor", ".opencode", ".mendcode", ".oceancode", ".aider", ".continue", ".windsurf",
     ".cline", ".roo", ".kiro", ".amazonq", ".junie", ".vscode", ".idea", ".devcontainer", ".husky", ".stockade", ".agents")
)  # fmt: skip
AGENT_FILES = frozenset(
    ("claude.md", "agents.md", "gemini.md", "copilot-instructions.md", ".mcp.json", "mcp.json", "opencode.json", "opencode.jsonc",
     ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".aider.conf.yml", ".envrc", ".pre-commit-config.yaml",
     ".gitattributes", ".gitmodules", ".yarnrc.yml", ".pnpmfile.cjs", ".bazelrc", ".lefthook.yml", "lefthook.yml",
     ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".gitconfig", ".mise.toml",
     ".tool-versions", "sitecustomize.py", "usercustomize.py")
)  # fmt: skip
AGENT_PAIRS = frozenset(((".github", "workflows"), (".github", "hooks"), (".cargo", "config.toml"), (".cargo", "config")))

HELD_FILES = frozenset(
    (".envrc", ".mcp.json", ".npmrc", ".pre-commit-config.yaml", ".yarnrc.yml", ".pnpmfile.cjs", ".bazelrc", ".lefthook.yml",
     "lefthook.yml", ".gitconfig", ".mise.toml", ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv",
     ".zprofile", ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".aider.conf.yml", "opencode.json",
     "opencode.jsonc")
)  # fmt: skip
"""Of the files, those that the kernel sandbox keeps as they are.  The others (`AGENTS.md`, `.gitattributes`) are edited
in ordinary work by programs that nobody reads, as a checkout or a formatter does; the decision still asks about them."""


def guarded_path(path: str) -> str | None:
    """`git-internals` or `agent-config` for a path that makes git, an agent or an editor run something."""
    parts = path.lower().split("/")[1:]
    if path.endswith("/HEAD"):  # with it, a folder becomes a repository whose configuration git obeys
        return "git-internals"
    if ".git" in parts or any(p.endswith(".git") and p != ".git" and len(p) > 4 for p in parts[:-1]):
        return "git-internals"
    if any(p in AGENT_FOLDERS for p in parts) or (parts and parts[-1] in AGENT_FILES):
        return "agent-config"
    if any(pair in AGENT_PAIRS for pair in pairwise(parts)):
        return "agent-config"
    return None
