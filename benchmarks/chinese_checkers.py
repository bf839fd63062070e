"""Chinese Checkers for three: what pruning saves, and games against OpenSpiel's bots.

    python -m benchmarks.chinese_checkers expansions --moves 10
    python -m benchmarks.chinese_checkers match batch --games 600 --nodes 10000 --simulations 20

`expansions` counts the positions that max^n visits with and without pruning, and those of the other
two searches, at depths 1 to 6 in positions of games by the hand-written weights; `--moves` searches
only the moves of the largest gain, as many as given. `match` plays one
learned evaluator against two `MCTSBot`s with random rollouts in turns in each seat; searches are
limited by positions and simulations, and the processor time of both is printed, which other work on
the machine does not change: choose them so that the bots have at least as much. A bot's time
for a move is that of all its actions, which are single hops. With `--results FILE` every game is
kept, and a match that was stopped goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from games.chinese_checkers import ChineseCheckers, rules
from games.errors import MoveError
from games.kernel_game import KernelGame
from games.kernels import family
from play.ratings.statistics import mean_interval
from search import Engine, as_evaluator
from search.perft import perft

# Placeholders: the names that a family gives its own values.
MOST, ALL_MOVES, GAIN = 10, rules.legal_moves, rules.gain


def best_moves(position, moves):  # type: ignore[no-untyped-def]
    """Write the MOST moves of the largest gain, that first; returns their number."""
    count = ALL_MOVES(position, moves)
    kept = min(count, MOST)
    for i in range(kept):
        best = i
        for j in range(i + 1, count):
            if GAIN(position, moves[j]) > GAIN(position, moves[best]):
                best = j
        move = moves[best]
        for j in range(best, i, -1):
            moves[j] = moves[j - 1]
        moves[i] = move
    return kept


class Narrow(ChineseCheckers):
    """Chinese Checkers with the moves of the largest gain only, at most `most` in a position."""

    def __init__(self, most: int) -> None:
        super().__init__(3)
        whole: Any = self.rules
        found = family(best_moves, MOST=most, ALL_MOVES=whole.legal_moves, GAIN=whole.gain)
        self.rules = replace(whole, legal_moves=found.best_moves)
        KernelGame.__init__(self)


def expansions(positions: int, depth: int, most: int | None) -> None:
    """Print the mean number of positions visited at each depth.

    most: only so many moves of the largest gain are searched in a position (None: all).
    """
    whole = ChineseCheckers(3)
    game = whole if most is None else Narrow(most)
    counts: dict[str, list[list[int]]] = {}
    generator = random.Random(1)
    for number in range(positions):
        position = whole.start()
        engine = Engine(whole, "hand")
        for ply in range(6 + 9 * number % 60):
            moves = whole.legal_moves(position)
            move = engine.search(position, depth=1).move if ply % 3 else generator.choice(moves)
            position = whole.play(position, move)
        if most is not None:
            leaves = [perft(game, position, plies) for plies in range(1, depth + 1)]
            counts.setdefault("all lines", []).append(list(itertools.accumulate(leaves)))
        for method in ("max_n", "paranoid", "best_reply"):
            for pruned in (True, False):
                if method != "max_n" and not pruned:
                    continue
                name = method if pruned else "max_n, exact values of all root moves"
                look = Engine(game, "hand", method=method)
                found = (look.search if pruned else look.analyse)(position, depth=depth)
                nodes = [0, *(one.nodes for one in found.history)]
                counts.setdefault(name, []).append([y - x for x, y in itertools.pairwise(nodes)])
    print(f"positions visited at each depth, mean of {positions} positions")
    for name, rows in counts.items():
        shortest = min(map(len, rows))
        means = np.array([row[:shortest] for row in rows]).mean(axis=0)
        print(f"{name:40}", " ".join(f"{mean:12,.0f}" for mean in means), flush=True)


def actions_of(state: Any, rows: list[str]) -> list[int]:
    """Returns the actions of OpenSpiel that lead to a board at the end of this turn."""
    for action in state.legal_actions():
        child = state.child(action)
        if not child.is_terminal() and "hopping" in str(child):
            rest = actions_of(child, rows)
            if rest:
                return [action, *rest]
        elif str(child).splitlines()[:17] == rows:
            return [action]
    return []


def match(
    path: str, games: int, nodes: int, simulations: int, method: str, results: Path | None
) -> None:
    """Play against two bots, and print the share of first places.

    results: a file with a line for each game, which are not played again.
    """
    game = ChineseCheckers(3)
    engine = Engine(game, as_evaluator(game, path), method=method)
    limits = {"evaluator": path, "nodes": nodes, "simulations": simulations, "method": method}
    played: list[dict[str, Any]] = []
    if results is not None and results.is_file():
        played = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
        if any(one["limits"] != limits for one in played):
            raise ValueError(f"{results}: expected games of {limits}, found others")
    for number in range(len(played), games):
        played.append({"limits": limits, **against_bots(game, engine, number, nodes, simulations)})
        if results is not None:
            with open(results, "a", encoding="utf-8") as file:
                file.write(json.dumps(played[-1]) + "\n")
        print(f"{text_of(played)}; {played[-1]['plies']} plies", flush=True)
    if played:
        print(text_of(played))


def text_of(played: list[dict[str, Any]]) -> str:
    """Returns the share of first places with its interval, and the time of a move."""
    firsts = [one["first"] for one in played]
    share = mean_interval(
        [sum(firsts[i : i + 3]) / 3 for i in range(0, len(firsts) // 3 * 3, 3)], bounds=(0.0, 1.0)
    )
    ours, bots = (
        sum(one[f"{who}_seconds"] for one in played) / sum(one[f"{who}_moves"] for one in played)
        for who in ("our", "bot")
    )
    return (
        f"{len(played)} games: first in {100 * sum(firsts) / len(firsts):.1f} %, over openings"
        f" {100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}];"
        f" {ours:.4f} s a move, the bots {bots:.4f} s"
    )


def against_bots(
    game: ChineseCheckers, engine: Engine, number: int, nodes: int, simulations: int
) -> dict[str, Any]:
    """Play game `number` against two bots; returns whether it was won, and the time taken."""
    import pyspiel

    theirs = pyspiel.load_game("chinese_checkers(players=3)")
    seat, generator = number % 3, random.Random(number // 3)
    state, position = theirs.new_initial_state(), game.start()
    rollouts = pyspiel.RandomRolloutEvaluator(1, number)
    bots = [
        pyspiel.MCTSBot(theirs, rollouts, 2.0, simulations, 500, True, number * 2 + i, False)
        for i in range(2)
    ]
    seconds = {"our": 0.0, "bot": 0.0}
    moves_made = {"our": 0, "bot": 0}
    engine.clear()
    while not state.is_terminal():
        mover, ply = state.current_player(), position[-1]
        began = time.process_time()
        if ply < 3:  # the same random moves in each seat
            moves = game.legal_moves(position)
            move = moves[generator.randrange(len(moves))]
            turn = actions_of(state, board(game, game.play(position, move)))
        elif mover == seat:
            move = engine.search(position, nodes=nodes).move
            seconds["our"] += time.process_time() - began
            turn = actions_of(state, board(game, game.play(position, move)))
        else:
            turn = [bots[(mover - seat) % 3 - 1].step(state)]
            seconds["bot"] += time.process_time() - began
        for action in turn:
            state.apply_action(action)
        if state.is_terminal() or "hopping" not in str(state):
            position = follow(game, position, state)
            if ply >= 3:
                moves_made["our" if mover == seat else "bot"] += 1
    return {
        "first": int(state.returns()[seat] > 0),
        "plies": int(position[-1]),
        "our_seconds": round(seconds["our"], 4),
        "our_moves": moves_made["our"],
        "bot_seconds": round(seconds["bot"], 4),
        "bot_moves": moves_made["bot"],
    }


def board(game: ChineseCheckers, position: Any) -> list[str]:
    """Returns the rows of the star."""
    return [line[:25].rstrip() for line in game.show(position).splitlines()[:17]]


def follow(game: ChineseCheckers, position: Any, state: Any) -> Any:
    """Returns our position of the state that a move led to."""
    rows = str(state).splitlines()[:17]
    for move in game.legal_moves(position):
        after = game.play(position, move)
        if board(game, after) == rows:
            return after
    raise MoveError(f"expected a legal move, found {rows}")


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("expansions", "match"))
    parser.add_argument("evaluator", nargs="?", default="batch")
    parser.add_argument("--games", type=int, default=600)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--simulations", type=int, default=20)
    parser.add_argument("--method", default="paranoid")
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--moves", type=int, metavar="N")
    parser.add_argument("--results", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.command == "expansions":
        expansions(options.positions, options.depth, options.moves)
    else:
        match(
            options.evaluator, options.games, options.nodes, options.simulations, options.method,
            options.results,
        )  # fmt: skip


if __name__ == "__main__":
    main()
