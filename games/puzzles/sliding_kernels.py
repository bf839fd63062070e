"""The kernels of sliding tiles; `games.puzzles.sliding_tiles` makes a family for each board.

The constants here are those of the 15-puzzle; each family has its own.
"""

from __future__ import annotations

import numpy as np

from games.kernels import popcount, shift_left, shift_right
from games.puzzles.arrangements import places_of

WIDTH, HEIGHT, SQUARES = 4, 4, 16
#: Bits of a tile, tiles of a word, words of a position (1 to 3).
BITS, EACH, MASK, WORDS = 4, 16, 15, 1
#: The square of each tile in the goal, and the words of the goal.
HOME, GOAL = np.zeros(SQUARES, dtype=np.int64), (0,)
#: The position of the goal.
AT_GOAL = (0, 0)
#: For each square the squares above, left, right and below it, and their number.
NEIGHBOURS = np.zeros((SQUARES, 5), dtype=np.int64)
#: The steps from each tile's own square to each square, [tile, square]; 0 for the blank.
DISTANCE = np.zeros((SQUARES, SQUARES), dtype=np.int64)
#: Of cells: which way the home of a tile lies, as signs (2 for any but 0), and steps for each bit.
DOWN, RIGHT, TOGETHER, MOST = 0, 0, 1, 52
#: Of a pattern: its tiles and their number.
TILES, TILE_COUNT = np.zeros(1, dtype=np.int64), 1


