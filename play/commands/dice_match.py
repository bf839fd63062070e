"""The commands of `python -m play` for games with dice."""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import Any

from tqdm import tqdm

from games.contract import DiceGame
from play.commands.match import check_writable
from play.judging.equity_loss import check_referee, equity_loss, sample_games
from play.match.dice_ladder import dice_ladder
from play.match.dice_match import DiceMatch, needs_processes, play_dice_match
from play.match.ladder import check_players, plot_estimates
from play.players.gnubg import Program, gnubg_evaluator
from play.players.limits import Limits, check_depth
from play.players.parse import parse_player
from play.players.player import Player
from play.ratings.statistics import Estimate
from play.workers import Workers, parse_backend

__all__ = ["run_dice_judge", "run_dice_ladder", "run_dice_match"]

#: Options that say nothing about a game with dice.
OTHERS = ("nodes", "seconds", "plies", "within", "pdn", "sprt", "positions", "file")
GAMES, JUDGED_GAMES = 4000, 100


def _check(options: argparse.Namespace, game: DiceGame, least: int) -> None:
    """Refuse, before any game is played, what would be refused after them."""
    for name in OTHERS:
        if getattr(options, name, None) is not None:
            raise ValueError(f"--{name}: expected a game without dice, found {game.name}")
    if options.games < least:
        raise ValueError(f"--games: expected at least {least}, found {options.games}")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads: expected at least 1, found {options.threads}")
    if options.seed < 0:
        raise ValueError(f"--seed: expected at least 0, found {options.seed}")
    check_depth(options.depth)


def _workers(backend: str, jobs: int | None, *players: Player) -> Workers:
    """Who plays; processes where threads would wait for one another."""
    kind, address = parse_backend(backend)
    if kind == "threads" and needs_processes(*players) and jobs != 1:
        kind = "loky"
    return Workers(kind, jobs, address)


def _luck(game: DiceGame, text: str | None, players: list[Player]) -> Player | None:
    """Whose static values say what is luck; an empty text stands for one of the players."""
    if text is None:
        return None
    if text:
        players = [parse_player(game, text)]
    for player in players:
        if isinstance(player.program, Program) and str(player.program) == "gnubg:0":
            return Player(player.name, gnubg_evaluator(game))
        if player.evaluator is not None:
            return player
    names = " and ".join(player.name for player in players)
    raise ValueError(f"--luck: expected an evaluator or gnubg:0, found {names}")


class _Bar:
    """Progress over the games of matches, with the points so far of the one that is played."""

    def __init__(self, games: int, quiet: bool) -> None:
        self._bar = tqdm(total=games, unit=" games", disable=quiet, dynamic_ncols=True)
        self._match: DiceMatch | None = None
        self._before = self._done = 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, match: DiceMatch) -> None:
        if match is not self._match:
            self._match, self._before = match, self._done
        mean = sum(map(sum, match.points)) / (2 * len(match.points))
        text = f"{match.first} {mean:+.3f} a game against {match.second}"
        self._bar.set_postfix_str(text, refresh=False)
        done = self._before + 2 * len(match.points)
        self._bar.update(done - self._done)
        self._done = done


def run_dice_match(options: argparse.Namespace, game: DiceGame) -> int:
    """`match`: two players, the same dice, seats swapped."""
    options.games = GAMES if options.games is None else options.games
    options.depth = options.depth or 0
    _check(options, game, 2)
    first, second = (parse_player(game, text) for text in (options.first, options.second))
    luck = _luck(game, options.luck, [first, second])
    with (
        _workers(options.backend, options.threads, first, second) as workers,
        _Bar(options.games, options.quiet) as bar,
    ):
        match = play_dice_match(
            game,
            first,
            second,
            games=options.games,
            depth=options.depth,
            seed=options.seed,
            workers=workers,
            luck=luck,
            progress=bar,
        )
    summary = match.summary()
    print(
        f"{first.name} against {second.name}: depth {options.depth} (GNU plies), same dice for both"
    )
    print(summary.text())
    if luck is not None:
        print(f"luck by static values of {luck.name}")
    if summary.games:
        print(f"{summary.games / match.seconds:.1f} games/s")
    if options.json:
        print(json.dumps(_figures(match, luck)))
    if match.interrupted:
        raise KeyboardInterrupt
    return 0


