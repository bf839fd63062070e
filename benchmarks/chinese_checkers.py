"""Chinese Checkers for three: what pruning saves, learning from nothing, and OpenSpiel's bots.

    python -m benchmarks.chinese_checkers expansions
    python -m benchmarks.chinese_checkers learn FILE.json
    python -m benchmarks.chinese_checkers match FILE.json --games 600 --nodes 10000 --simulations 20

`expansions` counts the positions that max^n visits with and without pruning, and those of the other
two searches, at depths 1 to 6 in positions of games by the hand-written weights. `match` plays one
learned evaluator against two `MCTSBot`s with random rollouts in turns in each seat; searches are
limited by positions and simulations, and the processor time of both is printed, which other work on
the machine does not change: choose them so that the bots have at least as much.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

import numpy as np

from games.chinese_checkers import ChineseCheckers
from games.errors import MoveError
from play.ratings.statistics import mean_interval
from search import Engine, as_evaluator

PASS = 726


def expansions(positions: int, depth: int) -> None:
    """Print the mean number of positions visited at each depth."""
    game = ChineseCheckers(3)
    counts: dict[str, list[list[int]]] = {}
    generator = random.Random(1)
    for number in range(positions):
        position = game.start()
        engine = Engine(game, "hand")
        for ply in range(6 + 9 * number % 60):
            moves = game.legal_moves(position)
            move = engine.search(position, depth=1).move if ply % 3 else generator.choice(moves)
            position = game.play(position, move)
        for method in ("max_n", "paranoid", "best_reply"):
            for pruned in (True, False):
                if method != "max_n" and not pruned:
                    continue
                name = method if pruned else "max_n, exact values of all root moves"
                look = Engine(game, "hand", method=method)
                found = (look.search if pruned else look.analyse)(position, depth=depth)
                counts.setdefault(name, []).append([one.nodes for one in found.history])
    print(f"mean of {positions} positions, depth 1 to {depth}: positions visited up to the depth")
    for name, rows in counts.items():
        shortest = min(map(len, rows))
        means = np.array([row[:shortest] for row in rows]).mean(axis=0)
        print(f"{name:40}", " ".join(f"{mean:12,.0f}" for mean in means))


def learn(path: str, games: int, seed: int) -> None:
    """Learn weights from zero, and write them to a file."""
    from learner.rounds.multiplayer import MultiplayerLearner

    game = ChineseCheckers(3)
    began = time.process_time()
    learner = MultiplayerLearner(game, games=games, seed=seed)

    def watch(progress: Any) -> None:
        if progress.game % 20 == 0:
            weights = {n: round(w, 3) for n, w in learner.evaluator_.term_weights().items()}
            print(progress.game, progress.record.ply, learner.rounds_[-1:], weights, flush=True)

    learner.fit(watch=watch)
    learner.evaluator_.save(path)
    print(learner.evaluator_.term_weights())
    print(f"{games} games, {time.process_time() - began:.0f} s of processor time")


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


def match(path: str, games: int, nodes: int, simulations: int, method: str) -> None:
    """Play against two bots, and print the share of first places."""
    import pyspiel

    game = ChineseCheckers(3)
    engine = Engine(game, as_evaluator(game, path), method=method)
    theirs = pyspiel.load_game("chinese_checkers(players=3)")
    firsts: list[float] = []
    ours_took: list[float] = []
    bots_took: list[float] = []
    for number in range(games):
        seat, generator = number % 3, random.Random(number // 3)
        state, position = theirs.new_initial_state(), game.start()
        rollouts = pyspiel.RandomRolloutEvaluator(1, number)
        bots = [
            pyspiel.MCTSBot(theirs, rollouts, 2.0, simulations, 500, True, number * 2 + i, False)
            for i in range(2)
        ]
        engine.clear()
        while not state.is_terminal():
            mover = state.current_player()
            began = time.process_time()
            if position[-1] < 3:  # the same random moves in each seat
                moves = game.legal_moves(position)
                move = moves[generator.randrange(len(moves))]
                turn = actions_of(state, board(game, game.play(position, move)))
            elif mover == seat:
                move = engine.search(position, nodes=nodes).move
                ours_took.append(time.process_time() - began)
                turn = actions_of(state, board(game, game.play(position, move)))
            else:
                turn = [bots[(mover - seat) % 3 - 1].step(state)]
                bots_took.append(time.process_time() - began)
            for action in turn:
                state.apply_action(action)
            if state.is_terminal() or "hopping" not in str(state):
                position = follow(game, position, state)
        firsts.append(float(state.returns()[seat] > 0))
        share = mean_interval(
            [sum(firsts[i : i + 3]) / 3 for i in range(0, len(firsts) // 3 * 3, 3)],
            bounds=(0.0, 1.0),
        )
        print(
            f"{number + 1} games: first in {100 * sum(firsts) / len(firsts):.1f} %, over openings"
            f" {100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}];"
            f" {np.mean(ours_took):.4f} s a move, the bots {np.mean(bots_took):.4f} s an action;"
            f" {position[-1]} plies",
            flush=True,
        )


def board(game: ChineseCheckers, position: Any) -> list[str]:
    """Returns the rows of the star."""
    return game.show(position).splitlines()[:17]


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
    parser.add_argument("command", choices=("expansions", "learn", "match"))
    parser.add_argument("file", nargs="?", default="chinese_checkers.json")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--simulations", type=int, default=20)
    parser.add_argument("--method", default="paranoid")
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.command == "expansions":
        expansions(options.positions, options.depth)
    elif options.command == "learn":
        learn(options.file, options.games, options.seed)
    else:
        match(options.file, options.games, options.nodes, options.simulations, options.method)


if __name__ == "__main__":
    main()
