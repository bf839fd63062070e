"""Draws one move of Samuel's procedure: `python -m benchmarks.samuel_step`.

The picture in docs/examples has the static value of the course's position, the value that a search
brings back, and what each term adds to the static one: green if the difference credits it, red if
it is blamed. The numbers are those of docs/course.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import games
from programs.whole_files import write_atomically
from search import Engine, as_evaluator

POSITION = "B:W21,22,23,26,28,30,31,32:B1,2,3,6,9,10,12,14"
PATH = Path(__file__).resolve().parent.parent / "docs" / "examples" / "samuel_step.svg"
WIDTH, ROW, LEFT, ZERO = 720, 22, 140, 470
GOOD, BAD, PLAIN = "#1e6b53", "#a8341c", "#6b645c"


def _bar(row: int, name: str, value: float, scale: float, colour: str, note: str = "") -> list[str]:
    """Returns a line of the picture: a name, a bar from zero on, and the value."""
    top, size = ROW * row + 34, abs(value) * scale
    start = ZERO if value >= 0 else ZERO - size
    end, anchor = (ZERO + size + 6, "start") if value >= 0 else (ZERO - size - 6, "end")
    return [
        f'<text x="{LEFT}" y="{top + 14}" text-anchor="end">{name}</text>',
        f'<rect x="{start:.1f}" y="{top + 3}" width="{size:.1f}" height="14" fill="{colour}"/>',
        f'<text x="{end:.1f}" y="{top + 14}" text-anchor="{anchor}">{value:+,.0f}{note}</text>',
    ]


def picture() -> str:
    """Returns the picture as SVG."""
    game = games.load("checkers")
    samuel, position = as_evaluator(game, "samuel1959"), game.parse_position(POSITION)
    static = samuel(position)
    difference = Engine(game, samuel).search(position, depth=5).value - static
    features, weights = game.features["samuel"], samuel.term_weights()
    values = dict(zip(features.names, features.measure([position])[0], strict=True))
    parts = [
        (name, weights[name] * value, value * difference > 0)
        for name, value in values.items()
        if weights[name] * value
    ]
    parts.sort(key=lambda part: -abs(part[1]))
    scale = 200 / max(abs(static), abs(static + difference), *(abs(part[1]) for part in parts))
    lines = [
        *_bar(0, "static value", static, scale, PLAIN),
        *_bar(1, "backed-up value", static + difference, scale, PLAIN),
        *_bar(2, "difference", difference, scale, PLAIN),
    ]
    for row, (name, part, credited) in enumerate(parts, 4):
        word = ", credited" if credited else ", blamed"
        lines += _bar(row, name, part, scale, GOOD if credited else BAD, word)
    height = ROW * (len(parts) + 4) + 50
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            ' font-family="sans-serif" font-size="13" role="img"'
            ' aria-label="One move of Samuel\'s procedure">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            '<text x="20" y="20" font-weight="bold">Two values of a position, and what each term'
            " adds to the static one</text>",
            f'<line x1="{ZERO}" x2="{ZERO}" y1="34" y2="{height - 14}" stroke="{PLAIN}"/>',
            *lines,
            "</svg>\n",
        ]
    )


def main() -> int:
    """Write the picture; returns the exit status."""
    write_atomically(PATH, picture())
    return 0


if __name__ == "__main__":
    sys.exit(main())
