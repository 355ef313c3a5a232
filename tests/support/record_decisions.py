"""Writes `corpus/decisions.jsonl` anew from what is decided now; read its diff line by line before you commit it.

python -m tests.support.record_decisions
"""

from __future__ import annotations

import json

from tests.unit.test_decisions import BY_NOTE, CORPUS, DECISIONS, as_data
from tests.unit.test_precedence import decided


def main() -> None:
    rows = [{"note": row["note"], "decision": as_data(decided(BY_NOTE[row["note"]], trace=True))} for row in DECISIONS]
    CORPUS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
