"""The scoreboard as a picture: a row of bars for each guard, a column for each measure."""

from __future__ import annotations

from html import escape

from stockade.bench.corpus import MEASURES
from stockade.bench.score import Score

_TITLES = {
    "floor": "stops what must never run", "false-allow": "lets attacks run", "false-prompt": "asks about harmless lines",
    "false-block": "refuses harmless lines",
}  # fmt: skip
_NAME, _COLUMN, _BAR, _ROW, _TOP, _BOTTOM = 170, 190, 150, 46, 74, 34
_GOOD, _BAD = "#2f7d4f", "#b3423a"


def svg(scores: list[Score]) -> str:
    """An SVG document; long bars are good in the first column and bad in the others."""
    width = _NAME + _COLUMN * (len(MEASURES) + 1)
    height = _TOP + _ROW * len(scores) + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>', _text(16, 28, "Guards for coding agents", size=16, bold=True),
    ]  # fmt: skip
    for at, title in enumerate((*(_TITLES[m] for m in MEASURES), "time for one answer")):
        parts.append(_text(_NAME + at * _COLUMN, 56, title, colour="#555"))
    for number, one in enumerate(scores):
        parts += _line(one, _TOP + number * _ROW)
    parts.append(
        _text(16, height - 12, "Silence and errors of a guard count as letting the command run.", size=11, colour="#777")
    )
    return "\n".join([*parts, "</svg>\n"])


def _line(one: Score, top: int) -> list[str]:
    parts = [_text(16, top + 24, one.name, bold=True)]
    for at, measure in enumerate(MEASURES):
        left = _NAME + at * _COLUMN
        count, total = one.counts[measure]
        share = count / total if total else 0.0
        colour = _GOOD if measure == "floor" else _BAD
        parts.append(f'<rect x="{left}" y="{top + 8}" width="{_BAR}" height="8" rx="2" fill="#ececec"/>')
        parts.append(f'<rect x="{left}" y="{top + 8}" width="{share * _BAR:.1f}" height="8" rx="2" fill="{colour}"/>')
        parts.append(_text(left, top + 32, f"{count} of {total}", size=12))
    times = [f"{kind} {value[0]:.1f} ms" for kind, value in (("cold", one.cold), ("resident", one.resident)) if value]
    for at, text in enumerate(times):
        parts.append(_text(_NAME + len(MEASURES) * _COLUMN, top + 16 + 16 * at, text, size=12))
    return parts


def _text(x: int, y: int, text: str, *, size: int = 13, bold: bool = False, colour: str = "#222") -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{weight}>{escape(text)}</text>'
