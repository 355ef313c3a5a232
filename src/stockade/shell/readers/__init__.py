"""Readers of little languages and odd argument vectors: what a table of options cannot say.

A reader gets the walk, the call and the reading of its words; it adds effects to the call, runs nested
text through the walk, and may say what the program prints.  `DONE` says that it has reported the
segment itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockade.shell.readers import awk, code, data, files, find, git, hosts, sed, shells, tar, wrappers

if TYPE_CHECKING:
    from stockade.shell.arguments import Reading
    from stockade.shell.catalog import Program
    from stockade.shell.commands import Call
    from stockade.shell.interpret import Interpreter
    from stockade.shell.values import Field, Value

READERS: dict[str, Callable[[Interpreter, Call, Reading], Value | None]] = {
    "awk": awk.read,
    "curl": hosts.curl,
    "date": files.date,
    "dd": files.dd,
    "docker": hosts.docker,
    "env": wrappers.env,
    "chmod": files.chmod,
    "fd": find.fd,
    "find": find.read,
    "getent": hosts.getent,
    "git": git.read,
    "interpreter": code.interpreter,
    "jq": data.jq,
    "less": files.less,
    "ln": files.ln,
    "make": data.make,
    "mv": files.mv,
    "parallel": wrappers.parallel,
    "printenv": files.printenv,
    "ps": files.ps,
    "rsync": hosts.rsync,
    "search": find.search,
    "sed": sed.read,
    "shell": shells.read,
    "sqlite3": data.sqlite3,
    "ssh": hosts.ssh,
    "stdin-shell": shells.on_stdin,
    "su": shells.su,
    "tar": tar.read,
    "unzip": files.unzip,
    "xargs": wrappers.xargs,
}

# Some programs want their words put in another order before the table reads them.
PREPARE: dict[str, Callable[[Program, list[Field]], list[Field]]] = {"tar": tar.prepare}
