"""Othello of docs/examples: games against other programs, and seconds to the end of the game.

    python -m benchmarks.othello match RUN/best.safetensors mcts --pairs 40 --depth 4
    python -m benchmarks.othello match RUN/best.safetensors "gtp-rhino -b 0" --equal --seconds 0.1
    python -m benchmarks.othello ends RUN/best.safetensors --empties 20 --positions 20
    python -m benchmarks.othello ffo RUN/best.safetensors --positions 3

`match` plays pairs of games, each side once, from openings of eight random plies that a search
values near even. `mcts` is OpenSpiel's bot with 1,000 playouts; anything else is a command that
speaks GTP as GRhino does, in which passes are not told. `ends` searches positions of games of the
evaluator, one move in twelve at random, to the last ply; their winner is then proved. `ffo`
searches the first of the positions 40 to 46 of the French Othello federation's end-game test for
their discs, which are published.
"""

from __future__ import annotations

import argparse
import random
import shlex
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

from docs.examples.othello import PASS, Discs, Othello
from play.ratings.statistics import MatchSummary
from search import Engine, load_evaluator
from search.evaluators.tuples import TupleEvaluator

PLIES, EVEN, JUDGED = 8, 0.1, 6
PLAYOUTS = 1000
#: FFO 40 to 46: the board and the side to move, and the discs by which that side wins.
FFO = [
    ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------X", 38),
    ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O-X", 0),
    ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO--X", 6),
    ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX-O", -12),
    ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX--O", -14),
    ("---XXXX-X-XXXO--XXOXOO--XXXOXO--XXOXXO---OXXXOO-O-OOOO------OO--X", 6),
    ("---XXX----OOOX----OOOXX--OOOOXXX--OOOOXX--OXOXXX--XXOO---XXXX-O-X", -8),
]
GAME = Othello()
Choose = Callable[[list[int]], int]


def replayed(moves: list[int]) -> Any:
    """Returns the position after moves from the start."""
    position = GAME.start()
    for move in moves:
        position = GAME.play(position, move)
    return position


def empties(position: Any) -> int:
    """Returns the number of empty squares."""
    return 64 - sum((word % (1 << 64)).bit_count() for word in position[:2])


def openspiel(seed: int) -> Choose:
    """Returns OpenSpiel's bot."""
    import pyspiel

    theirs, chance = pyspiel.load_game("othello"), random.Random(seed)

    def choose(moves: list[int]) -> int:
        state, number = theirs.new_initial_state(), chance.randrange(1 << 30)
        for move in moves:
            state.apply_action(move)
        playout = pyspiel.RandomRolloutEvaluator(1, number)
        bot = pyspiel.MCTSBot(theirs, playout, 2.0, PLAYOUTS, 100, True, number, False)
        return int(bot.step(state))

    return choose


