"""Judges backgammon players in seconds, by decisions and positions with known values.

    python -m benchmarks.backgammon_decisions PLAYER ...
    python -m benchmarks.backgammon_decisions --build FILE [--games-only]

A player is an evaluator with its lookup, or `gnubg:P`, as `play match` takes them: without `+none`
evaluators consult the bear-off databases. Variants are chosen by the decisions that are read by
default. What is said of the chosen one is measured by `--decisions
benchmarks/backgammon_held_out.npz`: 2,790 decisions as games of two players bring them
(`natural`), and back games as games bring them, which chose nothing. For each player it prints:

- thousandths of a point that a decision loses, as GNU Backgammon's 2-ply sees it (the package
  `gnubg_nn`), with standard error: in decisions as games bring them (`natural`), and in equal
  parts of all kinds of positions (`games.backgammon.kinds`), and how much of it moves cost that
  the player's prefilter excludes;
- how far values are from GNU Backgammon's 2-ply where the best moves lead, and from rollouts with
  the luck taken off: root mean square and mean, in points;
- of a player with a depth, such as `wide@0` and `wide@1`, processor time instead of the values.

Differences between players are paired, and therefore much sharper than matches. GNU Backgammon's
own 0-ply looks better here than it is, because its 2-ply is the referee. Nothing may learn from
these positions. `--build` draws and judges others, in about an hour. With `--roll GAMES` the first
player rolls out both moves of each decision that a later one answers otherwise, to the end and with
the luck taken off, so that no static value judges.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import games
from benchmarks.exploring import explore
from games.backgammon.kinds import KINDS
from games.backgammon.outcomes import OUTCOMES
from games.backgammon.rules import PROBABILITIES
from learner.td_gammon.backup import Backups
from play.players.gnubg import PUBEVAL, GnubgNetworks, as_program, chances, equity
from play.players.limits import Limits
from play.players.opponents import Opponents
from play.players.parse import parse_player
from play.players.player import Player
from play.rollout.rollout import rollout
from search import Engine, as_evaluator
from search.lookups.database import DatabaseLookup

GAME: Any = games.load("backgammon")
DECISIONS = Path(__file__).with_suffix(".npz")
#: Decisions as games bring them, and of each kind of position.
NATURAL, OF_A_KIND = 1400, 340
#: Labels of decisions as games bring them, and of the back games among them; the numbers drawn
#: from the games of each player, where nothing else is drawn.
NATURAL_LABEL, BACK_LABEL = -1, -2
OF_GAMES = {NATURAL_LABEL: 1000, BACK_LABEL: 700}
#: Kinds of back games.
BACK_GAMES = tuple(n for n, name in enumerate(KINDS.names) if name.startswith("back game"))
#: How far a move may be behind the best at 0-ply to be judged at 1-ply, and at 1-ply to be judged
#: at 2-ply; and how many are at most.
MARGINS, MOST = (0.25, 0.06), (12, 5)
#: Positions of each kind that are rolled out, and games of each.
ROLLED, GAMES = 40, 144

Floats = NDArray[np.float64]


class Decisions:
    """Decisions: the moves of each one after the other, and what they are worth to the mover."""

    def __init__(self, path: Path) -> None:
        found = np.load(path)
        self.natural = found["labels"] == NATURAL_LABEL
        self.back = found["labels"] == BACK_LABEL
        self.afters, self.worth = found["afters"], found["values"]
        self.counts = found["counts"]
        self.first = np.cumsum(self.counts) - self.counts
        self.best = self.first + found["best"]
        self.positions = found["positions"]
        self.kinds = KINDS.of(self.positions)
        self.equity = OUTCOMES.values(found["outcomes"])
        self.goes_on = np.array(
            [GAME.outcome(tuple(row)) is None for row in self.afters[self.best].tolist()]
        )
        self.rolled = found["rolled"]
        self.rolled_equity, self.rolled_error = found["rolled_equity"], found["rolled_error"]

    def moves(self, values: Floats) -> NDArray[np.int64]:
        """Returns the index in `afters` of a player's choice in each decision.

        values: the player's values of `afters`, for the side to move there.
        """
        parts = zip(self.first, self.counts, strict=True)
        return np.array([first + np.argmin(values[first : first + n]) for first, n in parts])

    def lost(self, moves: NDArray[np.int64]) -> Floats:
        """Returns what the moves of a player, indices in `afters`, lose in each decision."""
        return np.asarray(self.worth[self.best] - self.worth[moves])

    def rolled_out(self, player: Player, first: Any, other: Any, games: int) -> str:
        """Returns what `other` loses against the moves `first`, as a player's rollouts say."""
        differ = first != other
        rows = self.afters[np.concatenate([first[differ], other[differ]])]
        found = rollout(GAME, rows, player.evaluator, games=games, lookup=player.lookup, seed=5)
        lost = np.zeros(len(first))
        lost[differ] = found.equity[differ.sum() :] - found.equity[: differ.sum()]
        return f"  {differ.sum()} differ; by rollouts of the first: {_mean(lost)}"

    def kept(self, player: Player) -> NDArray[np.bool_]:
        """Returns whether a player values each of `afters`, or its prefilter excludes it."""
        prefilter = None if player.evaluator is None else player.evaluator.prefilter
        if prefilter is None:
            return np.ones(len(self.afters), dtype=bool)
        engine = Engine(GAME, prefilter.evaluator, lookup=player.lookup)
        ranks = engine.values(self.afters, depth=0)
        kept = []
        for first, count in zip(self.first, self.counts, strict=True):
            part = ranks[first : first + count]
            last = np.sort(part)[min(prefilter.keep, count) - 1]
            kept.append(part <= min(last, part.min() + prefilter.margin))
        return np.concatenate(kept)

    def chosen(self, player: Player, depth: int) -> tuple[NDArray[np.int64], float]:
        """Returns the index in `afters` of each choice of a player that searches, and seconds.

        depth: plies, as `Engine.search` counts them.

        The seconds are of processor time.
        """
        engine = Engine(GAME, player.evaluator, lookup=player.lookup, **player.options)
        places = [
            {tuple(row): first + n for n, row in enumerate(self.afters[first:][:count].tolist())}
            for first, count in zip(self.first, self.counts, strict=True)
        ]
        rows = list(map(tuple, self.positions.tolist()))
        rolls = [
            next(r for r in range(len(GAME.rolls)) if _afters(row, r).keys() == afters.keys())
            for row, afters in zip(rows, places, strict=True)
        ]
        engine.best_moves(rows[:1], rolls[:1], depth=depth)  # compiles
        began = time.process_time()
        moves, _ = engine.best_moves(self.positions, rolls, depth=depth, decide_only=True)
        seconds = time.process_time() - began
        chosen = zip(rows, moves.tolist(), places, strict=True)
        return np.array([found[GAME.play(row, move)] for row, move, found in chosen]), seconds

    def lost_line(self, lost: Floats) -> str:
        """Returns the losses of a player in all kinds of decisions."""
        return "  lost      " + "  ".join(
            f"{name} {_mean(lost[chosen])} of {chosen.sum()}"
            for name, chosen in self._parts(self.kinds, self.natural)
        )

    def lines(self, lost: Floats, values: Floats, rolled: Floats) -> Iterator[str]:
        """Returns a player's figures, from its values of `afters` and of `rolled`."""
        yield self.lost_line(lost)
        kinds = KINDS.of(self.afters[self.best])
        error = values[self.best] - self.equity
        yield "  2-ply     " + "  ".join(
            f"{name} {_error(error[chosen & self.goes_on])} of {(chosen & self.goes_on).sum()}"
            for name, chosen in self._parts(kinds, self.natural)
        )
        error, noise = rolled - self.rolled_equity, self.rolled_error
        yield "  rollouts  " + "  ".join(
            f"{name} {_error(error[chosen], noise[chosen])} of {chosen.sum()}"
            for name, chosen in self._parts(KINDS.of(self.rolled), None)
            if chosen.any()
        )

    def _parts(self, kinds: Any, natural: Any) -> Iterator[tuple[str, Any]]:
        yield "all", np.ones(len(kinds), dtype=bool)
        others = True
        if natural is not None:
            yield "natural", natural
            if self.back.any():
                yield "back games", self.back
            others = ~natural & ~self.back
        for number, name in enumerate(KINDS.names):
            if (chosen := (kinds == number) & others).any():
                yield name, chosen