def tile_at(position, square):
    """Returns the tile on a square, 0 for the blank."""
    return shift_right(position[square // EACH], BITS * (square % EACH)) & MASK


def legal_moves(position, moves):
    """Write the squares above, left, right and below the blank; returns their number."""
    blank = position[WORDS]
    count = NEIGHBOURS[blank, 4]
    for i in range(count):
        moves[i] = NEIGHBOURS[blank, i]
    return count


def changed(position, move, word):
    """Returns a word of the position after the tile on square `move` slides to the blank."""
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
    """Returns the move that slides the tile back: the square where the blank was."""
    return position[WORDS]


def misplaced(position):
    """The number of tiles that are not on their squares."""
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
    """Change of the Manhattan distance by a move: 1 or -1."""
    tile = tile_at(position, move)
    return DISTANCE[tile, position[WORDS]] - DISTANCE[tile, move]


def at_home(tile, line, in_row):
    """Whether a tile's goal square lies on a line (a row if `in_row`, else a column)."""
    return tile != 0 and (HOME[tile] // WIDTH if in_row else HOME[tile] % WIDTH) == line


def tile_after(position, move, square):
    """Returns the tile on a square after a move; -1 is no move."""
    if move < 0:
        return tile_at(position, square)
    if square == move:
        return 0
    return tile_at(position, move if square == position[WORDS] else square)


def leaving(position, move, line, in_row):
    """Returns the number of tiles that must leave a line to let the others reach their squares.

    That is the number of tiles that belong there minus their longest increasing subsequence, after
    a move, or -1 for none.
    """
    first, step, length = (line * WIDTH, 1, WIDTH) if in_row else (line, WIDTH, HEIGHT)
    belonging = 0
    best = 0
    chains = 0  # four bits a place: length of the longest increasing subsequence that ends there
    for place in range(length):
        tile = tile_after(position, move, first + place * step)
        if at_home(tile, line, in_row):
            belonging += 1
            longest = 1
            for before in range(place):
                other = tile_after(position, move, first + before * step)
                if at_home(other, line, in_row) and HOME[other] < HOME[tile]:
                    longest = max(longest, 1 + (chains >> 4 * before & 15))
            chains |= longest << 4 * place
            best = max(best, longest)
    return belonging - best


def linear_conflict(position):
    """Manhattan distance plus 2 for each tile that must leave its line to let another pass.

    Source: Hansson, Mayer and Yung 1992.
    """
    total = manhattan(position)
    for line in range(HEIGHT):
        total += 2 * leaving(position, -1, line, True)
    for line in range(WIDTH):
        total += 2 * leaving(position, -1, line, False)
    return total


def linear_conflict_change(position, move):
    """Change of the linear conflict by a move: only the two lines across the move change."""
    in_row = position[WORDS] % WIDTH == move % WIDTH
    total = manhattan_change(position, move)
    for square in (position[WORDS], move):
        line = square // WIDTH if in_row else square % WIDTH
        total += 2 * (leaving(position, move, line, in_row) - leaving(position, -1, line, in_row))
    return total


def steps_to_go(position):
    """Returns a low bit for each step of the Manhattan distance, or for each `TOGETHER` steps."""
    return shift_left(1, min(manhattan(position) // TOGETHER, MOST)) - 1


def is_way(wanted, steps):
    """Whether steps along an axis have the wanted direction: -1, 0, 1, or 2 for both -1 and 1."""
    if steps == 0 or wanted == 2:
        return steps != 0 if wanted == 2 else wanted == 0
    return wanted == (1 if steps > 0 else -1)


def due(position):
    """Returns the squares of the tiles whose homes lie in one direction."""
    found = 0
    for square in range(SQUARES):
        tile = tile_at(position, square)
        home = HOME[tile]
        down = is_way(DOWN, home // WIDTH - square // WIDTH)
        if tile != 0 and down and is_way(RIGHT, home % WIDTH - square % WIDTH):
            found |= 1 << square
    return found


def free(position):
    """Returns the square of the blank."""
    return 1 << position[WORDS]


def nothing(position):
    """Returns no square, because there is no other side."""
    return 0


def at_goal(position):
    """Returns the goal."""
    return AT_GOAL


def parity(position):
    """Returns the parity of the length of every solution, which is that of the blank's way."""
    blank, home = position[WORDS], HOME[0]
    rows = blank // WIDTH - home // WIDTH
    columns = blank % WIDTH - home % WIDTH
    return (rows + columns) & 1


def over(square):
    """Returns the square that a square takes when the board is mirrored at the diagonal."""
    return square % WIDTH * WIDTH + square // WIDTH


def turned_over(position, word):
    """Returns a word of a square board mirrored at the diagonal, tiles renamed accordingly."""
    value = 0
    for square in range(EACH * word, min(EACH * (word + 1), SQUARES)):
        value |= shift_left(over(tile_at(position, over(square))), BITS * (square % EACH))
    return value


def mirror(position):
    """Returns the board mirrored at the diagonal, whose solutions are equally long."""
    first, blank = turned_over(position, 0), over(position[WORDS])
    if WORDS == 1:
        return (first, blank)
    if WORDS == 2:
        return (first, turned_over(position, 1), blank)
    return (first, turned_over(position, 1), turned_over(position, 2), blank)


def play(position, move):
    """Returns the position after the tile on square `move` slides to the blank."""
    first = changed(position, move, 0)
    if WORDS == 1:
        return (first, move)
    if WORDS == 2:
        return (first, changed(position, move, 1), move)
    return (first, changed(position, move, 1), changed(position, move, 2), move)


def tile_pairs(position, places):
    """Write the input of each pair of squares, which combines their number and the two tiles."""
    count, here = 0, 0
    for first in range(WORDS):
        rest = position[first]
        for _ in range(min(EACH, SQUARES - here)):
            tile = rest & MASK
            rest = shift_right(rest, BITS)
            here += 1
            others, there = rest, here
            for word in range(first, WORDS):
                if word > first:
                    others = position[word]
                for _ in range(min(EACH * (word + 1), SQUARES) - there):
                    places[count] = (count * SQUARES + tile) * SQUARES + (others & MASK)
                    others = shift_right(others, BITS)
                    count += 1
                    there += 1
    return count


def placed(position, word):
    """Returns a word of the squares of the tiles, packed as the tiles of the squares are."""
    value = 0
    for square in range(SQUARES):
        tile = tile_at(position, square)
        if tile // EACH == word:
            value |= shift_left(square, BITS * (tile % EACH))
    return value


def view(position):
    """Returns the square of each tile."""
    if WORDS == 1:
        return (placed(position, 0),)
    if WORDS == 2:
        return (placed(position, 0), placed(position, 1))
    return (placed(position, 0), placed(position, 1), placed(position, 2))


def tiles_index(view):
    """Returns the number of the arrangement of the pattern's tiles."""
    number, taken = 0, 0
    for slot in range(TILE_COUNT):
        square = tile_at(view, TILES[slot])
        here = 1 << square
        number = number * (SQUARES - slot) + square - popcount(taken & (here - 1))
        taken |= here
    return number


def tiles_mirror(view):
    """Returns the number of the arrangement of the pattern's tiles in the mirror image."""
    number, taken = 0, 0
    for slot in range(TILE_COUNT):
        square = over(tile_at(view, over(TILES[slot])))
        here = 1 << square
        number = number * (SQUARES - slot) + square - popcount(taken & (here - 1))
        taken |= here
    return number


def with_blank(view, number, blank):
    """Returns the number of the arrangement of the pattern's tiles and the blank.

    number: that of the tiles alone.
    """
    free = blank
    for slot in range(TILE_COUNT):
        if tile_at(view, TILES[slot]) < blank:
            free -= 1
    return number * (SQUARES - TILE_COUNT) + free


def blank_index(view):
    """Returns the number of the arrangement of the pattern's tiles and the blank."""
    return with_blank(view, tiles_index(view), tile_at(view, 0))


def blank_mirror(view):
    """Returns the number of the arrangement of tiles and blank in the mirror image."""
    blank = over(tile_at(view, 0))
    free = blank
    for slot in range(TILE_COUNT):
        if over(tile_at(view, over(TILES[slot]))) < blank:
            free -= 1
    return tiles_mirror(view) * (SQUARES - TILE_COUNT) + free


def rank(position):
    """Returns the number of an abstract position."""
    squares = view(position)
    return with_blank(squares, tiles_index(squares), position[WORDS])


def unrank(number):
    """Returns the abstract position with a number; other tiles are 0."""
    places = places_of(number, TILE_COUNT + 1, SQUARES)
    first, second, third = 0, 0, 0
    for slot in range(TILE_COUNT):
        square = places >> 5 * slot & 31
        value = shift_left(TILES[slot], BITS * (square % EACH))
        if square < EACH:
            first |= value
        elif square < 2 * EACH:
            second |= value
        else:
            third |= value
    blank = places >> 5 * TILE_COUNT & 31
    if WORDS == 1:
        return (first, blank)
    if WORDS == 2:
        return (first, second, blank)
    return (first, second, third, blank)


def own_cost(position, move):
    """Returns 1 if the tile that slides belongs to the pattern, else 0."""
    return 1 if tile_at(position, move) != 0 else 0


def move_cost(position, move):
    """Returns 1, for any tile that slides."""
    return 1
