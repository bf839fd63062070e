"""The command `python -m play analyse`: files of games, judged by an evaluator."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from play.commands.game_file import add_black_first, game_of_file, printable, read_games
from play.commands.options import add_met, with_met

if TYPE_CHECKING:
    from games.file_form import ReadGame
    from games.record import GameRecord
    from play.judging.analysis import Judged
    from play.judging.cube import JudgedCube
    from play.players.thinker import Thinker

__all__ = ["add_analyse_options", "run_analyse"]


def add_analyse_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command to its parser."""
    add = command.add_argument
    add(
        "file",
        type=Path,
        help="games: checkers as .pdn, backgammon as .mat, .txt or .sgf, others as text",
    )
    add("evaluator", nargs="?", help="evaluator that judges (default: the game's shipped one)")
    add("--game", help="the game played (default: by the ending of the file's name)")
    add("--output", type=Path, metavar="FILE", help="default: FILE-analysed.pdn, or .txt of a .mat")
    add("--overwrite", action="store_true", help="replace the output file, even if it is the input")
    add("--depth", type=int, metavar="PLIES", help="search depth (default 8, with dice 0)")
    add("--nodes", type=int, metavar="N", help="limit of positions for each move")
    add("--seconds", type=float, metavar="S", help="time limit for each move")
    add(
        "--least",
        type=float,
        metavar="V",
        help="remark on moves that lose V units or more (default 0.1, with dice 0.02)",
    )
    add_black_first(command)
    add_met(command)
    add("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run_analyse)


def run_analyse(options: argparse.Namespace) -> int:
    """Run `analyse`, which annotates games; the exit status is 1 if any game was damaged."""
    import sys

    import games
    from games.contract import DiceGame
    from games.file_form import form_of
    from games.problem import refuse_problem
    from games.whole_files import write_atomically
    from play.players.thinker import Thinker, limits_of, usual_evaluator

    game = games.load(options.game) if options.game else game_of_file(options.file)
    refuse_problem(game)
    game = with_met(game, options)
    form, dice = form_of(game), isinstance(game, DiceGame)
    output = options.output or options.file.with_name(
        f"{options.file.stem}-analysed{form.suffix if form.annotated else '.txt'}"
    )
    if output.exists() and not options.overwrite:
        same = " (which is the input)" * output.samefile(options.file)
        raise ValueError(f"expected a new file, found {output}{same}: --overwrite replaces it")
    least = options.least if options.least is not None else 0.02 if dice else 0.1
    if not least >= 0:
        raise ValueError(f"--least: expected 0 or more, found {least}")
    read = read_games(options.file, game, black_first=options.black_first)
    thinker = Thinker(
        game,
        options.evaluator or usual_evaluator(game),
        limits_of(options, depth=0 if dice else 8),
        techniques="exact",
    )
    for number, one in enumerate(read, 1):
        for problem in one.problems:
            print(f"game {number}: {problem}", file=sys.stderr)
    good = [(number, one) for number, one in enumerate(read, 1) if one.record is not None]
    if not good:
        raise ValueError(f"{options.file}: expected a game, found none that is readable")
    judged = _judge([one.record for _, one in good if one.record], thinker, options.quiet)
    cubes = _judge_cubes(good, thinker)
    lines: list[str] = []
    for (number, one), found, cube in zip(good, judged, cubes, strict=True):
        lines += _report(number, one, found, cube, least)
    lines += _ratings(good, judged, cubes)
    print(f"{thinker.name}, {thinker.limits}; values are for the side that moves\n")
    print("\n".join(lines))
    if form.annotated:
        content = "\n".join(
            _annotated(one, found, least, thinker)
            for (_, one), found in zip(good, judged, strict=True)
        )
    else:
        content = f"{thinker.name}, {thinker.limits}\n\n" + "\n".join(lines) + "\n"
    write_atomically(output, content)
    print(f"Written to {output}.")
    damaged = len(read) - len(good)
    if damaged:
        print(f"{damaged} damaged game{'s' * (damaged > 1)} skipped", file=sys.stderr)
    return 1 if damaged else 0


def _judge(records: list[GameRecord], thinker: Thinker, quiet: bool) -> list[list[Judged]]:
    from tqdm import tqdm

    from play.judging.analysis import judge_game

    total = sum(record.ply for record in records)
    with tqdm(total=total, unit=" moves", disable=quiet or None, dynamic_ncols=True) as bar:
        return [judge_game(record, thinker, progress=bar.update) for record in records]


def _judge_cubes(
    good: list[tuple[int, ReadGame]], thinker: Thinker
) -> list[list[JudgedCube] | None]:
    """Returns the decisions about the cube of each game; None for games without the cube.

    A game for money without an action of the cube counts as one played without it.
    """
    from games.contract import DiceGame
    from play.judging.cube import judge_cube

    records: list[Any] = [read.record for _, read in good]
    game = thinker.game
    if not isinstance(game, DiceGame) or not game.cube or not thinker.evaluator.gives_outcomes:
        return [None] * len(records)
    money = any(record.actions for record in records)
    return [
        judge_cube(record, thinker) if money or record.match_length > 1 else None
        for record in records
    ]


def _ratings(
    good: list[tuple[int, ReadGame]],
    judged: list[list[Judged]],
    cubes: list[list[JudgedCube] | None],
) -> Iterator[str]:
    """The errors of each player over all games with the cube, by name."""
    from play.judging.cube import rating

    if all(cube is None for cube in cubes):
        return
    players: dict[str, tuple[list[Judged], list[JudgedCube]]] = {}
    for (_, read), moves, cube in zip(good, judged, cubes, strict=True):
        for side, name in enumerate(read.names):
            own, doubles = players.setdefault(name or "?", ([], []))
            # over several games the side does not tell players apart
            own += [replace(one, side=0) for one in moves if one.side == side]
            doubles += [replace(one, side=0) for one in cube or [] if one.side == side]
    yield f"{len(good)} game{'s' * (len(good) > 1)}"
    for name, (own, doubles) in players.items():
        for line in rating(own, doubles, 0):
            yield f"  {name}: {line}"
    yield ""


def _report(
    number: int,
    read: ReadGame,
    judged: list[Judged],
    cubes: list[JudgedCube] | None,
    least: float,
) -> Iterator[str]:
    """The moves and doubles that deserve a remark, and a line for each side."""
    from games.values import value_text
    from play.judging.analysis import remark, summary
    from play.judging.cube import cube_remark, cube_summary

    record: Any = read.record
    sides = record.game.sides
    names = ", ".join(f"{side} {name or '?'}" for side, name in zip(sides, read.names, strict=True))
    yield f"Game {number}: {names}" + (f", {read.result}" if read.result else "")
    first = record.game.to_move(record.start)
    doubles = [one for one in cubes or [] if cube_remark(one, least)]
    for ply in range(record.ply + 1):
        for cube in [one for one in doubles if one.ply == ply]:
            yield f"  {(ply + first) // 2 + 1:3}. {sides[cube.side]} {cube_remark(cube, least)}"
        if ply == record.ply:
            break
        one = judged[ply]
        said = remark(record, one, least)
        if said:
            roll = record.rolls[one.ply]
            dice = "" if roll is None else f" {record.game.roll_text(roll)}:"
            text = record.game.move_text(record.positions[one.ply], one.move)
            move = (one.ply + first) // 2 + 1
            yield f"  {move:3}. {sides[one.side]}{dice} {text}  {value_text(one.value)}; {said}"
    for who, name in enumerate(sides):
        yield f"  {name}: {summary(judged, who)}"
        if cubes is not None:
            yield f"     cube: {cube_summary(cubes, who)}"
    yield ""


def _annotated(read: ReadGame, judged: list[Judged], least: float, thinker: Thinker) -> str:
    from games.file_form import form_of
    from play.judging.analysis import judged_record

    record: Any = read.record
    tags = {**read.tags, "Annotator": f"Plysmith with {printable(thinker.name)}, {thinker.limits}"}
    return form_of(record.game).write(judged_record(record, judged, least), read.names, tags)
