"""The command `python -m play rollout`: roll out positions, or the moves of a roll."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from play.commands.options import add_game, load_game, read_situation
from play.players.grammar import describe_players
from programs.arguments import THREADS, in_range
from programs.phrases import counted
from programs.waiting import WorkBar

if TYPE_CHECKING:
    from games.contract import DiceGame
    from play.players.player import Player
    from play.rollout.rollout import RolloutResult

__all__ = ["add_rollout_command"]


def add_rollout_command(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    command = commands.add_parser("rollout", help="play out positions of a game with dice")
    add_game(command)
    add = command.add_argument
    add(
        "positions",
        nargs="+",
        metavar="POSITION",
        help="start, or text: XGID, GNU, FIBS",
    )
    add("evaluator", help="plays both sides: a player with an evaluator, as described below")
    add(
        "--roll",
        help="compare the moves for a roll, such as 31, in one position (default: the roll in"
        " its text, if any)",
    )
    add("--moves", metavar="MOVE", nargs="+", help="moves to compare, such as '8/5 6/5'")
    add(
        "--best",
        type=in_range(1),
        metavar="N",
        help="compare the N best by static value (default 4)",
    )
    add("--cube", action="store_true", help="judge a double: compare it with no double")
    add("--games", type=int, default=1296, metavar="N", help="games of each (default 1296)")
    add("--depth", type=int, default=0, metavar="PLIES", help="GNU plies of both (default 0)")
    add("--truncate", type=int, metavar="PLIES", help="break games off after PLIES plies")
    add("--with-luck", action="store_true", help="no variance reduction: quicker, but noisier")
    add("--threads", type=int, metavar="N", help=f"games at a time (default {THREADS})")
    add("--seed", type=int, default=0, help="decides the dice")
    add("--json", action="store_true", help="last line: the figures as JSON")
    add("--quiet", action="store_true", help="no progress bar")
    describe_players(command, others=False)
    command.set_defaults(run=_run_rollout)


def _run_rollout(options: argparse.Namespace) -> int:
    """Run `rollout`: the equity of positions, or of moves, by playing them out."""
    from games.kinds import WITH_DICE
    from play.players.limits import Limits
    from play.players.parse import parse_player
    from play.rollout.rollout import rollout

    game = load_game(options)
    WITH_DICE.expect(game, where="rollout")
    player = parse_player(game, options.evaluator)
    if player.evaluator is None:
        raise ValueError(f"rollout: expected an evaluator, found {player.name}")
    if options.cube:
        return _run_cube(options, game, player)
    if options.roll is not None and len(options.positions) != 1:
        raise ValueError(f"--roll: expected one position, found {len(options.positions)}")
    read = [read_situation(game, text, options.roll) for text in options.positions]
    positions, rolls, left_out = zip(*read, strict=True)
    roll = rolls[0]
    if len(read) > 1 and any(one is not None for one in rolls):
        raise ValueError(
            f"expected one position with dice, or several without, found {len(read)}, some"
            " with dice"
        )
    comparing: dict[str, Any] = {}
    if roll is not None:
        moves = _candidates(options, game, positions[0], roll, player)
        comparing = {"roll": roll, "moves": moves}
    else:
        for name in ("moves", "best"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name}: expected --roll as well, found none")
    limits = player.within(Limits(depth=options.depth))
    depth = limits.depth
    if depth is None or limits != Limits(depth=depth):
        raise ValueError(f"rollout: expected a player limited by depth, found {player.name}")
    if player.options.keys() - {"filters"}:
        raise ValueError(
            f"rollout: expected a player with no options but depth and filters, found {player.name}"
        )
    count = len(comparing["moves"]) if comparing else len(positions)
    total = count * max(options.games, 0)
    with WorkBar(total, "games", quiet=options.quiet) as bar:
        result = rollout(
            game, positions[0] if comparing else list(positions), player.evaluator,
            games=options.games, depth=depth, truncate=options.truncate,
            variance_reduction=not options.with_luck, lookup=player.lookup,
            threads=THREADS if options.threads is None else options.threads, seed=options.seed,
            progress=bar.update, **player.options, **comparing,
        )  # fmt: skip
    if comparing:
        names = [game.move_text(positions[0], move) for move in result.moves]
    else:
        names = [game.position_text(position) for position in positions]
    adjusted = "not " if options.with_luck else ""
    print(f"{player.name} at depth {depth} (GNU plies), {adjusted}luck-adjusted; ± standard error")
    for line in [*dict.fromkeys(filter(None, left_out)), *_lines(game, names, result)]:
        print(line)
    print(
        f"{counted(result.games.sum(), 'game')}, {result.plies:,} plies,"
        f" {result.plies_per_second:,.0f} plies/s"
    )
    if options.json:
        print(json.dumps(_figures(names, result, player.name, depth)))
    if result.interrupted:
        raise KeyboardInterrupt
    return 0


def _run_cube(options: argparse.Namespace, game: DiceGame, player: Player) -> int:
    """Run `rollout --cube`: what a double and its answer are worth, by playing positions out."""
    from games.kinds import WITH_CUBE
    from games.record import new_record, read_situation
    from play.rollout.cube import rollout_cube
    from search import Engine

    for name in ("roll", "moves", "best", "depth", "threads", "with_luck"):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')}: expected it without --cube, found both")
    WITH_CUBE.expect(game, where="--cube")
    if player.options or player.limits is not None:
        raise ValueError(f"--cube: expected a player without options, found {player.name}")
    engine = Engine(game, player.evaluator, lookup=player.lookup)
    results = []
    for text in options.positions:
        position, roll, options_of = read_situation(game, text)
        if roll is not None:
            raise ValueError(f"--cube: expected a position before the roll, found {text}")
        record: Any = new_record(game, position, **options_of)
        result = rollout_cube(
            engine,
            record.situation(),
            games=options.games,
            truncate=options.truncate,
            seed=options.seed,
        )
        decision, (waiting, taken, between) = result.decision, result.intervals
        print(f"{text}: {decision.action}; {decision.reason}")
        unit = "chance to win the match" if record.match_length else "points"
        print(f"  {unit}: no double {result.waiting:.4f} ± {waiting:.4f}, double and take"
              f" {result.taken:.4f} ± {taken:.4f}, the difference ± {between:.4f}")  # fmt: skip
        results.append({
            "name": text, "action": decision.action, "games": result.games,
            "no_double": result.waiting, "double_take": result.taken,
            "intervals": list(result.intervals),
        })  # fmt: skip
    games = counted(options.games, "game")
    print(f"{player.name}, {games} each, luck-adjusted; ± 95 %")
    if options.json:
        print(json.dumps({"evaluator": player.name, "rolled_out": results}))
    return 0


def _candidates(
    options: argparse.Namespace, game: DiceGame, position: Any, roll: int, player: Player
) -> list[Any]:
    """Returns the moves named by --moves, or the best by static values."""
    from play.rollout.rollout import best_candidates

    if options.moves is not None:
        if options.best is not None:
            raise ValueError("--best: expected it without --moves, found both")
        return [game.parse_move(position, text, roll) for text in options.moves]
    best = 4 if options.best is None else options.best
    assert player.evaluator is not None
    return best_candidates(game, position, roll, player.evaluator, player.lookup, best)


def _order(result: RolloutResult) -> list[int]:
    """Returns the order of the report: candidates best first, positions as given."""
    if not result.moves:
        return list(range(len(result.games)))
    first = result.best
    rest = sorted(set(range(len(result.games))) - {first}, key=lambda i: -result.equity[i])
    return [first, *rest]


def _lines(game: DiceGame, names: list[str], result: RolloutResult) -> list[str]:
    width = max(map(len, names))
    lines = []
    for i in _order(result):
        line = f"{names[i]:{width}}  {result.equity[i]:+.4f} ± {result.equity_error[i]:.4f}"
        if result.outcomes is not None and result.outcome_errors is not None and game.outcomes:
            parts = zip(
                game.outcomes.names, result.outcomes[i], result.outcome_errors[i], strict=True
            )
            line += "".join(f", {name} {100 * p:.2f} ± {100 * e:.2f} %" for name, p, e in parts)
        line += f"; {counted(result.games[i], 'game')}"
        if result.moves and i != result.best:
            # estimated from games, so never certain
            lead = f"{result.lead[i]:.1%}" if result.lead[i] < 0.9995 else "more than 99.9%"
            line += f"; the best is better with {lead}"
        lines.append(line)
    return lines


def _figures(names: list[str], result: RolloutResult, player: str, depth: int) -> dict[str, Any]:
    """Returns a rollout as plain values for JSON; NaN becomes None."""

    def plain(numbers: Any) -> list[float | None]:
        return [None if x != x else float(x) for x in numbers]

    rolled = []
    for i in _order(result):
        figures: dict[str, Any] = {
            "name": names[i],
            "games": int(result.games[i]),
            "equity": plain(result.equity[i : i + 1])[0],
            "equity_error": plain(result.equity_error[i : i + 1])[0],
        }
        if result.outcomes is not None and result.outcome_errors is not None:
            figures["outcomes"] = plain(result.outcomes[i])
            figures["outcome_errors"] = plain(result.outcome_errors[i])
        if result.moves:
            figures["lead"] = float(result.lead[i])
        rolled.append(figures)
    return {
        "evaluator": player,
        "depth": depth,
        "rolled_out": rolled,
        "plies": result.plies,
        "interrupted": result.interrupted,
    }
