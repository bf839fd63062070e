"""Matches, ladders and judgements from the command line: `python -m play`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from play.rollout_commands import add_rollout_options, run_dice_rollout

GAME_HELP = "checkers, backgammon, tic_tac_toe, nim, or module:Class for a game of your own"
FEATURES_HELP = "a file with terms of your own, for evaluators that were learned with them"
PLAYER_HELP = (
    "a hand-crafted evaluator by name, a file, or 'random'; EVALUATOR+MEMORY adds a rote memory."
    " In backgammon EVALUATOR+bearoff adds the bear-off databases, EVALUATOR@PLIES or"
    " EVALUATOR@PLIES:FILTERS looks as far ahead whatever --depth says, and pubeval, gnubg:0,"
    " gnubg:1, gnubg:2 are opponents where gnubg_nn is installed"
)
DEPTH_HELP = "a move (default 5 if no limit is given; with dice GNU Backgammon's plies, default 0)"
LUCK_HELP = (
    "with dice: also the result without luck, by an evaluator's static values (that of a player"
    " unless given)"
)

BACKEND_HELP = (
    "who plays: threads (default), loky (processes) or dask:tcp://HOST:PORT (the machines of a"
    " cluster)"
)
JOBS_HELP = "games at a time (default 2, with dask as many as the cluster has threads)"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="python -m play", description=__doc__)
    commands = result.add_subparsers(dest="command", required=True)

    match = commands.add_parser("match", help="two players, paired openings, colours swapped")
    match.add_argument("game", help=GAME_HELP)
    match.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    match.add_argument("first", help=PLAYER_HELP)
    match.add_argument("second", help=PLAYER_HELP)
    _match_options(match, "400; with dice 4000")
    match.add_argument("--luck", nargs="?", const="", metavar="EVALUATOR", help=LUCK_HELP)
    match.add_argument(
        "--sprt",
        metavar="ELO0,ELO1",
        help="stop when the test has decided; --sprt=-5,0 if it begins with a minus",
    )
    match.add_argument(
        "--model", choices=("normalised", "logistic"), default="normalised", help="of the test"
    )

    ladder = commands.add_parser("ladder", help="a round robin with joint ratings")
    ladder.add_argument("game", help=GAME_HELP)
    ladder.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    ladder.add_argument("players", nargs="+", help=f"{PLAYER_HELP}; the first is rated 0")
    _match_options(ladder, "200")
    ladder.add_argument("--plot", type=Path, metavar="FILE", help="picture of the ratings (PNG)")

    judge = commands.add_parser("judge", help="moves and values against a deeper search")
    judge.add_argument("game", help=GAME_HELP)
    judge.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    judge.add_argument("evaluators", nargs="+", help="names or files")
    judge.add_argument("--referee", help="evaluator of the deeper search (default classic)")
    judge.add_argument("--referee-depth", type=int, metavar="PLIES", help="default 9, with dice 0")
    judge.add_argument("--depth", type=int, metavar="PLIES", help="of the judged: 1, with dice 0")
    judge.add_argument("--positions", type=int, metavar="N", help="of random play (default 300)")
    judge.add_argument("--games", type=int, metavar="N", help="with dice: whose decisions (100)")
    judge.add_argument("--played-by", metavar="PLAYER", help="with dice: default the first judged")
    judge.add_argument("--file", type=Path, help="positions, one a line, instead")
    judge.add_argument("--seed", type=int, default=0)
    judge.add_argument("--threads", type=int, default=2)
    judge.add_argument("--json", action="store_true", help="last line: the figures as JSON")

    rollout = commands.add_parser("rollout", help="positions of a game with dice, played out")
    rollout.add_argument("game", help=GAME_HELP)
    rollout.add_argument("--features", metavar="FILE", help=FEATURES_HELP)
    add_rollout_options(rollout)
    return result


def _match_options(command: argparse.ArgumentParser, games: str) -> None:
    add = command.add_argument
    add("--games", type=int, metavar="N", help=f"different games to count (default {games})")
    add("--depth", type=int, metavar="PLIES", help=DEPTH_HELP)
    add("--nodes", type=int, metavar="N", help="positions a move")
    add("--seconds", type=float, metavar="S", help="time a move")
    add("--seed", type=int, default=0, help="decides openings and chance")
    add("--plies", type=int, metavar="N", help="of the openings, at first (default 3)")
    add("--within", type=float, metavar="V", help="only openings so near even, by --judge")
    add("--judge", default="classic", help="who values the openings (default classic)")
    add("--backend", default="threads", metavar="B", help=BACKEND_HELP)
    add("--threads", "--jobs", type=int, metavar="N", help=JOBS_HELP)
    add("--pdn", type=Path, metavar="FILE", help="write the games (checkers)")
    add("--json", action="store_true", help="last line: the figures as JSON")
    add("--quiet", action="store_true", help="no progress bar")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit status."""
    options = parser().parse_args(arguments)
    commands = {
        "match": run_match,
        "ladder": run_ladder,
        "judge": run_judge,
        "rollout": lambda options: run_dice_rollout(options, _game(options)),
    }
    command = commands[options.command]
    try:
        return command(options)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"play: {error}", file=sys.stderr)
        return 2


def _game(options: argparse.Namespace) -> Any:
    import games
    from games.feature_file import add_features

    game = games.load(options.game)
    return add_features(game, options.features) if options.features else game


def _limits(options: argparse.Namespace) -> Any:
    from play.player import Limits

    depth = options.depth
    if depth is None and options.nodes is None and options.seconds is None:
        depth = 5
    if depth is not None and depth < 1:
        raise ValueError(f"depth: expected 1 to 100 plies, found {depth}")
    return Limits(depth=depth, nodes=options.nodes, seconds=options.seconds)


