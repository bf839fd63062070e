"""Writes random games with pydraughts, in a process of its own because that package is GPL.

Usage: python tests/pdn_peer.py FILE GAMES. Writes PDN, and prints the last position of each game.
"""

from __future__ import annotations

import random
import sys

from draughts import Board
from draughts.PDN import PDNWriter

#: Positions to begin with, in turn: the start, and some with kings that have long captures.
BEGIN = (
    None,
    "B:WK6,30:B9,10,K18",
    "W:W30,31,32,K14:B5,10,17,18,26,K22",
    "B:W14,22,23,31:BK1,K9,17",
)


def main() -> None:
    """Play, write and print."""
    chance = random.Random(5)
    for number in range(int(sys.argv[2])):
        begin = BEGIN[number % len(BEGIN)]
        board = Board("english", begin) if begin else Board("english")
        for _ in range(80):
            moves = list(board.legal_moves())
            if not moves:
                break
            board.push(chance.choice(moves))
        PDNWriter(sys.argv[1], board, tags={"Event": str(number)}, game_ending="*")
        print(board.fen)


if __name__ == "__main__":
    main()
