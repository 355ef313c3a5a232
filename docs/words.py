"""The words for the codes of the reference pages; `generate.py` says which codes there are."""

from __future__ import annotations

KINDS = {"word": "one word", "flag": "true or false", "texts": "list of texts", "table": "table of texts",
         "number": "whole number", "size": "size, as `2G`"}  # fmt: skip

FATES = {
    "rules": "as the rules say",
    "inside": "an ask becomes allow for ordinary files of the workspace",
    "smart": "by the [smart rules](rules.md#smart)",
    "confined": "an ask becomes allow where the command is confined without network (no command is, yet)",
    "refuse": "refused",
    "lift": "an ask becomes allow",
}

SMART = {
    "privilege": "raises privilege, changes the system, or signals processes",
    "install": "installs, updates or publishes packages",
    "network": "contacts another machine, or loopback",
    "secrets-file": "reads or writes credentials, or prints the value of a secret variable",
    "git-internals": "changes what lies in a `.git` folder",
    "agent-config": "changes what tells an agent, an editor or a shell what to run",
    "outside-project": "reads or writes outside the workspace, or at a path that is not known",
    "destructive": "removes something, or destroys data beyond the paths named",
    "project-code": "runs code of the project, changes the repository, or speaks to a service of this machine",
    "unknown-effect": "what it does, or what runs, cannot be told from its text",
    "edit-in-project": "only writes ordinary files of the workspace",
}

GUARDS = {
    "guard/safe-list": ("allow", "everything about it is known, and it only reads what may be read (outside `smart`)"),
    "guard/nothing-runs": ("allow", "blanks and comments"),
    "guard/secret": ("ask", "a command reads or writes credentials"),
    "guard/protected-path": (
        "ask, deny",
        "changes git's internals or an agent's configuration; an editing tool is refused in git's internals",
    ),
    "guard/external-directory": ("ask", "a path outside the workspace"),
    "guard/env": ("deny", 'a file tool reads a `.env` file; `guards.env = "ask"` makes it an ask'),
    "guard/second-opinion": ("ask", "a second parser does not read the command as ours does"),
    "guard/too-many-paths": ("deny", "the action names more paths than are looked at; split it"),
    "guard/config": ("ask", "a configuration file does not load: every answer is at least an ask"),
    "guard/stopped": ("deny", "`stockade stop-all` is on"),
    "guard/internal-error": ("deny", "deciding failed; please report it"),
}

UNREADABLE = {
    "ansi-c": "a `$'…'` string",
    "arithmetic": "arithmetic",
    "backslash": "a backslash that quotes nothing",
    "braces": "a brace expansion",
    "continuation": "a backslash before a newline, where it would glue an operator together",
    "control": "a control character",
    "empty": "nothing to decide on",
    "encoding": "bytes that are no text",
    "function": "the name of a function",
    "heredoc": "a here-document",
    "invisible": "a character that cannot be seen",
    "other-shell": "the context names a shell that is not bash",
    "parameter": "a parameter expansion",
    "redirect": "a redirection",
    "subscript": "the subscript of an array",
    "syntax": "bash rejects it too, or it is not modelled",
    "too-deep": "nested beyond the limit",
    "too-long": "longer than the limit, in bytes or in steps",
    "unterminated": "something is not closed",
}

BATCH = {
    "bad-cwd": "`cwd` is no absolute path",
    "bad-mode": "`mode` names no mode",
    "bad-tool": "`tool` is unknown, or its input does not say what it is about",
    "encoding": "the line is not valid UTF-8",
    "json": "the line is not valid JSON",
    "line-too-long": "the line is longer than the limit",
    "no-command": "`command` is missing or empty",
    "not-an-object": "the line is JSON, but no object",
    "unknown-key": "a key that does not exist",
}

EXITS = (
    ("check, explain", "0 allow, 10 ask, 11 deny, 2 usage"),
    ("check --batch", "0, or 2 if a line was bad"),
    ("exec", "the command's own, 128+n for a signal; 124 it took too long, 125 Stockade failed or cannot confine it as required, "
             "126 it was refused, 2 usage"),
    ("sandbox", "the command's own, 128+n for a signal; 124 it took too long, 125 it cannot be confined as required, 126 nobody "
                "agreed, 130 interrupted, 153 it printed too much, 2 usage"),
    ("doctor", "0 commands can be confined here, 1 they cannot"),
)  # fmt: skip

