"""The commands of `python -m play` for people in a terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import games
from play.commands.analyse import add_analyse_options
from play.commands.explain import add_explain_options
from play.commands.options import add_features, load_game
from play.players.grammar import describe_players
from programs.arguments import in_range

if TYPE_CHECKING:
    from games.contract import Game

__all__ = ["add_terminal_commands"]


def add_terminal_commands(commands: Any) -> None:
    """Add the commands to the subcommands of a parser."""
    add_explain_options(commands.add_parser("explain", help="show why a position has its value"))
    add_analyse_options(commands.add_parser("analyse", help="annotate games in a file"))
    for name in ("terminal", *games.names()):
        _add_game(commands, name)


def _add_game(commands: Any, name: str) -> None:
    """Add `terminal GAME`, or the command of a game's own name."""
    any_game = name == "terminal"
    title = "play any game in the terminal" if any_game else f"play {name} in the terminal"
    command = commands.add_parser(name, help=title)
    if any_game:
        command.add_argument("game", help="a game by name, or module:Class for one of your own")
    else:
        command.set_defaults(game=name)
    add = command.add_argument
    add(
        "evaluator",
        nargs="?",
        help="who to play against: a level or an evaluator, as described below, or random"
        " (default: the middle level of the game)",
    )
    describe_players(command, others=False)
    add("--play", metavar="SIDE", help="your side by name; or first, second, both, none")
    add("--position", metavar="TEXT", help="position to begin with")
    add("--depth", type=int, metavar="PLIES", help="search depth (with dice, default 0)")
    add("--nodes", type=int, metavar="N", help="limit of positions for each move")
    add("--seconds", type=float, metavar="S", help="time for each move (without dice, default 1)")
    add(
        "--first",
        metavar="SIDE",
        help="with dice: side that begins (default: random; with --dice, you)",
    )
    add(
        "--seed",
        type=int,
        help="seed of the dice and of random moves (default: a new one each time)",
    )
    add("--cube", action="store_true", help="backgammon: with the doubling cube")
    add(
        "--jacoby",
        action="store_true",
        help="with --cube: gammons count as single games until a double is taken",
    )
    add("--beavers", action="store_true", help="with --cube: a double may be beavered")
    add(
        "--match",
        type=in_range(1, 64),
        metavar="N",
        help="backgammon: a match to N points, with the cube",
    )
    add_features(command)
    add("--dice", action="store_true", help="with dice: type in the dice yourself")
    command.set_defaults(run=run_game, talks=True)


def side_of(game: Game, text: str, option: str) -> int:
    """Returns the number of the side that a text names; raises ValueError if it names none."""
    names = [name.lower() for name in game.sides]
    expected = f"{' or '.join(names)}, first or second"
    for known in (names, ["first", "second"]):
        if text.lower() in known:
            return known.index(text.lower())
    raise ValueError(f"{option}: expected {expected}, found {text!r:.40}")


def run_game(options: argparse.Namespace) -> int:
    """Play a game against an evaluator in the terminal; returns the exit status."""
    import os
    import random
    import sys
    from functools import partial

    from games.kernels import hurry
    from games.kinds import WITH_CUBE, WITH_DICE
    from play.players.levels import levels_of, usual_level
    from play.players.limits import depths_of, limits_of
    from play.players.opponents import usual_evaluator
    from play.players.parse import RANDOM, seated
    from play.players.player import Player
    from play.terminal import Session, run_session
    from play.terminal.colour import paint_for
    from play.web.cube_table import Play

    game = load_game(options)
    hurry(sys.stdin.isatty())
    limits = limits_of(options, **depths_of(game).limits)
    name = options.evaluator or usual_level(game) or usual_evaluator(game)
    adviser = None
    if name in levels_of(game):  # hints and decisions about the cube come without a level's errors
        adviser = partial(seated, game, usual_evaluator(game), limits)
    if name == RANDOM:
        thinker = Player(RANDOM).seat(game, limits)
        seed = options.seed
        thinker.begin(random.SystemRandom().randrange(1 << 32) if seed is None else seed)
    else:
        thinker = seated(game, name, limits)
        thinker.engine  # noqa: B018  # begins to be compiled
    chosen = (options.play or "first").lower()
    people = {"both": set(range(game.players)), "none": set[int]()}.get(chosen)
    if people is None:
        people = {side_of(game, chosen, "--play")}
    seed, first = None if options.dice else options.seed, options.first
    if seed is not None and seed < 0:
        raise ValueError(f"seed: expected at least 0, found {seed}")
    if game.dice:
        if options.dice and options.seed is not None:
            raise ValueError("--dice: expected it without --seed, found both")
        if not options.dice and seed is None:
            seed = random.SystemRandom().randrange(1 << 32)
        first = None if first is None else side_of(game, first, "--first")
    else:
        given = [("dice", options.dice or None), ("first", first)]
        given += [("seed", seed)] * (options.evaluator != RANDOM)
        for option, value in given:
            if value is not None:
                WITH_DICE.expect(game, where=f"--{option}")
    cube = options.cube or options.match is not None
    if cube:
        WITH_CUBE.expect(game, where="--cube, --match")
    for rule in ("jacoby", "beavers"):
        if getattr(options, rule) and options.match is not None:
            raise ValueError(f"--{rule}: expected --cube for money, found a match")
        if getattr(options, rule) and not cube:
            raise ValueError(f"--{rule}: expected --cube, found a game without the cube")
    play = Play(cube, options.match or 0, options.jacoby, options.beavers)
    paint = paint_for(sys.stdout, os.environ)
    session = Session(
        game,
        thinker,
        frozenset(people),
        adviser=adviser,
        paint=paint,
        seed=seed,
        first=first,
        play=play,
    )
    if game.dice and seed is not None:
        print(f"The dice are those of --seed {seed}.")
    if options.position is not None:
        session.table.set_position(options.position)
    level = "" if thinker.name == RANDOM else f", {thinker.limits}"
    print(f"{thinker.name}{level}. Type a move, or help.")
    return run_session(session)
