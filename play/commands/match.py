"""The commands `match` and `ladder` of `python -m play`, for games without dice."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from tqdm import tqdm

from games.contract import Game
from games.whole_files import write_atomically
from play.match.ladder import check_players, ladder, plot_ladder
from play.match.match import all_games, play_match
from play.match.openings import Openings
from play.players.limits import Limits
from play.players.parse import parse_player
from play.ratings.sprt import Sprt
from play.workers import Workers, parse_backend

__all__ = ["check_writable", "run_ladder", "run_match"]


def run_match(options: argparse.Namespace, game: Game) -> int:
    """`match`: two players."""
    if options.luck is not None:
        raise ValueError(f"--luck: expected a game with dice, found {game.name}")
    options.games = 400 if options.games is None else options.games
    limits = _limits(options)
    first, second = parse_player(game, options.first), parse_player(game, options.second)
    sprt = None
    if options.sprt is not None:
        try:
            elo0, elo1 = (float(part) for part in options.sprt.split(","))
        except ValueError:
            raise ValueError(f"--sprt: expected ELO0,ELO1, found {options.sprt!r}") from None
        sprt = Sprt(elo0, elo1, model=options.model)
    _check_options(options, game)
    openings = _openings(options, game)
    with _workers(options) as workers, _Bar(options.games, options.quiet) as bar:
        match = play_match(
            game,
            first,
            second,
            limits=limits,
            games=options.games,
            openings=openings,
            workers=workers,
            sprt=sprt,
            seed=options.seed,
            progress=bar,
        )
    summary = match.summary()
    print(
        f"{first.name} against {second.name}: {limits}, openings of {openings.plies} plies or more"
    )
    print(summary.text())
    if sprt is not None and summary.games:
        print(sprt.text(summary.tally))
    print(f"all games different; {match.repeated} pairs were not counted, as they came before")
    if (
        summary.games < options.games
        and not match.interrupted
        and match.verdict in ("", "continue")
    ):
        print(f"no more than {summary.games} different games from these openings")
    seconds = match.seconds()
    if seconds:
        print(
            f"programs of others took {sum(seconds) / len(seconds):.3f} s a move, at most"
            f" {max(seconds):.3f}"
        )
    if options.pdn is not None:
        _write_pdn(options.pdn, game, [match], limits)
    if options.json:
        print(json.dumps(match_figures(match, summary)))
    if match.interrupted:
        raise KeyboardInterrupt
    if match.failure:
        raise ChildProcessError(match.failure)
    return 0


def match_figures(match: Any, summary: Any) -> dict[str, Any]:
    """A match as plain values."""
    return {
        "first": match.first,
        "second": match.second,
        "limits": str(match.limits),
        "games": summary.games,
        "wins": summary.wins,
        "draws": summary.draws,
        "losses": summary.losses,
        "score": summary.score.plain(),
        "elo": summary.elo.plain(),
        "normalised_elo": summary.normalised_elo.plain(),
        "superiority": summary.superiority,
        "repeated_pairs": match.repeated,
        "verdict": match.verdict,
        "interrupted": match.interrupted,
        "failure": match.failure,
    }


def run_ladder(options: argparse.Namespace, game: Game) -> int:
    """`ladder`: a round robin."""
    options.games = 200 if options.games is None else options.games
    limits = _limits(options)
    players = [parse_player(game, text) for text in options.players]
    check_players(players)
    pairings = len(players) * (len(players) - 1) // 2
    _check_options(options, game)
    openings = _openings(options, game)
    total = options.games * pairings
    with _workers(options) as workers, _Bar(total, options.quiet) as bar:
        ratings, matches = ladder(
            game,
            players,
            limits=limits,
            games=options.games,
            openings=lambda: openings,
            workers=workers,
            seed=options.seed,
            progress=bar,
        )
    print(f"{limits}; Elo with the 95 % interval of the difference from {options.players[0]}")
    width = max(len(rating.name) for rating in ratings)
    for place, rating in enumerate(ratings, 1):
        print(
            f"{place:3} {rating.name:{width}}  {rating.elo.value:+7.1f}"
            f" [{rating.elo.low:+7.1f}, {rating.elo.high:+7.1f}]"
            f"  {100 * rating.score:5.1f} % of {rating.games} games"
        )
    if options.plot is not None:
        plot_ladder(options.plot, ratings, f"{game.name}, {limits}")
        print(f"plot: {options.plot}")
    if options.pdn is not None:
        _write_pdn(options.pdn, game, matches, limits)
    if options.json:
        rated = [
            {"name": r.name, "elo": r.elo.plain(), "games": r.games, "score": r.score}
            for r in ratings
        ]
        figures = [match_figures(match, match.summary()) for match in matches]
        print(json.dumps({"ratings": rated, "matches": figures}))
    if matches[-1].interrupted:
        raise KeyboardInterrupt
    if matches[-1].failure:
        raise ChildProcessError(matches[-1].failure)
    return 0


def _limits(options: argparse.Namespace) -> Limits:
    depth = options.depth
    if depth is None and options.nodes is None and options.seconds is None:
        depth = 5
    if depth is not None and depth < 1:
        raise ValueError(f"depth: expected 1 to 100 plies, found {depth}")
    return Limits(depth=depth, nodes=options.nodes, seconds=options.seconds)


def _workers(options: argparse.Namespace) -> Workers:
    backend, address = parse_backend(options.backend)
    return Workers(backend, options.threads, address)


def _openings(options: argparse.Namespace, game: Game) -> Openings:
    return Openings(
        game,
        plies=3 if options.plies is None else options.plies,
        seed=options.seed,
        within=options.within,
        judge=options.judge if options.within is not None else None,
    )


def _check_options(options: argparse.Namespace, game: Game) -> None:
    """Refuse, before any game is played, what would be refused after them."""
    if options.games < 2:
        raise ValueError(f"--games: expected at least 2, found {options.games}")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads: expected at least 1, found {options.threads}")
    if options.pdn is not None and game.name != "checkers":
        raise ValueError(f"--pdn: expected checkers, found {game.name}")
    for option, path in (("--pdn", options.pdn), ("--plot", getattr(options, "plot", None))):
        if path is not None:
            check_writable(option, path)


def check_writable(option: str, path: Path) -> None:
    """OSError where an option names a file that cannot be written; makes its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"{option}: expected a file that can be written, found {path}: {error.strerror}"
        ) from None
    if path.is_dir():
        raise OSError(f"{option}: expected a file that can be written, found folder {path}")


def _write_pdn(path: Path, game: Any, matches: list[Any], limits: Any) -> None:
    from games.checkers.pdn import write_game

    texts = [
        write_game(record, {"Event": str(limits), "Black": black, "White": white, "Round": str(i)})
        for i, (black, white, record) in enumerate(all_games(matches), 1)
    ]
    write_atomically(path, "\n".join(texts))


class _Bar:
    """Progress over the games of a match, with the score so far."""

    def __init__(self, games: int, quiet: bool) -> None:
        self._bar = tqdm(total=games, unit=" games", disable=quiet, dynamic_ncols=True)
        self._done = 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, match: Any) -> None:
        if len(match.pairs) == 1:
            self._done = self._bar.n
        summary = match.summary()
        text = f"{match.first} {100 * summary.score.value:.1f} % of {match.second}"
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(self._done + 2 * len(match.pairs) - self._bar.n)
