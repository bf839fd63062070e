"""Rules of Chinese Checkers, as in OpenSpiel, for 2, 3, 4 and 6 players.

A piece moves one step to an empty cell next to it, or hops over a piece of any player to the empty
cell behind it, and may continue to hop. Nobody needs to hop. Who fills the point opposite to its
own first wins; a game without a winner after a number of moves is drawn. A player who has no move
passes.

A position has two words for the pieces of each player, the side to move first (`star.both_words`),
then the side to move and the number of moves played. A move is the cell that the piece ends on and,
from bit 7, the cell that it starts from: the way between them changes nothing.

The functions below are kernels for a number of players, by `games.kernels.family`; they read

    PLAYERS     the number of players
    WORDS       twice that
    LAST_MOVE   the number of moves after which a game is drawn
    TARGETS     [side, word]: the cells that a side has to fill
    STEPS       [side, cell]: steps to the farthest of them
"""

from __future__ import annotations

import numpy as np

from games.chinese_checkers.star import CELLS, HOPS, LOW, NEIGHBOURS
from games.kernels import kernel, lowest

__all__ = ["PASS", "RULES", "gain", "legal_moves", "outcome", "outcome_vector", "play", "turn"]

#: The move of a player who cannot move.
PASS = 127 << 7 | 127
_NAN = float("nan")

# Placeholders: the names that a family gives its own values.
PLAYERS, WORDS, LAST_MOVE = 2, 4, 1000
TARGETS = np.zeros((2, 2), dtype=np.int64)
STEPS = np.zeros((2, CELLS), dtype=np.int64)


@kernel
def holds(low, high, cell):
    """Returns 1 if a set of cells has the cell, else 0."""
    return low >> cell & 1 if cell < LOW else high >> (cell - LOW) & 1


@kernel
def write_moves(low, high, origin, moves, count):
    """Append the moves of the piece on `origin`; `low` and `high` are the cells of all pieces.

    Returns the new number of moves. The moves are in the order of the cells that they end on.
    """
    # the cells reached, and those of them from which hops are still to be tried
    reached_low = reached_high = 0
    if origin < LOW:
        low &= ~(1 << origin)
        open_low, open_high = 1 << origin, 0
    else:
        high &= ~(1 << (origin - LOW))
        open_low, open_high = 0, 1 << (origin - LOW)
    seen_low, seen_high = open_low, open_high
    for direction in range(6):
        cell = NEIGHBOURS[origin, direction]
        if cell >= 0 and not holds(low, high, cell):
            if cell < LOW:
                reached_low |= 1 << cell
            else:
                reached_high |= 1 << (cell - LOW)
    while open_low | open_high:
        if open_low:
            here = lowest(open_low)
            open_low &= open_low - 1
        else:
            here = lowest(open_high) + LOW
            open_high &= open_high - 1
        for direction in range(6):
            cell = HOPS[here, direction]
            if cell < 0 or not holds(low, high, NEIGHBOURS[here, direction]):
                continue
            if holds(low | seen_low, high | seen_high, cell):
                continue
            if cell < LOW:
                seen_low |= 1 << cell
                open_low |= 1 << cell
                reached_low |= 1 << cell
            else:
                seen_high |= 1 << (cell - LOW)
                open_high |= 1 << (cell - LOW)
                reached_high |= 1 << (cell - LOW)
    while reached_low:
        moves[count] = origin << 7 | lowest(reached_low)
        reached_low &= reached_low - 1
        count += 1
    while reached_high:
        moves[count] = origin << 7 | (lowest(reached_high) + LOW)
        reached_high &= reached_high - 1
        count += 1
    return count


def outcome(position):
    """Returns -1.0 if the player who moved last has won, 0.0 after the last move, else NaN."""
    mover = (position[WORDS] + PLAYERS - 1) % PLAYERS
    low, high = TARGETS[mover, 0], TARGETS[mover, 1]
    if position[WORDS - 2] & low == low and position[WORDS - 1] & high == high:
        return -1.0
    return 0.0 if position[WORDS + 1] >= LAST_MOVE else _NAN


def outcome_vector(position, values):
    """Write PLAYERS - 1 for the winner and -1 for all others, or 0 for all."""
    value = outcome(position)
    for player in range(PLAYERS):
        values[player] = value
    values[PLAYERS - 1] = -value * (PLAYERS - 1)


def legal_moves(position, moves):
    """Write the moves of each piece in the order of their cells; returns their number."""
    value = outcome(position)
    if value == value:
        return 0
    low = high = 0
    for player in range(PLAYERS):
        low |= position[2 * player]
        high |= position[2 * player + 1]
    count = 0
    for word in range(2):
        pieces = position[word]
        while pieces:
            count = write_moves(low, high, lowest(pieces) + LOW * word, moves, count)
            pieces &= pieces - 1
    if count == 0:
        moves[0] = PASS
        return 1
    return count


def play(position, move):
    """Returns the position after a move, seen by the next player."""
    low, high = position[0], position[1]
    if move != PASS:
        origin, target = move >> 7, move & 127
        if origin < LOW:
            low &= ~(1 << origin)
        else:
            high &= ~(1 << (origin - LOW))
        if target < LOW:
            low |= 1 << target
        else:
            high |= 1 << (target - LOW)
    side = (position[WORDS] + 1) % PLAYERS
    return (*position[2:WORDS], low, high, side, position[WORDS + 1] + 1)


def turn(position):
    """Returns the same board seen by the next player, who is to move."""
    side = (position[WORDS] + 1) % PLAYERS
    return (*position[2:WORDS], position[0], position[1], side, position[WORDS + 1])


def gain(position, move):
    """Returns by how many steps a move brings a piece nearer to the farthest cell to fill."""
    if move == PASS:
        return 0
    side = position[WORDS]
    return STEPS[side, move >> 7] - STEPS[side, move & 127]


#: The functions that are made kernels for each number of players, in order.
RULES = (outcome, outcome_vector, legal_moves, play, turn, gain)
MOST_MOVES = 10 * (CELLS - 10)
