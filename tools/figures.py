"""The figures over the corpora, by one command: `python tools/figures.py [--json] [--misses]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tests.support import corpora  # noqa: E402


class Figure(NamedTuple):
    """`good` rows of `total`; `misses` are the rest."""

    name: str
    good: int
    total: int
    misses: list[corpora.Miss]


def figures() -> list[Figure]:
    found: list[Figure] = []
    for tier in "123":
        missed, _, total = corpora.floor_misses(tier)
        found.append(Figure(f"floor, tier {tier}: denied in every mode", total - len(missed), total, missed))
    near = sum(row["expected"] != "deny" for row in corpora.rows("floor"))
    denied = corpora.floor_misses("123")[1]
    found.append(Figure("floor, near-misses: not denied", near - len(denied), near, denied))
    for name in ("bypass", "gtfo"):
        wrong = corpora.wrongly_allowed(name)
        total = sum(not row.get("doubtful") and row.get("expected") != "allow" for row in corpora.rows(name))
        found.append(Figure(f"{name}: never allowed", total - len({m.command for m in wrong}), total, wrong))
    for name in ("readonly", "benign"):
        asked, blocked, total = corpora.prompts(name)
        found.append(Figure(f"{name}: not asked about", total - len({m.command for m in asked}), total, asked))
        found.append(
            Figure(
                f"{name}: not blocked",
                sum(1 for _ in corpora.rows(name)) - len(blocked),
                sum(1 for _ in corpora.rows(name)),
                blocked,
            )
        )
    other, _, total = corpora.everyday()
    found.append(Figure("everyday: as labelled", total - len(other), total, other))
    return found


def write_readme(found: list[Figure]) -> None:
    """The table between the markers of README.md."""
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- figures:begin -->")
    _, _, after = rest.partition("<!-- figures:end -->")
    lines = ["| what | rows |", "|---|---|", *(f"| {f.name} | {f.good} of {f.total} |" for f in found)]
    table = "\n".join(lines)
    path.write_text(f"{before}<!-- figures:begin -->\n{table}\n<!-- figures:end -->{after}", encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true", help="print JSON")
    options.add_argument("--misses", action="store_true", help="print every row that missed")
    options.add_argument("--readme", action="store_true", help="put the table into README.md")
    chosen = options.parse_args()
    found = figures()
    if chosen.readme:
        write_readme(found)
        return 0
    if chosen.json:
        print(json.dumps([{"name": f.name, "good": f.good, "total": f.total} for f in found], indent=1))
        return 0
    for figure in found:
        print(f"{figure.name:<42} {figure.good:>5} of {figure.total}")
        for miss in figure.misses if chosen.misses else ():
            print(f"    {miss.how}: {miss.command!r} -> {miss.got}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
