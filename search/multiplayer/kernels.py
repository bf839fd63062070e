"""Max^n, paranoid and best-reply search: one source for native and plain searches.

Paranoid and best-reply search (`search_one`) back up one number, for the player at the root, and
prune by alpha-beta. Max^n (`search_all`) backs up one number for each player.

Max^n prunes only if the game declares that outcomes add up to a constant (`Game.constant_sum`).
Then the numbers of a position are centred, so that they add up to 0 exactly: what the players have
at n successive nodes of a line adds up to 0 or more, so whatever comes now, one of the players
above prefers what it has already (speculative pruning, Sturtevant 2003). Which of them is open, so
that the nodes between answer with a *span*: the number of players above of whom one does not want
this. Moves that were left open so are searched again, without those above, if the choice of their
node matters to all of them. Where the last move of a node is pruned, nothing is searched again,
which is last-branch pruning (Sturtevant 2003).

Moves are tried in the order of the gains that the rules state, equal ones in the game's order, and
the first of equal moves is kept, as in `search.textbook.max_n`.

Sources: Luckhardt and Irani 1986 (max^n), Sturtevant and Korf 2000 (paranoid), Sturtevant 2003,
Schadd and Winands 2011 (best reply).
"""

from __future__ import annotations

from numba import float64, int64

from games.kernels import kernel
from games.values import EXACT, GRID, LOWER, UPPER, WIN
from search.alphabeta.negamax import bound_holds, from_here, from_root, next_best, remember_line
from search.multiplayer.native import DEEPEST, key_for, outcome_to, turn
from search.native import (
    FINISHED,
    has_room,
    legal_moves,
    move_at,
    play,
    set_order,
    static_value,
    status,
)
from search.root import RECORD, settle
from search.table import probe_table, store_table

PARANOID, BEST_REPLY, MAX_N = 0, 1, 2
INFINITY = float("inf")
#: Static values that are centred are rounded to multiples of 1 / GRID and limited, so that sums are
#: exact; where outcomes are wins, they are limited to be less than one.
MOST = 1048576.0
#: Less than any difference of centred values.
HALF_STEP = 0.5 / GRID
#: A win in n plies is END - n times the outcome, in max^n.
END = 16777216.0
TABLE_SCORE = 1e30
#: The move-ordering scores of moves that are left open lie below all others, the first highest.
OPEN = 1e15


@kernel
def one_value(line, ply, behind):
    """Returns the value at a leaf for the player who moves `behind` moves after the mover."""
    if status(line, ply) == FINISHED:
        value = outcome_to(line, ply, behind)
        if line.wins:
            if value > 0.0:
                return WIN - ply
            if value < 0.0:
                return ply - WIN
        return value
    if behind == 0:
        return static_value(line, ply)
    turn(line, ply, ply + 1)
    for _ in range(behind - 1):
        turn(line, ply + 1, ply + 1)
    return static_value(line, ply + 1)


@kernel(signature=float64(RECORD, int64, float64, float64, int64, int64))
def search_one(line, depth, alpha, beta, ply, behind):
    """Returns the value of the position at `ply` for the player at the root, by alpha-beta.

    behind: how many moves that player comes behind the side to move; 0 for the side to move.

    The value is exact between alpha and beta, beyond them a bound (fail-soft). It is meaningless
    once `line.stop` is set.
    """
    line.nodes += 1
    if depth <= 0 or ply >= DEEPEST or status(line, ply) == FINISHED or not has_room(line, ply):
        return one_value(line, ply, behind)
    if line.nodes >= line.node_limit:
        line.stop = 1
    if line.stop != 0:
        return 0.0
    replying = line.method == BEST_REPLY and ply % 2 == 1
    if line.method == BEST_REPLY:
        for _ in range(behind):
            turn(line, ply, ply)
        behind = 0
    maximise = behind == 0 and not replying
    key = 0
    hint = -1
    if depth > 1 and not replying:
        key = key_for(line, ply, behind)
        line.probes += 1
        if probe_table(line, key):
            line.hits += 1
            hint = line.hit_move
            value = from_root(line.hit_value, ply)
            if line.hit_depth == depth and bound_holds(line.hit_bound, value, alpha, beta):
                return value
    low, high = alpha, beta
    best = -INFINITY if maximise else INFINITY
    best_index = 0
    for seat in range(line.players - 1 if replying else 1):
        if replying:
            turn(line, ply, ply)
        after = line.players - 2 - seat if replying else (behind - 1) % line.players
        count = legal_moves(line, ply)
        first = line.first[ply]
        if 0 <= hint < count:
            set_order(line, first + hint, TABLE_SCORE)
        for _ in range(count):
            index = next_best(line, first, count)
            play(line, ply, move_at(line, first + index))
            value = search_one(line, depth - 1, low, high, ply + 1, after)
            if line.stop != 0:
                return 0.0
            if value > best if maximise else value < best:
                best = value
                best_index = index
            if maximise:
                low = max(low, best)
            else:
                high = min(high, best)
            if low >= high:
                break
        if low >= high:
            break
    if depth > 1 and not replying:
        bound = UPPER if best <= alpha else LOWER if best >= beta else EXACT
        store_table(line, key, from_here(best, ply), depth, bound, best_index, 0)
    return best


