"""Whether chances of win, draw and loss hold, by nodes a move and by the number of pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from learner.fit.calibration import Sample
from learner.fit.validation import calibration

__all__ = ["reliability_lines"]

#: Limits of the groups by pieces, each with the first number of the next.
BORDERS = (2, 5, 7, 9, 13, 17, 1000)


def reliability_lines(sample: Sample, win: Any, loss: Any) -> Iterator[str]:
    """Yields a table of what is said and found for each number of nodes, and one by pieces.

    sample: the positions, with their results.
    win, loss: the chances that were said, [positions] each.

    A table has ten bins of the expected result, and the draws in them. Intervals are for
    independent games.
    """
    expected, drawn = (1.0 + win - loss) / 2.0, 1.0 - win - loss
    found, draws = (sample.results + 1.0) / 2.0, sample.results == 0
    nodes = np.zeros(len(sample), int) if sample.nodes is None else sample.nodes
    for level in np.unique(nodes):
        here = nodes == level
        games = len(np.unique(sample.games[here]))
        title = f"{level:,} nodes a move, {games:,} games: " if level else ""
        yield f"{title}expected result, said and found"
        yield "    said   found  95 % interval   draws said  found  positions  games"
        places = np.minimum((expected * 10).astype(int), 9)
        for part in calibration(expected[here], found[here], bins=10, groups=sample.games[here]):
            bin_ = here & (places == round(part.low * 10))
            yield (
                f"  {100 * part.predicted:4.1f} %  {100 * part.found:4.1f} %"
                f"  [{100 * part.found_low:5.1f}, {100 * part.found_high:5.1f}]"
                f"  {100 * drawn[bin_].mean():8.1f} %  {100 * draws[bin_].mean():4.1f} %"
                f"  {part.count:9,.0f} {len(np.unique(sample.games[bin_])):6,}"
            )
    if sample.pieces is None or sample.pieces.max() == 1:
        return
    yield "by pieces left"
    yield "  pieces     nodes  the side ahead: said  found   draws said  found  positions"
    for low, beyond in zip(BORDERS, BORDERS[1:], strict=False):
        for level in np.unique(nodes):
            here = (sample.pieces >= low) & (sample.pieces < beyond) & (nodes == level)
            if not here.any():
                continue
            ahead = np.where(expected[here] > 0.5, 1.0, -1.0)
            said, came = (0.5 + (ahead * (one[here] - 0.5)).mean() for one in (expected, found))
            most = min(beyond - 1, int(sample.pieces.max()))
            yield (
                f"  {low:2} to {most:2} {level:9,}  {100 * said:20.1f} %  {100 * came:4.1f} %"
                f"  {100 * drawn[here].mean():8.1f} %  {100 * draws[here].mean():4.1f} %"
                f"  {int(here.sum()):9,}"
            )
