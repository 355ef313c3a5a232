"""The project that the examples work on: a home folder with `app`, a git repository, in it.

The context of all examples is fixed: the project is `/home/dev/app`, the home `/home/dev`.  Here are
the text files; `tests/support/real_project.sh` adds what only tools can make.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

HOME = "/home/dev"
PROJECT = "/home/dev/app"

_SCRIPT = Path(__file__).resolve().parent.parent / "support" / "real_project.sh"

_PYTHON = '''"""An example."""


def main():
    # TODO: more
    return sum(range(3))


class Loader:
    pass
'''
_RUN = "#!/bin/sh\necho ran >ran.txt\n"
_PAYLOADS = ("pwn", "x", "x.sh", "run.sh", "tools/step.sh", "tools/page.sh", "tools/squeeze", "scripts/run.sh", "tools/open.sh")
PAYLOADS = frozenset(f"{PROJECT}/{name}" for name in _PAYLOADS) | frozenset(f"./{name}" for name in _PAYLOADS)
"""What the attack lines of the corpora want to run, as strace names it."""
_LOG = "".join(f"2025-01-{day:02} {'ERROR' if day % 7 == 0 else 'WARN'} message {day}\n" for day in range(1, 29))
_DIFF = """--- a/src/util.py
+++ b/src/util.py
@@ -1,3 +1,4 @@
 \"\"\"An example.\"\"\"
+# patched
 
 
"""  # noqa: W293 - a blank line of context is one space
_SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="feed"><xs:complexType><xs:sequence>
<xs:element name="item" type="xs:string" maxOccurs="unbounded"/>
</xs:sequence></xs:complexType></xs:element></xs:schema>
"""

_FILES = {
    "app/README.md": "# App\n\nText about the app.\n\n## Use\n\nRun `make`.\n\n## More\n\n" + "Some words in a line.\n" * 40,
    "app/Makefile": "all: build/app\n\nbuild/app: src/main.c\n\tcc -o $@ $<\n\ntest:\n\tsh scripts/run.sh\n",
    "app/notes.txt": "one TODO\nthree\ntwo FIXME\nfour foo\ntwo FIXME\n",
    "app/package.json": '{"name": "app", "version": "1.0.0", "scripts": {"lint": "true", "test": "true"}, "dependencies": {}}\n',
    "app/tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["src"]}\n',
    "app/pyproject.toml": '[project]\nname = "app"\nversion = "1.0"\n\n[tool.poetry]\nname = "app"\nversion = "1.0"\n'
    'description = ""\nauthors = []\n',
    "app/go.mod": "module example.org/app\n\ngo 1.19\n",
    "app/main.go": "package main\n\nfunc main() {\n\tprintln(1)\n}\n",
    "app/Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n',
    "app/Gemfile": "source 'https://rubygems.org'\n",
    "app/composer.json": '{"name": "dev/app", "require": {}}\n',
    "app/main.tf": 'output "one" {\n  value = 1\n}\n',
    "app/src/app.py": _PYTHON,
    "app/src/util.py": _PYTHON,
    "app/src/a.py": "a = 1\n",
    "app/src/b.py": "b = 1\n",
    "app/src/base.py": "a = 0\n",
    "app/src/app.ts": "const x: number = 1;\nexport default x;\n",
    "app/src/main.c": "int main(void) { return 0; }\n",
    "app/src/main.s": ".globl _start\n_start:\n nop\n",
    "app/src/boot.asm": "bits 16\nnop\n",
    "app/src/main.rs": 'fn main() {\n    println!("1");\n}\n',
    "app/src/Main.java": "class Main { public static void main(String[] a) {} }\n",
    "app/tests/test_app.py": "def test_one():\n    assert 1\n",
    "app/docs/guide.md": "# Guide\n\ngit push --force is not for main. TODO\n",
    "app/docs/old.md": "# Old\n",
    "app/docs/spec.pdf": "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n",
    "app/data/users.csv": "id:name:score\n1:ann:1.5\n2:bob:2.5\n3:cat:0.5\n",
    "app/data/orders.csv": "id,total\n1,2\n2,3\n",
    "app/data/patterns.txt": "TODO\nFIXME\n",
    "app/data/report.json": '{"name": "report", "rows": [1, 2]}\n',
    "app/data/deps.txt": "a b\nb c\n",
    "app/data/list.txt": "data/old.csv.xz\n",
    "app/data/feed.xml": "<feed><item>one</item></feed>\n",
    "app/data/feed.xsd": _SCHEMA,
    "app/data/magic": "0 string APP application data\n",
    "app/data/name.txt": "build-box\n",
    "app/config/settings.yaml": "name: app\nversion: '2'\n",
    "app/config/.env": "KEY=value\n",
    "app/.github/workflows/ci.yml": "jobs:\n  test:\n    runs-on: x\n",
    "app/.env": "KEY=value\n",
    "app/.env.local": "KEY=local\n",
    "app/.env.production": "KEY=production\n",
    "app/logs/app.log": _LOG,
    "app/scripts/run.sh": _RUN,
    "app/scripts/setup.sh": _RUN,
    "app/tools/open.sh": _RUN,
    "app/tools/w": _RUN,
    "app/fixes.patch": _DIFF,
    "app/fix.diff": _DIFF,
    "app/jobs.txt": "0 0 * * * true\n",
    "app/core": "not a core file\n",
    "app/certs/README": "test certificates\n",
    "app/build/readme.txt": "what is built\n",
    "app/dist/readme.txt": "what is shipped\n",
    **{f"app/{name}": _RUN for name in _PAYLOADS},
    ".profile": "# nothing\n",
    ".bashrc": "# nothing\n",
    ".bash_history": "ls\n",
    ".netrc": "machine example.org login dev password none\n",
    ".aws/credentials": "[default]\naws_access_key_id = none\n",
    "notes.txt": "notes\n",
}


def build(folder: Path) -> None:
    """Make the home folder in `folder`, which must exist and be empty."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text == _RUN:
            path.chmod(0o755)
    subprocess.run(["bash", str(_SCRIPT)], cwd=folder, check=True, capture_output=True, timeout=60)