def _afters(row: Any, roll: int) -> dict[Any, Any]:
    return {GAME.play(row, move): move for move in GAME.legal_moves(row, roll)}


def _mean(lost: Floats) -> str:
    return f"{1000 * lost.mean():.2f}±{1000 * lost.std() / np.sqrt(len(lost)):.2f}"


def _error(error: Floats, noise: Floats | float = 0.0) -> str:
    square = float(np.mean(error**2) - np.mean(np.square(noise)))
    return f"{np.sqrt(max(0.0, square)):.4f} ({error.mean():+.3f})"


def values_of(player: Player, positions: NDArray[np.int64]) -> Floats:
    """Returns a player's equities of positions for the side to move.

    Raises ValueError for players that value no positions, and for those that search.
    """
    if isinstance(player.program, GnubgNetworks) and player.program.name != PUBEVAL:
        return np.array([equity(tuple(row), player.program.ply) for row in positions.tolist()])
    evaluator = player.evaluator
    if evaluator is None or player.limits is not None:
        raise ValueError(f"expected gnubg:P or an evaluator without limits, found {player.name}")
    if evaluator.gives_outcomes:
        outcomes, _ = Backups(GAME, evaluator.outcomes, exact=player.lookup).outcomes(positions)
        return np.asarray(OUTCOMES.values(outcomes))
    values = evaluator.values(positions)
    ends = [GAME.outcome(tuple(row)) for row in positions.tolist()]
    return np.array([x if end is None else end for x, end in zip(values, ends, strict=True)])