def _workers(options: argparse.Namespace) -> Any:
    from play.workers import Workers, parse_backend

    backend, address = parse_backend(options.backend)
    return Workers(backend, options.threads, address)


def _openings(options: argparse.Namespace, game: Any) -> Any:
    from play.openings import Openings

    return Openings(
        game,
        plies=3 if options.plies is None else options.plies,
        seed=options.seed,
        within=options.within,
        judge=options.judge if options.within is not None else None,
    )


def _check_options(options: argparse.Namespace, game: Any) -> None:
    """Refuse, before any game is played, what would be refused after them."""
    if options.games < 2:
        raise ValueError(f"--games: expected at least 2, found {options.games}")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads: expected at least 1, found {options.threads}")
    if options.pdn is not None and game.name != "checkers":
        raise ValueError(f"--pdn: expected checkers, found {game.name}")
    for option, path in (("--pdn", options.pdn), ("--plot", getattr(options, "plot", None))):
        if path is None:
            continue
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
    from play.match import all_games
    from search.header import write_atomically

    texts = [
        write_game(record, {"Event": str(limits), "Black": black, "White": white, "Round": str(i)})
        for i, (black, white, record) in enumerate(all_games(matches), 1)
    ]
    write_atomically(path, "\n".join(texts))


class _Bar:
    """Progress over the games of a match, with the score so far."""

    def __init__(self, games: int, quiet: bool) -> None:
        from tqdm import tqdm

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


def run_match(options: argparse.Namespace) -> int:
    """`match`: two players."""
    from games.contract import DiceGame
    from play.match import play_match
    from play.player import parse_player
    from play.sprt import Sprt

    game = _game(options)
    if isinstance(game, DiceGame):
        from play.dice_commands import run_dice_match

        return run_dice_match(options, game)
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
    print(summary.text(sprt))
    print(f"all games different; {match.repeated} pairs were not counted, as they came before")
    if (
        summary.games < options.games
        and not match.interrupted
        and match.verdict in ("", "continue")
    ):
        print(f"no more than {summary.games} different games from these openings")
    if options.pdn is not None:
        _write_pdn(options.pdn, game, [match], limits)
    if options.json:
        print(json.dumps(match_figures(match, summary)))
    if match.interrupted:
        raise KeyboardInterrupt
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
    }


def run_ladder(options: argparse.Namespace) -> int:
    """`ladder`: a round robin."""
    from games.contract import DiceGame
    from play.ladder import check_players, ladder, plot_ladder
    from play.player import parse_player

    game = _game(options)
    if isinstance(game, DiceGame):
        raise ValueError(f"ladder: expected a game without dice, found {game.name}: play matches")
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
        options.plot.parent.mkdir(parents=True, exist_ok=True)
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
    return 0


def _read_positions(path: Path, game: Any) -> list[Any]:
    """The positions of a file, one a line; ValueError names the line that holds none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--file: expected a text file, found {path}: {error}") from None
    positions = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                positions.append(game.parse_position(line.strip()))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
    return positions


def run_judge(options: argparse.Namespace) -> int:
    """`judge`: quality without games."""
    from games.contract import DiceGame

    game = _game(options)
    if isinstance(game, DiceGame):
        from play.dice_commands import run_dice_judge

        return run_dice_judge(options, game)
    for name in ("games", "played_by"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected a game with dice, found {game.name}"
            )
    defaults = {"referee": "classic", "referee_depth": 9, "depth": 1, "positions": 300}
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    from play.judge import judge, random_positions, referee
    from search import as_evaluator
    from search.engine import DEEPEST

    for name in ("depth", "referee_depth"):
        if not 1 <= getattr(options, name) <= DEEPEST:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected 1 to {DEEPEST} plies, found"
                f" {getattr(options, name)}"
            )
    for name, least in (("positions", 2), ("threads", 1)):
        if getattr(options, name) < least:
            raise ValueError(f"--{name}: expected at least {least}, found {getattr(options, name)}")
    evaluators = [(name, as_evaluator(game, name)) for name in options.evaluators]
    deeper = as_evaluator(game, options.referee)
    if options.file is not None:
        positions = _read_positions(options.file, game)
    else:
        positions = random_positions(game, options.positions, seed=options.seed)
    from tqdm import tqdm

    with tqdm(total=len(positions), unit=" positions", disable=None) as bar:
        verdicts = referee(
            game,
            deeper,
            positions,
            depth=options.referee_depth,
            threads=options.threads,
            progress=lambda: bar.update() and None,
        )
    print(
        f"{len(verdicts.positions)} undecided positions; referee: {options.referee} at depth"
        f" {options.referee_depth}; judged at depth {options.depth}; 95 % intervals"
    )
    figures = []
    for name, evaluator in evaluators:
        found = judge(game, evaluator, verdicts, depth=options.depth, name=name)
        figures.append(
            {
                "evaluator": name,
                "positions": found.positions,
                "agreement": found.agreement.plain(),
                "loss": found.loss.plain(),
                "correlation": found.correlation,
                "error": found.error,
            }
        )
        print(
            f"{name}: agrees on {found.agreement.value:.1%}"
            f" [{found.agreement.low:.1%}, {found.agreement.high:.1%}],"
            f" loses {found.loss.value:.3f} [{found.loss.low:.3f}, {found.loss.high:.3f}] a move;"
            f" static values correlate {found.correlation:.3f}, error {found.error:.3f}"
        )
    if options.json:
        print(json.dumps({"judged": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
