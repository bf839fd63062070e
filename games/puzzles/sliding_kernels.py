"""The kernels of sliding tiles; `games.puzzles.sliding_tiles` makes a family for each board.

The constants here are those of the 15-puzzle.
"""

from __future__ import annotations

import numpy as np

from games.kernels import shift_left, shift_right

WIDTH, HEIGHT, SQUARES = 4, 4, 16
#: Bits of a tile, tiles of a word, words of a position.
BITS, EACH, MASK, WORDS = 4, 16, 15, 1
#: The square of each tile in the goal, and the words of the goal.
HOME, GOAL = np.zeros(SQUARES, dtype=np.int64), (0,)
#: For each square those above, left, right and below it, and how many there are.
NEIGHBOURS = np.zeros((SQUARES, 5), dtype=np.int64)
#: The steps from each tile's own square to each square, [tile, square]; 0 for the blank.
DISTANCE = np.zeros((SQUARES, SQUARES), dtype=np.int64)


def tile_at(position, square):
    """The tile on a square, 0 for the blank."""
    return shift_right(position[square // EACH], BITS * (square % EACH)) & MASK


def legal_moves(position, moves):
    """Write the squares beside the blank: above, left, right, below."""
    blank = position[WORDS]
    count = NEIGHBOURS[blank, 4]
    for i in range(count):
        moves[i] = NEIGHBOURS[blank, i]
    return count


def changed(position, move, word):
    """A word of the position after the tile on square `move` slides to the blank."""
    blank, tile = position[WORDS], tile_at(position, move)
    value = position[word]
    if move // EACH == word:
        value ^= shift_left(tile, BITS * (move % EACH))
    if blank // EACH == word:
        value ^= shift_left(tile, BITS * (blank % EACH))
    return value


def solved(position):
    """Whether all tiles are in order."""
    for word in range(WORDS):
        if position[word] != GOAL[word]:
            return False
    return True


def undo(position, move):
    """The tile slides back from where the blank was."""
    return position[WORDS]


def misplaced(position):
    """The tiles that are not on their squares."""
    count = 0
    for square in range(SQUARES):
        tile = tile_at(position, square)
        if tile != 0 and HOME[tile] != square:
            count += 1
    return count


def manhattan(position):
    """The sum of the tiles' distances from their squares, along rows and columns."""
    total = 0
    for square in range(SQUARES):
        total += DISTANCE[tile_at(position, square), square]
    return total


def manhattan_change(position, move):
    """What a move adds to the Manhattan distance: 1 or -1."""
    tile = tile_at(position, move)
    return DISTANCE[tile, position[WORDS]] - DISTANCE[tile, move]


def at_home(tile, line, in_row):
    """Whether a tile's own square lies on a line, a row or a column."""
    return tile != 0 and (HOME[tile] // WIDTH if in_row else HOME[tile] % WIDTH) == line


def leaving(position, first, step, length, line, in_row):
    """How many tiles have to leave a line so that the others can reach their squares.

    All that belong there, less the longest rising sequence of them.
    """
    belonging = 0
    best = 0
    chains = 0  # four BITS a place: the longest rising sequence that ends there
    for place in range(length):
        tile = tile_at(position, first + place * step)
        if at_home(tile, line, in_row):
            belonging += 1
            longest = 1
            for before in range(place):
                other = tile_at(position, first + before * step)
                if at_home(other, line, in_row) and HOME[other] < HOME[tile]:
                    longest = max(longest, 1 + (chains >> 4 * before & 15))
            chains |= longest << 4 * place
            best = max(best, longest)
    return belonging - best


def linear_conflict(position):
    """Manhattan, and 2 for each tile that must leave its line for another to pass.

    Source: Hansson, Mayer and Yung 1992.
    """
    total = manhattan(position)
    for line in range(HEIGHT):
        total += 2 * leaving(position, line * WIDTH, 1, WIDTH, line, True)
    for line in range(WIDTH):
        total += 2 * leaving(position, line, WIDTH, HEIGHT, line, False)
    return total


def parity(position):
    """0 where solutions have an even number of moves, as many as the blank has to its square."""
    blank, home = position[WORDS], HOME[0]
    rows = blank // WIDTH - home // WIDTH
    columns = blank % WIDTH - home % WIDTH
    return (rows + columns) & 1


def over(square):
    """The square that a square takes when the board is turned over at the diagonal."""
    return square % WIDTH * WIDTH + square // WIDTH


def turned_over(position, word):
    """A word of a square board turned over at the diagonal, with the tiles renamed alike."""
    value = 0
    for square in range(EACH * word, min(EACH * (word + 1), SQUARES)):
        value |= shift_left(over(tile_at(position, over(square))), BITS * (square % EACH))
    return value


def mirror_one(position):
    """The board turned over at the diagonal, whose solutions are as long."""
    return (turned_over(position, 0), over(position[WORDS]))


def mirror_two(position):
    """The board turned over at the diagonal, whose solutions are as long."""
    return (turned_over(position, 0), turned_over(position, 1), over(position[WORDS]))


def mirror_three(position):
    """The board turned over at the diagonal, whose solutions are as long."""
    first, second = turned_over(position, 0), turned_over(position, 1)
    return (first, second, turned_over(position, 2), over(position[WORDS]))


def play_one(position, move):
    """The position after the tile on square `move` slides to the blank."""
    return (changed(position, move, 0), move)


def play_two(position, move):
    """The position after the tile on square `move` slides to the blank."""
    return (changed(position, move, 0), changed(position, move, 1), move)


def play_three(position, move):
    """The position after the tile on square `move` slides to the blank."""
    first, second = changed(position, move, 0), changed(position, move, 1)
    return (first, second, changed(position, move, 2), move)


def tile_pairs(position, places):
    """Write the input of each pair of tiles a < b: their number, their squares."""
    count = 0
    for here in range(SQUARES):
        for there in range(here + 1, SQUARES):
            a = tile_at(position, here)
            b = tile_at(position, there)
            if a < b:
                pair = b * (b - 1) // 2 + a
                places[count] = (pair * SQUARES + here) * SQUARES + there
            else:
                pair = a * (a - 1) // 2 + b
                places[count] = (pair * SQUARES + there) * SQUARES + here
            count += 1
    return count