VARIABLES = (
    ("STOCKADE_CONFIG_DIR", "the folder of the user's `config.toml`", "`$XDG_CONFIG_HOME/stockade`"),
    ("STOCKADE_STATE_DIR", "the folder of the log, of trust and of the switch of `stop-all`", "`$XDG_STATE_HOME/stockade`"),
    ("STOCKADE_MANAGED_CONFIG", "the managed configuration, which always wins", "`/etc/stockade/managed.toml`"),
    ("STOCKADE_REQUIREMENTS_PUBKEY", "reserved: the key that signs requirements; not read yet", ""),
    ("STOCKADE_TOOL_CACHE_DIR", "reserved: where dependency caches lie; not read yet", ""),
    ("XDG_CONFIG_HOME", "the folder of configurations, where it is absolute", "`~/.config`"),
    ("XDG_STATE_HOME", "the folder of state, where it is absolute", "`~/.local/state`"),
    ("HOME", "the home folder; without it, the one of the user database", ""),
    ("NO_COLOR", "no colour in the output, if it is set to anything", ""),
    ("TERM", "`dumb` means no colour", ""),
    ("VISUAL", "the editor for a command of several lines that a person changes before it runs", ""),
    ("EDITOR", "the same, where `VISUAL` is not set", "`vi`"),
)

TEST_VARIABLES = (
    ("STOCKADE_REQUIRE_ORACLES", "`1`: a test whose oracle cannot run fails instead of being skipped"),
    ("STOCKADE_ORACLE_COUNT", "how many generated commands the execution oracle compares"),
    ("STOCKADE_TEST_JOBS", "how many processes `./test` uses"),
    ("STOCKADE_REAL_PATH", "further folders of real programs, with `:` between them"),
    ("STOCKADE_JOBS_PATH", "further folders of programs for `tests/jobs`, with `:` between them"),
)

EFFECTS = {
    "read": "reads the content of a path",
    "list": "reads names or metadata of a path only",
    "write": "creates or overwrites a path, or adds to it",
    "edit": "reads a path and changes it in place, or moves it",
    "delete": "removes a path",
    "mode": "changes permissions or the owner of a path",
    "disk": "overwrites a device or an image as a whole",
    "execute": "runs code of the project: a script, a hook, a plugin, a build",
    "network": "contacts another machine, or loopback",
    "install": "installs, updates or publishes packages",
    "privilege": "raises privilege, or changes the system",
    "destructive": "destroys data beyond the paths named",
    "secret": "reads or prints credentials",
    "process": "signals or changes other processes",
    "service": "speaks to a daemon of this machine",
    "vcs": "changes the repository",
    "forced-push": "overwrites a branch of another repository",
    "hijack": "makes something else run than the text says: a variable, an option, a setting, a function",
    "unknown": "cannot be told",
    "floor": "a shape that is always refused, recognised by the guard itself",
}

ROLES = {
    "text": "data: a pattern, a number, a format",
    "read": "a path whose content is read",
    "list": "a path of which names or metadata are read",
    "write": "a path that is written",
    "edit": "a path that is changed in place",
    "move": "a path that is moved, with all below it",
    "delete": "a path that is removed",
    "mode": "a path whose permissions or owner change",
    "disk": "a device or an image that is overwritten",
    "run": "a command that will be run",
    "load": "code or configuration that is loaded",
    "shell": "text for a shell",
    "code": "program text",
    "script": "a file of program text, or `-`",
    "argv": "the first word of a command that is run",
    "env": "`NAME=VALUE` for what is run",
    "host": "a host or URL that is contacted",
    "remote": "`host:path`, or a path that is read",
    "remote-write": "`host:path`, or a path that is written",
    "rev": "a revision, a path, or `revision:path`",
    "refspec": "a refspec of a push",
    "unknown": "cannot be told",
}