@kernel
def all_values(line, ply):
    """Write the values of a leaf for all players to `line.vectors`, the mover first.

    They are centred if `line.centred` is set: times the number of players, less their sum.
    """
    count = line.players
    total = 0.0
    if status(line, ply) == FINISHED:
        scale = END - ply if line.wins else 1.0
        for player in range(count):
            value = outcome_to(line, ply, player)
            line.vectors[ply, player] = value * scale
            total += value * scale
    else:
        for player in range(count):
            if player == 1:
                turn(line, ply, ply + 1)
            elif player > 1:
                turn(line, ply + 1, ply + 1)
            value = static_value(line, ply if player == 0 else ply + 1)
            if line.centred or line.wins:
                value = min(max(value, -MOST), MOST)
            if line.centred:
                value = round(value * GRID) / GRID
            line.vectors[ply, player] = value
            total += value
    if line.centred:
        for player in range(count):
            line.vectors[ply, player] = line.vectors[ply, player] * count - total


@kernel
def unwanted(line, ply, floor):
    """Returns the span of players above with one who gains nothing from the rest here; else 0.

    floor: the highest ply whose player may be counted on.
    """
    top = ply - line.players + 1
    if top < floor or not line.centred:
        return 0
    total = 0.0
    for above in range(top, ply + 1):
        total += line.own[above]
    return line.players - 1 if total >= 0.0 else 0


@kernel
def take_values(line, ply, floor):
    """Make the values of the last move those of the position; returns the span of `unwanted`."""
    for player in range(line.players):
        line.vectors[ply, player] = line.vectors[ply + 1, player - 1]
    line.vectors[ply, 0] = line.own[ply] = line.vectors[ply + 1, line.players - 1]
    return unwanted(line, ply, floor)


@kernel(signature=int64(RECORD, int64, int64, int64))
def search_all(line, depth, ply, floor):
    """Put the values of the position at `ply` for all players, the mover first, in `line.vectors`.

    floor: the highest ply whose player may be counted on for pruning.

    Returns 0, or the span if it was pruned; the vector is then no value.
    """
    line.nodes += 1
    if depth <= 0 or ply >= DEEPEST or status(line, ply) == FINISHED or not has_room(line, ply):
        all_values(line, ply)
        return 0
    line.own[ply] = -INFINITY
    # moves that were left open, those of them before the best move, and the longest of their spans
    left_open = before = open_span = 0
    count = tries = legal_moves(line, ply)
    first = line.first[ply]
    again = False
    while True:
        for number in range(tries):
            if line.nodes >= line.node_limit:
                line.stop = 1
            if line.stop != 0:
                return 0
            index = next_best(line, first, count)
            play(line, ply, move_at(line, first + index))
            own, earlier = line.own[ply], again and number < before
            if earlier:  # than the best move, so that an equal one is wanted
                line.own[ply] = own - HALF_STEP
            span = search_all(line, depth - 1, ply + 1, ply if again else floor)
            line.own[ply] = own
            if span > 1:
                set_order(line, first + index, -OPEN * (OPEN + number))
                left_open += 1
                open_span = max(open_span, span - 1)
            value = line.vectors[ply + 1, line.players - 1]
            if span == 0 and (value > own or earlier and value == own):
                before = 0 if again else left_open
                span = take_values(line, ply, floor)
                if span > 0:
                    return span
        if again or left_open == 0:
            return 0
        for above in range(1, open_span + 1):
            if line.vectors[ply, line.players - above] <= line.own[ply - above]:
                return open_span
        again, tries = True, left_open


@kernel
def move_value(line, depth, index, best):
    """Returns the value of a root move to its mover, -INFINITY if it is no better than `best`."""
    play(line, 0, line.root_moves[index])
    if line.method != MAX_N:
        after = line.players - 1
        low = -INFINITY if line.exact_root else best
        return search_one(line, depth - 1, low, INFINITY, 1, after)
    line.own[0] = -INFINITY if line.exact_root else best
    if search_all(line, depth - 1, 1, 1 if line.exact_root else 0) > 0:
        return -INFINITY
    return line.vectors[1, line.players - 1]


@kernel
def search_depth(line, depth):
    """Returns the value of the root, searched `depth` plies deep, see `search.root`.

    Max^n keeps the order of the root moves, because it decides among equal ones.
    """
    best = -INFINITY
    line.first[1] = 0
    for i in range(line.root_count):
        value = move_value(line, depth, i, best)
        if line.stop != 0:
            break
        line.root_values[i] = value
        if value > best:
            best = value
            line.best = i
            line.value = value
            remember_line(line, 0, line.root_moves[i])
    proven = END if line.method == MAX_N else WIN
    line.final = line.wins != 0 and abs(best) >= proven / 2
    settle(line, depth)
    return best