# --- building ---------------------------------------------------------------------------------


def build(path: Path, seed: int, games_only: bool = False) -> None:
    """Draw decisions from games of the shipped network and of GNU Backgammon, and judge them.

    games_only: whether to draw only decisions as games bring them, and back games among them.
    """
    random = np.random.default_rng(seed)
    player = as_evaluator(GAME, Opponents.of(GAME).shipped)
    kept: dict[str, list[Any]] = {name: [] for name in (
        "positions", "labels", "counts", "afters", "values", "best", "outcomes"
    )}  # fmt: skip
    for row, label in (_drawn_of_games if games_only else _drawn)(player, random, seed):
        roll = int(random.choice(len(PROBABILITIES), p=PROBABILITIES))
        afters = list(_afters(row, roll))
        if len(afters) < 2:
            continue
        worth, best = _judged(afters)
        ended = GAME.outcome(afters[best]) is not None
        kept["positions"].append(row)
        kept["labels"].append(label)
        kept["counts"].append(len(afters))
        kept["afters"] += afters
        kept["values"] += worth
        kept["best"].append(best)
        kept["outcomes"].append(np.zeros(5) if ended else chances(afters[best], 2))
        if len(kept["best"]) % 100 == 0:
            print(f"{len(kept['best'])} decisions", flush=True)
    found = {name: np.array(part) for name, part in kept.items()}
    after = found["afters"][np.cumsum(found["counts"]) - found["counts"] + found["best"]]
    goes_on = np.array([GAME.outcome(tuple(row)) is None for row in after.tolist()])
    kinds = np.where(goes_on, KINDS.of(after), -1)
    rolled = 0 if games_only else ROLLED
    chosen = np.concatenate(
        [np.flatnonzero(kinds == number)[:rolled] for number in range(len(KINDS) - 1)]
    )
    result = rollout(
        GAME, after[chosen], player, games=GAMES, seed=seed, lookup=DatabaseLookup(GAME, "bearoff")
    )
    np.savez_compressed(
        path, **found, rolled=after[chosen], rolled_equity=result.equity,
        rolled_error=result.equity_error,
    )  # fmt: skip


def _drawn(player: Any, random: Any, seed: int) -> Iterator[tuple[Any, int]]:
    """Returns positions before their rolls with -1 if games brought them, or else their kind."""
    calm = [explore(player, 300, seed=(seed, 1)), _gnu_games(150, 0.0, random)]
    wild = [
        explore(player, 1500, seed=(seed, 2), first_plies=16, first_share=0.25, share=0.02),
        explore(player, 500, seed=(seed, 3), first_plies=40, first_share=0.15),
    ]
    natural = np.unique(np.concatenate(calm), axis=0)
    parts = [*calm, *wild, _gnu_games(300, 0.1, random)]
    others = np.unique(np.concatenate(parts), axis=0)
    for rows in (natural, others):
        random.shuffle(rows)
    yield from ((tuple(row), -1) for row in natural[:NATURAL].tolist())
    kinds = KINDS.of(others)
    for number in range(len(KINDS)):
        rows = others[kinds == number][:OF_A_KIND]
        yield from ((tuple(row), number) for row in rows.tolist())