def gtp(command: str) -> Choose:
    """Returns the player of a program that speaks GTP."""
    program = subprocess.Popen(
        shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def say(line: str) -> str:
        assert program.stdin is not None and program.stdout is not None
        program.stdin.write(f"{line}\n")
        program.stdin.flush()
        answer = ""
        while not answer.endswith("\n\n"):
            answer += program.stdout.readline()
        if not answer.startswith("="):
            raise ValueError(f"expected = after {line!r}, found {answer!r}")
        return answer[1:].strip()

    def choose(moves: list[int]) -> int:
        say("clear_board")
        position = GAME.start()
        for move in moves:
            if move != PASS:
                say(f"play {GAME.sides[position[2]]} {GAME.move_text(position, move)}")
            position = GAME.play(position, move)
        answer = say(f"genmove {GAME.sides[position[2]]}").lower()
        return int(GAME.parse_move(position, answer))

    return choose


def match(options: argparse.Namespace) -> None:
    """Play pairs, and print the score with its interval after each."""
    engine = Engine(GAME, load_evaluator(options.evaluator, game=GAME))
    limits = {"depth": options.depth, "seconds": options.seconds}
    seconds, decided = [0.0, 0.0], [0, 0]
    chance, seen, pairs = random.Random(options.seed), set[Any](), []
    theirs = openspiel(options.seed) if options.opponent == "mcts" else gtp(options.opponent)
    while len(pairs) < options.pairs:
        opening: list[int] = []
        while len(opening) < PLIES:
            opening.append(chance.choice(GAME.legal_moves(replayed(opening))))
        start = replayed(opening)
        if start in seen or abs(engine.search(start, depth=JUDGED).value) > EVEN:
            continue
        seen.add(start)
        pair = []
        for side in (0, 1):
            moves, position = list(opening), start
            while GAME.outcome(position) is None:
                legal, began = GAME.legal_moves(position), time.perf_counter()
                ours = position[2] == side
                if len(legal) == 1:
                    move = legal[0]
                else:
                    move = engine.search(position, **limits).move if ours else theirs(moves)
                    seconds[not ours] += time.perf_counter() - began
                    decided[not ours] += 1
                    if options.equal and decided[1]:
                        limits["seconds"] = seconds[1] / decided[1]
                moves.append(move)
                position = GAME.play(position, move)
            outcome = GAME.outcome(position) or 0.0
            pair.append((1.0 + (outcome if position[2] == side else -outcome)) / 2.0)
        pairs.append(pair)
        score = MatchSummary.of_pairs(pairs).score
        ours, its = (spent / number for spent, number in zip(seconds, decided, strict=True))
        print(f"{len(pairs)} pairs: {score.text('.3f')}, seconds a move {ours:.3f}, {its:.3f}")


def ends(options: argparse.Namespace) -> None:
    """Search positions to the end, and print the seconds of processor time."""
    engine = Engine(GAME, load_evaluator(options.evaluator, game=GAME), table_mib=128)
    chance, spent = random.Random(options.seed), []
    while len(spent) < options.positions:
        moves: list[int] = []
        position = replayed(moves)
        while GAME.outcome(position) is None and empties(position) > options.empties:
            legal = GAME.legal_moves(position)
            free = len(moves) < PLIES or chance.random() < 1 / 12
            moves.append(chance.choice(legal) if free else engine.search(position, depth=2).move)
            position = replayed(moves)
        if GAME.outcome(position) is None:
            engine.clear()
            began = time.process_time()
            result = engine.search(position, depth=options.empties + 4)
            spent.append(time.process_time() - began)
            print(f"{spent[-1]:.2f} s, {result.nodes:,} positions, {result.value_text}", flush=True)
    print(f"mean {statistics.mean(spent):.2f} s, greatest {max(spent):.2f} s of {len(spent)}")


def ffo(options: argparse.Namespace) -> None:
    """Search positions for their discs, and print the seconds of processor time."""
    game, given = Discs(), load_evaluator(options.evaluator, game=GAME)
    assert isinstance(given, TupleEvaluator)
    evaluator = TupleEvaluator(game, given.layout, given.weights)
    for number, (text, discs) in enumerate(FFO[: options.positions], 40):
        engine, began = Engine(game, evaluator, table_mib=256), time.process_time()
        result = engine.search(game.parse_position(text), depth=100)
        spent = time.process_time() - began
        right = "right" if result.value == discs else f"expected {discs}"
        print(f"{number}: {result.value:+.0f}, {right}, {spent:.1f} s, {result.nodes:,} positions")


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=["match", "ends", "ffo"])
    parser.add_argument("evaluator")
    parser.add_argument("opponent", nargs="?", default="mcts")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--depth", type=int)
    parser.add_argument("--seconds", type=float, help="for a move, or the first with --equal")
    parser.add_argument("--equal", action="store_true", help="as many as its moves took so far")
    parser.add_argument("--empties", type=int, default=16)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    {"match": match, "ends": ends, "ffo": ffo}[options.kind](options)


if __name__ == "__main__":
    main()