def _figures(match: DiceMatch, luck: Player | None = None) -> dict[str, Any]:
    """A match as plain values."""
    said = {"first": match.first, "second": match.second, "depth": match.depth}
    more = {"luck": luck.name if luck is not None else None, "interrupted": match.interrupted}
    return {**said, **match.summary().figures(), **more}


def run_dice_ladder(options: argparse.Namespace, game: DiceGame) -> int:
    """`ladder`: a round robin, the same dice for all."""
    options.games = GAMES if options.games is None else options.games
    options.depth = options.depth or 0
    _check(options, game, 2)
    players = [parse_player(game, text) for text in options.players]
    check_players(players)
    if options.plot is not None:
        check_writable("--plot", options.plot)
    pairings = len(players) * (len(players) - 1) // 2
    with (
        _workers(options.backend, options.threads, *players) as workers,
        _Bar(options.games * pairings, options.quiet) as bar,
    ):
        found, matches = dice_ladder(
            game,
            players,
            games=options.games,
            depth=options.depth,
            seed=options.seed,
            workers=workers,
            progress=bar,
        )
    depth = f"depth {options.depth} (GNU plies)"
    print(f"{depth}, same dice for all; points per game against all others, 95 % intervals")
    width = max(len(player.name) for player in players)
    for place, one in enumerate(found, 1):
        print(f"{place:3} {one.name:{width}}  {_interval(one.points)}  of {one.games} games")
    print("each two, from the first one's side")
    for match in matches:
        if match.points:
            summary = match.summary()
            print(
                f"    {match.first:{width}}  {_interval(summary.mean)}  of {summary.games} games"
                f" against {match.second}"
            )
    if options.plot is not None and found:
        rows = [(one.name, one.points) for one in found]
        label = "points per game against all others, 95 % interval"
        title = f"{game.name}, {depth}"
        plot_estimates(options.plot, rows, title, label=label, room=0.02, digits=3)
        print(f"plot: {options.plot}")
    if options.json:
        rated = [
            {"name": s.name, "points_per_game": s.points.plain(), "games": s.games} for s in found
        ]
        print(json.dumps({"standings": rated, "matches": [_figures(match) for match in matches]}))
    if matches[-1].interrupted:
        raise KeyboardInterrupt
    return 0


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}]"


def run_dice_judge(options: argparse.Namespace, game: DiceGame) -> int:
    """`judge`: equity lost per decision."""
    options.games = JUDGED_GAMES if options.games is None else options.games
    options.depth = options.depth or 0
    referee_depth = options.referee_depth or 0
    _check(options, game, 1)
    check_depth(referee_depth)
    if options.referee is None:
        raise ValueError("--referee: expected an evaluator or gnubg:PLIES, found none")
    judged = [parse_player(game, text) for text in options.evaluators]
    referee = parse_player(game, options.referee)
    check_referee(game, referee)
    by = judged[0] if options.played_by is None else parse_player(game, options.played_by)
    with _workers("threads", options.threads, by, referee, *judged) as workers:
        records = sample_games(
            game, by, games=options.games, depth=options.depth, seed=options.seed, workers=workers
        )
        print(
            f"{len(records)} games of {by.name}; referee: {_at(referee, referee_depth)}; judged at"
            f" depth {options.depth} (GNU plies); 95 % intervals"
        )
        figures = []
        for player in judged:
            with tqdm(total=len(records), unit=" games", disable=None) as bar:
                found = equity_loss(
                    game,
                    player,
                    referee,
                    records,
                    depth=options.depth,
                    referee_depth=referee_depth,
                    workers=workers,
                    progress=partial(_advance, bar),
                )
            print(found.text())
            figures.append(found.figures())
    if options.json:
        print(json.dumps({"judged": figures}))
    return 0


def _at(player: Player, depth: int) -> str:
    limits = str(player.within(Limits(depth))).removesuffix(" a move")
    return player.name if player.program else f"{player.name} at {limits}"


def _advance(bar: Any) -> None:
    bar.update()
