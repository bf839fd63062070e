"""Terms of Chinese Checkers; each describes the side to move, its rivals or its lead over them.

Leads of all sides add up to 0, and those of two sides are each other's negatives.

The functions are kernels for a number of players, by `games.kernels.family`, as those of
`games.chinese_checkers.rules`. They read STEPS, its SQUARES, and SIDEWAYS: [side, cell], by how
many steps a cell is nearer to one of the points beside the side's own than to the other.
"""

from __future__ import annotations

import numpy as np

from games.chinese_checkers.rules import PLAYERS, STEPS, TARGETS, WORDS
from games.chinese_checkers.star import CELLS, HOPS, LOW, NEIGHBOURS
from games.kernels import lowest, popcount

__all__ = ["HELPERS", "LEADS", "TERMS"]

#: Placeholders, as those of the rules.
SIDEWAYS = SQUARES = np.zeros((2, CELLS), dtype=np.int64)
#: Steps of ten pieces that have arrived.
ARRIVED = 20


def sum_of(position, player, table):
    """Returns the sum of a table's entries at a player's pieces."""
    side = (position[WORDS] + player) % PLAYERS
    total = 0
    for word in range(2):
        pieces = position[2 * player + word]
        while pieces:
            total += table[side, lowest(pieces) + LOW * word]
            pieces &= pieces - 1
    return total


def steps_of(position, player):
    """Returns the steps that a player's pieces have to go, 0 when all have arrived."""
    return sum_of(position, player, STEPS) - ARRIVED


def steps(position):
    """Steps that the own pieces have to go."""
    return steps_of(position, 0)


def next_steps(position):
    """Steps that the pieces of the player who moves next have to go."""
    return steps_of(position, 1)


def rival_steps(position):
    """Steps that the pieces of all other players have to go, on average."""
    total = 0.0
    for player in range(1, PLAYERS):
        total += steps_of(position, player)
    return total / (PLAYERS - 1)


def leader_steps(position):
    """Steps that the pieces of the foremost of the other players have to go."""
    fewest = steps_of(position, 1)
    for player in range(2, PLAYERS):
        fewest = min(fewest, steps_of(position, player))
    return fewest


def last_piece(position):
    """Steps that the hindmost own piece has to go."""
    side = position[WORDS]
    most = 0
    for word in range(2):
        pieces = position[word]
        while pieces:
            most = max(most, STEPS[side, lowest(pieces) + LOW * word])
            pieces &= pieces - 1
    return most


def square_steps(position):
    """Sum of the squares of the steps of the own pieces, in tens: large for stragglers."""
    return 0.1 * sum_of(position, 0, SQUARES)


def sideways(position):
    """Distances of the own pieces from the line between the own point and the opposite one."""
    return sum_of(position, 0, SIDEWAYS)


def arrived(position):
    """Own pieces in the opposite point."""
    side = position[WORDS]
    return popcount(position[0] & TARGETS[side, 0]) + popcount(position[1] & TARGETS[side, 1])


def hops(position):
    """Hops forward that own pieces have, counting only the first of each way."""
    low = high = 0
    for player in range(PLAYERS):
        low |= position[2 * player]
        high |= position[2 * player + 1]
    side = position[WORDS]
    count = 0
    for word in range(2):
        pieces = position[word]
        while pieces:
            cell = lowest(pieces) + LOW * word
            pieces &= pieces - 1
            for direction in range(6):
                landing = HOPS[cell, direction]
                if landing < 0 or STEPS[side, landing] >= STEPS[side, cell]:
                    continue
                over = NEIGHBOURS[cell, direction]
                full = low >> over & 1 if over < LOW else high >> (over - LOW) & 1
                taken = low >> landing & 1 if landing < LOW else high >> (landing - LOW) & 1
                if full and not taken:
                    count += 1
    return count


def always(position):
    """Always 1."""
    return 1


def ahead(position, table):
    """Returns the mean of the other players' sums of a table, less that of the side to move."""
    total = 0.0
    for player in range(1, PLAYERS):
        total += sum_of(position, player, table)
    return total / (PLAYERS - 1) - sum_of(position, 0, table)


def farthest(position, player):
    """Returns the steps that a player's hindmost piece has to go."""
    side = (position[WORDS] + player) % PLAYERS
    most = 0
    for word in range(2):
        pieces = position[2 * player + word]
        while pieces:
            most = max(most, STEPS[side, lowest(pieces) + LOW * word])
            pieces &= pieces - 1
    return most


def steps_ahead(position):
    """Steps that the others' pieces have to go on average, less those of the own pieces."""
    return ahead(position, STEPS)


def squares_ahead(position):
    """The lead in squares of steps, in tens: large where others have stragglers."""
    return 0.1 * ahead(position, SQUARES)


def line_ahead(position):
    """The lead in distances from the line between the own point and the opposite one."""
    return ahead(position, SIDEWAYS)


def last_ahead(position):
    """Steps that the others' hindmost pieces have to go on average, less those of the own one."""
    total = 0.0
    for player in range(1, PLAYERS):
        total += farthest(position, player)
    return total / (PLAYERS - 1) - farthest(position, 0)


#: The functions that the terms call, the terms, and the leads; all are made kernels.
HELPERS = (sum_of, steps_of, ahead, farthest)
TERMS = (
    steps, next_steps, rival_steps, leader_steps, last_piece, square_steps, sideways, arrived, hops,
    always,
)  # fmt: skip
LEADS = (steps_ahead, last_ahead, squares_ahead, line_ahead)
