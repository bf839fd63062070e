"""The Towers of Hanoi with any number of pegs, as kernels.

A position is one word with the peg of each disk, the smallest first. A move is `pegs * from + to`:
the top disk of a peg goes to another peg with no smaller disk on it. The goal has all disks on the
last peg. Three pegs take 2 ** disks - 1 moves.
"""

from __future__ import annotations

from typing import Any

from games.board import Board, Pieces
from games.errors import PositionError
from games.features import Encoding, FeatureSet
from games.kernels import family
from games.problem import Heuristic, KernelProblem, Known, ProblemRules

__all__ = ["Hanoi"]

WORD = 60
MOST_ROWS = 26  # of a board

#: Placeholders: each family has its own numbers.
DISKS, PEGS, BITS, MASK, GOAL = 8, 3, 2, 3, 0


def legal_moves(position, moves):
    """Write the moves, those of the smallest disk first; returns their number."""
    count = 0
    covered = 0  # PEGS with a smaller disk on top
    for disk in range(DISKS):
        peg = position[0] >> BITS * disk & MASK
        if covered >> peg & 1 == 0:
            for to in range(PEGS):
                if to != peg and covered >> to & 1 == 0:
                    moves[count] = PEGS * peg + to
                    count += 1
            covered |= 1 << peg
    return count


def play(position, move):
    """Returns the position after the top disk of one peg goes to another."""
    peg, to = move // PEGS, move % PEGS
    disk = 0
    while position[0] >> BITS * disk & MASK != peg:
        disk += 1
    return (position[0] ^ (peg ^ to) << BITS * disk,)


def solved(position):
    """Whether all disks are on the last peg."""
    return position[0] == GOAL


def undo(position, move):
    """Returns the move that puts the disk back."""
    return move % PEGS * PEGS + move // PEGS


def away(position):
    """The number of disks that are not on the last peg."""
    count = 0
    for disk in range(DISKS):
        if position[0] >> BITS * disk & MASK != PEGS - 1:
            count += 1
    return count


def disk_pairs(position, places):
    """Write, for each two disks, the input of the pegs that they are on; returns their number."""
    count = 0
    for first in range(DISKS):
        one = position[0] >> BITS * first & MASK
        for second in range(first + 1, DISKS):
            places[count] = (count * PEGS + one) * PEGS + (position[0] >> BITS * second & MASK)
            count += 1
    return count


class Hanoi(KernelProblem):
    """Towers of `disks` disks on `pegs` pegs; texts are the peg of each disk, the smallest first.

    Raises ValueError for fewer than 3 pegs or more than 8, and for fewer than one disk or more than
    fit in one word (30 on 3 or 4 pegs, 20 on more).
    """

    def __init__(self, disks: int = 8, pegs: int = 3) -> None:
        bits = 2 if pegs <= 4 else 3
        if not 3 <= pegs <= 8 or not 1 <= disks <= WORD // bits:
            raise ValueError(
                f"expected 3 to 8 pegs with 1 to {WORD // bits} disks, found {pegs} with {disks}"
            )
        self.disks, self.pegs, self.bits = disks, pegs, bits
        self.reachable = pegs**disks
        self.name = f"hanoi{disks}_{pegs}"
        self.most_moves = pegs * (pegs - 1) // 2
        mask = (1 << bits) - 1
        goal = sum(pegs - 1 << bits * disk for disk in range(disks))
        made = family(
            legal_moves,
            play,
            solved,
            undo,
            away,
            disk_pairs,
            DISKS=disks,
            PEGS=pegs,
            BITS=bits,
            MASK=mask,
            GOAL=goal,
        )
        self.problem = ProblemRules(made.legal_moves, made.play, made.solved, undo=made.undo)
        self.start_position, self.goal_position = (0,), (goal,)
        self.features = {"disks": FeatureSet("disks", {"away": made.away})}
        self.evaluators = {"away": Heuristic(made.away, known=Known.BY_PROOF)}
        pairs = disks * (disks - 1) // 2
        if pairs:
            inputs = pairs * pegs * pegs
            self.encodings = {"disk_pairs": Encoding("disk_pairs", inputs, pairs, made.disk_pairs)}
        self.title = f"Towers of Hanoi, {disks} disks"
        if disks <= MOST_ROWS:
            board = Board(disks, pegs, self._pieces, self._clicks, shape="bar")
            self.extras = (board, Pieces(input_text=self._input_text))
        super().__init__()

    def random_position(self, seed: int) -> tuple[int, ...]:
        """Returns each disk on any peg, all equally likely; depends on the seed alone."""
        import random

        chance = random.Random(seed)
        return (sum(chance.randrange(self.pegs) << self.bits * disk for disk in range(self.disks)),)

    def _input_text(self, encoding: str, place: int, position: Any) -> tuple[str, float]:
        """Returns the two disks of a pair, the smallest 1, such as "disks 1 and 3"."""
        pairs = [(a, b) for a in range(self.disks) for b in range(a + 1, self.disks)]
        first, second = pairs[place // self.pegs**2]
        return f"disks {first + 1} and {second + 1}", 1.0

    def _pegs_of(self, position: Any) -> list[int]:
        mask = (1 << self.bits) - 1
        return [position[0] >> self.bits * disk & mask for disk in range(self.disks)]

    def _pieces(self, position: Any) -> dict[int, tuple[None, str]]:
        """Returns the disks by square, the smallest 1, on pegs that are columns."""
        free = [self.disks - 1] * self.pegs  # the lowest free row of each peg
        pieces: dict[int, tuple[None, str]] = {}
        for disk, peg in reversed(list(enumerate(self._pegs_of(position)))):
            pieces[self.pegs * free[peg] + peg] = None, str(disk + 1)
            free[peg] -= 1
        return pieces

    def _clicks(self, position: Any, move: int) -> list[list[int]]:
        """Returns the squares of the peg to take a disk from, and of the peg to put it on."""
        rows = range(self.disks - 1, -1, -1)
        return [[self.pegs * row + peg for row in rows] for peg in divmod(move, self.pegs)]

    def position_text(self, position: Any) -> str:
        return " ".join(map(str, self._pegs_of(position)))

    def parse_position(self, text: str) -> tuple[int, ...]:
        words = text.split()
        known = set(map(str, range(self.pegs)))
        if len(words) != self.disks or not set(words) <= known:
            raise PositionError(
                f"expected the pegs (0 to {self.pegs - 1}) of {self.disks} disks, the smallest"
                f" first, found {text.strip()[:80]!r}"
            )
        return (sum(int(word) << self.bits * disk for disk, word in enumerate(words)),)

    def move_text(self, position: Any, move: int) -> str:
        return f"{move // self.pegs}-{move % self.pegs}"

    def show(self, position: Any) -> str:
        pegs = self._pegs_of(position)
        return "\n".join(
            f"{peg}: " + " ".join(str(d) for d in range(self.disks - 1, -1, -1) if pegs[d] == peg)
            for peg in range(self.pegs)
        )
