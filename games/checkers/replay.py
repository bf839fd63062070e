"""Plays the moves of a text, in one native call for a whole game."""

from __future__ import annotations

from games.checkers.rules import MOST_MOVES, SQUARES, irreversible, legal_moves, play
from games.kernels import kernel, popcount

__all__ = ["FEWEST_CHARACTERS", "MOST_MOVES", "MOST_SQUARES", "replay"]

#: No text names more than one move in this many characters.
FEWEST_CHARACTERS = 3
#: A move may name this many squares; no legal move visits more than ten.
MOST_SQUARES = 16


@kernel
def fits(move, squares, count):
    """Returns 0 unless a move has the start and end of `squares` and passes the others in order.

    Else returns 2 if it visits no other squares, and 1 if it does.
    """
    bit = move & 63
    end = move >> 6 & 63
    if bit + 1 - bit // 9 != squares[0] or end + 1 - end // 9 != squares[count - 1]:
        return 0
    jumps = popcount(move >> 12 & SQUARES)
    visited = max(jumps, 1) + 1
    met = 1
    for jump in range(jumps - 1):
        direction = move >> 47 + 2 * jump & 3
        step = 8 + 2 * (direction & 1)
        bit += step if direction < 2 else -step
        if met < count - 1 and bit + 1 - bit // 9 == squares[met]:
            met += 1
    if met < count - 1:
        return 0
    return 2 if visited == count else 1


@kernel
def named(position, squares, count, moves):
    """Returns the legal move that a text names by its squares; -1 if it names none or several."""
    found, times, exact = -1, 0, 0
    for i in range(legal_moves(position, moves)):
        fit = fits(int(moves[i]), squares, count)
        if fit == 2:
            exact += 1
            found = moves[i]
        elif fit == 1:
            times += 1
            if exact == 0:
                found = moves[i]
    return found if exact == 1 or exact == 0 and times == 1 else -1


@kernel
def replay(text, positions, played, quiet, squares, moves):
    """Play the moves of a text, such as `1. 11-15 22-17 2. 15-19`, and ignore their numbers.

    Returns the number n of moves played, or -1 - n if the next one is not legal.

    text: [characters], codes of digits, dots, spaces, and signs between squares.
    positions: [plies + 1, 4]; the first is the position before the moves, the others are written.
    played: [plies] the moves, written.
    quiet: [plies + 1] plies since the last irreversible move; the first is given, others written.
    squares, moves: [MOST_SQUARES], [MOST_MOVES], scratch.
    """
    place, size, plies = 0, len(text), 0
    while place < size:
        code = text[place]
        if code < 48 or code > 57:
            place += 1
            continue
        count = 0
        going = True
        while going:
            number = 0
            while place < size and 48 <= text[place] <= 57:
                number = min(10 * number + text[place] - 48, 100)
                place += 1
            if count == 0 and place < size and text[place] == 46:
                break  # the number of a move
            if count == len(squares):
                return -1 - plies
            squares[count] = number
            count += 1
            here = place
            while here < size and (text[here] == 32 or 9 <= text[here] <= 13):
                here += 1
            # Characters before the next digit: a sign between squares, or another move.
            going = here < size and text[here] != 46 and not 48 <= text[here] <= 57
            if going:
                place = here + 1
                while place < size and (text[place] == 32 or 9 <= text[place] <= 13):
                    place += 1
        if count == 0:
            continue
        before = positions[plies]
        position = (int(before[0]), int(before[1]), int(before[2]), int(before[3]))
        move = named(position, squares, count, moves)
        if move < 0:
            return -1 - plies
        after = play(position, move)
        for i in range(4):
            positions[plies + 1, i] = after[i]
        played[plies] = move
        quiet[plies + 1] = 0 if irreversible(position, move) else quiet[plies] + 1
        plies += 1
    return plies
