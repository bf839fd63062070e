"""Compares backgammon with OpenSpiel's: `python -m benchmarks.backgammon_rules [--positions N]`.

For every position and one or more rolls, the sets of positions that can be reached are compared.
If gnubg-nn is installed, half of the positions come from random games and half from games of GNU
Backgammon's trained network (0 plies). In OpenSpiel a double is played in two turns of two checkers
each; only pairs of turns that move as many checkers as possible in all are counted.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tqdm import tqdm

import games
from games.backgammon.notation import NO_MOVE
from games.backgammon.rules import BAR, PROBABILITIES, ROLLS, Position
from games.backgammon.situation import checker_counts, roll_of

GAME: Any = games.load("backgammon")
Choose = Callable[[Position, int, list[Position]], Position]

# An observation holds, for X and then for O, four numbers for each of the 24 points: whether there
# are 1, 2 or 3 checkers, and how many more than 3. Then come, for X and for O, the checkers on the
# bar, those borne off and the turn; last, the dice.
_WEIGHTS = np.zeros((200 + 48, 4))


def _set_weights() -> None:
    for side in (0, 1):
        for index in range(24):
            point = 24 - index if side == 0 else index + 1
            column, shift = (2 * side, point) if point < 13 else (2 * side + 1, point - 13)
            place = 96 * side + 4 * index
            _WEIGHTS[place : place + 4, column] = np.array([1, 2, 3, 1]) * 16.0**shift
            _WEIGHTS[200 + 24 * side + index, column] = 3 * 16.0**shift
        _WEIGHTS[192 + 3 * side, 2 * side + 1] = 16.0 ** (BAR - 13)
        _WEIGHTS[193 + 3 * side, 2 * side] = 1


_set_weights()


def positions_of(states: list[Any], side: int) -> list[Position]:
    """Returns the positions of `states`, seen by the side to move; `side` is 0 for X (player 0)."""
    seen = np.array([state.observation_tensor(0) for state in states])
    packed = np.hstack([seen, seen[:, 3:192:4] > 0]) @ _WEIGHTS
    if side:
        packed = packed[:, [2, 3, 0, 1]]
    return [(*row, side) for row in packed.astype(np.int64).tolist()]


def reached(state: Any) -> dict[Position, Any]:
    """Returns the positions that the side to move can reach with its roll, with a state of each."""
    side = state.current_player()
    actions = state.legal_actions()
    children = [state.child(action) for action in actions]
    where = positions_of(children, 1 - side)
    again = [not child.is_terminal() and child.current_player() == side for child in children]
    if not any(again):
        return dict(zip(where, children, strict=True))
    # This is the first half of a double.
    found: dict[Position, tuple[int, Any]] = {}
    halves: dict[Position, tuple[int, Any]] = {}
    for position, action, child, more in zip(where, actions, children, again, strict=True):
        (halves if more else found)[position] = (_steps(state, side, action), child)
    for before, half in halves.values():
        actions = half.legal_actions()
        children = [half.child(action) for action in actions]
        steps = [before + _steps(half, side, action) for action in actions]
        where = positions_of(children, 1 - side)
        for position, total, child in zip(where, steps, children, strict=True):
            if position not in found or found[position][0] < total:
                found[position] = (total, child)
    most = max(steps for steps, _ in found.values())
    return {position: child for position, (steps, child) in found.items() if steps == most}


def _steps(state: Any, side: int, action: int) -> int:
    """Returns the number of checkers that an action moves."""
    return sum(move.pos != -1 for move in state.spiel_move_to_checker_moves(side, action))


def new_state(side: int) -> tuple[Any, dict[int, int]]:
    """Returns an OpenSpiel state after a first move by `side`, and its action for each roll."""
    game: Any = importlib.import_module("pyspiel").load_game("backgammon")
    state = game.new_initial_state()
    # The first roll also decides which side begins; the first move is the first one listed.
    state.apply_action(next(a for a, _ in state.chance_outcomes() if a % 2 == side))
    state.apply_action(state.legal_actions()[0])
    actions = {}
    for action, _ in state.chance_outcomes():
        first, second = state.action_to_string(-1, action).rstrip(")")[-2:]
        actions.setdefault(roll_of(int(first), int(second)), action)
    return state, actions


def ours(position: Position, roll: int) -> list[Position]:
    """Returns the positions that our rules lead to, in the order of the moves."""
    return [GAME.play(position, move) for move in GAME.legal_moves(position, roll)]


def compare(
    generator: random.Random, choose: Choose, *, rolls: int
) -> Iterator[tuple[Position, int, set[Position], set[Position]]]:
    """Play a game; yields what our rules and OpenSpiel's reach from each position.

    An item is (position, roll, ours, OpenSpiel's), for `rolls` rolls of each position.
    `choose` takes a position, a roll and the positions that can be reached, and returns one of
    these.
    """
    side = generator.randrange(2)
    state, actions = new_state(side)
    side = 1 - side
    while not state.is_terminal():
        (position,) = positions_of([state], side)
        drawn = generator.sample(range(len(ROLLS)), rolls)
        thrown = generator.choices(drawn, [PROBABILITIES[roll] for roll in drawn])[0]
        following = state
        for roll in drawn:
            theirs = reached(state.child(actions[roll]))
            mine = ours(position, roll)
            if len(set(mine)) != len(mine):
                raise AssertionError(f"a position is listed twice: {position}, roll {roll}")
            yield position, roll, set(mine), set(theirs)
            if roll == thrown:
                following = theirs[choose(position, roll, mine)]
        state, side = following, 1 - side


def at_random(generator: random.Random) -> Choose:
    """Returns a function that chooses moves at random."""
    return lambda position, roll, after: generator.choice(after)


def as_gnu_does(position: Position, roll: int, after: list[Position]) -> Position:
    """Returns the move of GNU Backgammon's network without looking ahead."""
    near, far, their_near, their_far, _ = position
    board = [checker_counts(their_near, their_far)[1:], checker_counts(near, far)[1:]]
    steps = importlib.import_module("gnubg_nn").best_move(board, *ROLLS[roll], 0)
    text = " ".join(f"{source}/{target}" for source, target in steps) or NO_MOVE
    result: Position = GAME.play(position, GAME.parse_move(position, text, roll))
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run the comparison; returns 1 if the rules differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.backgammon_rules")
    parser.add_argument("--positions", type=int, default=100_000)
    parser.add_argument("--rolls", type=int, default=1, help="of each position")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    generator = random.Random(options.seed)
    players = [at_random(generator)]
    if importlib.util.find_spec("gnubg_nn") is not None:
        players.append(as_gnu_does)
    counts = [0] * len(players)
    pairs = results = different = 0
    seen: set[Position] = set()
    began = time.process_time()
    bar = tqdm(total=options.positions, unit=" positions")
    while sum(counts) < options.positions:
        player = counts.index(min(counts))
        before: Position | None = None
        for position, roll, mine, theirs in compare(
            generator, players[player], rolls=options.rolls
        ):
            if position != before:
                counts[player] += 1
                bar.update()
            before = position
            seen.add(position)
            pairs += 1
            results += len(mine)
            if mine != theirs:
                different += 1
                text, dice = GAME.position_text(position), GAME.dice.text(roll)
                print(f"{text} with {dice}: {len(mine)} positions, OpenSpiel {len(theirs)}")
    bar.close()
    print(
        f"{sum(counts):,} positions ({len(seen):,} different;"
        f" {' + '.join(f'{n:,}' for n in counts)} from random play"
        f"{' and from GNU Backgammon' if len(counts) > 1 else ''}), {pairs:,} pairs with a roll,"
        f" {results:,} resulting positions: {different} differ;"
        f" {time.process_time() - began:.0f} s of CPU time, seed {options.seed}"
    )
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