def _drawn_of_games(player: Any, random: Any, seed: int) -> Iterator[tuple[Any, int]]:
    """Returns positions of games in equal parts of both players: natural ones, then back games."""
    parts = explore(player, 3000, seed=(seed, 1)), _gnu_games(1100, 0.0, random)
    rows = [np.unique(part, axis=0) for part in parts]
    for part in rows:
        random.shuffle(part)
    back = [part[np.isin(KINDS.of(part), BACK_GAMES)] for part in rows]
    for label, drawn in ((NATURAL_LABEL, rows), (BACK_LABEL, back)):
        for part in drawn:
            yield from ((tuple(row), label) for row in part[: OF_GAMES[label]].tolist())


def _gnu_games(count: int, share: float, random: Any) -> NDArray[np.int64]:
    """Returns positions of games of GNU Backgammon's 0-ply, a share of the moves left to chance."""
    program = as_program("gnubg:0")
    assert program is not None
    seat, found = program(GAME), []
    for _ in range(count):
        position = GAME.start()
        while GAME.outcome(position) is None:
            found.append(position)
            roll = int(random.choice(len(PROBABILITIES), p=PROBABILITIES))
            moves = GAME.legal_moves(position, roll)
            by_chance = random.random() < share
            move = moves[random.integers(len(moves))] if by_chance else seat.choose(position, roll)
            position = GAME.play(position, move)
    return np.array(found, dtype=np.int64)


def _judged(afters: list[Any]) -> tuple[list[float], int]:
    """Returns what moves are worth to the mover by GNU Backgammon's 2-ply, and the best.

    A move far behind at 0-ply or 1-ply is behind the best by as much as it is there.
    """
    chosen = range(len(afters))
    worth = np.array([-equity(after, 0) for after in afters])
    for ply, margin, most in zip((1, 2), MARGINS, MOST, strict=True):
        top = worth[list(chosen)].max()
        near = [i for i in chosen if worth[i] > top - margin]
        chosen = sorted(near, key=lambda i: -worth[i])[:most]
        found = {i: -equity(afters[i], ply) for i in chosen}
        worth = worth + found[chosen[0]] - worth[chosen[0]]
        worth = np.minimum(worth, max(found.values()))
        for i, value in found.items():
            worth[i] = value
    return worth.tolist(), max(found, key=lambda i: found[i])


def read_options(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, list[Player]]:
    """Returns the options of a command, with `--build`, and its players."""
    parser.add_argument("players", nargs="*", metavar="PLAYER")
    parser.add_argument("--build", type=Path, metavar="FILE")
    options = parser.parse_args()
    try:
        return options, [parse_player(GAME, text) for text in options.players]
    except (ValueError, OSError, ModuleNotFoundError) as error:
        parser.error(str(error))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--decisions", type=Path, default=DECISIONS, metavar="FILE")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--games-only", action="store_true", help="draw what games bring, no more")
    parser.add_argument("--roll", type=int, default=0, metavar="GAMES")
    options, players = read_options(parser)
    if options.build:
        build(options.build, options.seed, options.games_only)
        return
    decisions = Decisions(options.decisions)
    before: Any = None
    for player in players:
        print(player.name)
        if player.limits is not None:
            if player.limits != Limits(depth := player.limits.depth) or depth is None:
                parser.error(f"expected no limit but depth, found {player.name}")
            own, seconds = decisions.chosen(player, depth)
            print(f"  {1000 * seconds / len(own):.3f} ms of processor time a decision")
            print(decisions.lost_line(lost := decisions.lost(own)))
        else:
            values, kept = values_of(player, decisions.afters), decisions.kept(player)
            own = decisions.moves(np.where(kept, values, np.inf))
            lost = decisions.lost(own)
            if not kept.all():
                more = lost - decisions.lost(decisions.moves(values))
                share = f"keeps {kept.mean():.0%} of the moves, which costs"
                print(
                    f"  prefilter {share} {_mean(more)}, natural {_mean(more[decisions.natural])}"
                )
            print(*decisions.lines(lost, values, values_of(player, decisions.rolled)), sep="\n")
        if before is None:
            before, moves = lost, own
            continue
        less = lost - before
        print(f"  less than the first: {_mean(less)}, natural {_mean(less[decisions.natural])}")
        if options.roll:
            print(decisions.rolled_out(players[0], moves, own, options.roll), flush=True)


if __name__ == "__main__":
    main()
