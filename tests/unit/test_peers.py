"""What a peer answers to the same commands, and what we answer: never worse where the peer has a gap.

A row has the command, the peer's answer, whether that is known to be a gap, our verdict, and `why` where the two
differ otherwise.  `read-only` rows are judged under `bash * ask`, `dangerous` ones in `smart`, `rules` by their rules.
"""

from __future__ import annotations

from typing import Any

import pytest

from stockade.model.verdict import Verdict
from stockade.policy.policy import build
from stockade.policy.rules import Rule
from tests.support.corpora import judged, policy, rows

ROWS = list(rows("peers"))
_VERDICTS = {str(verdict): verdict for verdict in Verdict}


def ours(row: dict[str, Any]) -> str:
    if row["area"] != "rules":
        return str(judged(row["command"], policy("bash-ask" if row["area"] == "read-only" else "smart")).verdict)
    made = [
        Rule("bash", text, _VERDICTS[word], "user", "peers.toml", at) for at, (text, word) in enumerate(row["rules"].items(), 1)
    ]
    return str(judged(row["command"], build(tuple(made), mode_name="default")).verdict)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_our_answer(row: dict[str, Any]) -> None:
    assert ours(row) == row["want"]


def test_no_gap_is_ours_as_well() -> None:
    gaps = [row for row in ROWS if row["gap"]]
    assert len(gaps) >= 25
    assert [row["id"] for row in gaps if row["want"] == "allow"] == []


def test_what_the_peer_refuses_is_never_allowed() -> None:
    refused = [row for row in ROWS if row["peer"].startswith("forbidden")]
    assert [row["id"] for row in refused if row["want"] == "allow"] == []


def test_what_the_peer_knows_to_be_read_only_is_not_asked_about() -> None:
    assert [row["id"] for row in ROWS if row["peer"] == "read_only" and not row["gap"] and row["want"] != "allow"] == []


def _differs(row: dict[str, Any]) -> bool:
    if row["area"] == "read-only" and not row["gap"]:
        return (row["peer"] == "read_only") != (row["want"] == "allow")
    if row["gap"] or row["peer"].startswith("forbidden"):
        return False
    return (row["want"] == "allow") != (row["peer"] in ("allow", "runs in sandbox"))


def test_every_other_difference_has_its_reason() -> None:
    assert [row["id"] for row in ROWS if _differs(row) != bool(row.get("why"))] == []
