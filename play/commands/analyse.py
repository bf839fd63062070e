"""The command `python -m play analyse`: files of games, judged by an evaluator."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from play.commands.game_file import add_black_first, game_of_file, printable, read_games
from play.commands.options import add_features, refuse, with_features
from programs.arguments import in_range

if TYPE_CHECKING:
    from games.file_form import ReadGame
    from play.judging.performance import JudgedGame, Performance
    from play.players.seats import Seat

__all__ = ["add_analyse_options", "run_analyse"]

#: The default search of games with a cube: 2 plies, only for moves that are close after 1 ply.
CUBE_DEPTH, CUBE_FILTERS = 2, "near"


def add_analyse_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command to its parser."""
    add = command.add_argument
    add(
        "file",
        type=Path,
        help="games: checkers as .pdn, backgammon as .mat or .txt, others as text",
    )
    add("evaluator", nargs="?", help="evaluator that judges (default: the game's shipped one)")
    add("--game", help="the game played (default: by the ending of the file's name)")
    add("--output", type=Path, metavar="FILE", help="default: FILE-analysed.pdn, or .txt of a .mat")
    add("--overwrite", action="store_true", help="replace the output file, even if it is the input")
    add(
        "--depth",
        "--plies",
        type=int,
        metavar="PLIES",
        help=f"search depth (default 8, with dice 0, in backgammon {CUBE_DEPTH})",
    )
    add("--nodes", type=int, metavar="N", help="limit of positions for each move")
    add("--seconds", type=float, metavar="S", help="time limit for each move")
    add(
        "--least",
        type=in_range(0, kind=float),
        metavar="V",
        help="remark on moves that lose V units or more (default 0.1, with dice 0.02)",
    )
    add(
        "--rollout",
        type=in_range(1),
        metavar="GAMES",
        help="with dice: judge what loses --least by the search by rollouts of GAMES games",
    )
    add_black_first(command)
    add_features(command)
    add("--json", action="store_true", help="last line: the figures as JSON")
    add("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run_analyse)


def run_analyse(options: argparse.Namespace) -> int:
    """Run `analyse`, which annotates games; the exit status is 1 if a game had to be skipped."""
    import sys

    import games
    from games.file_form import form_of
    from games.problem import refuse_problem
    from play.judging.analysis import Playouts
    from play.judging.judges import judge_games
    from play.players.chances import judged_play_text
    from play.players.limits import CORES, limits_of
    from play.players.opponents import usual_evaluator
    from play.players.parse import seated
    from programs.whole_files import write_atomically

    game = games.load(options.game) if options.game else game_of_file(options.file)
    refuse_problem(game)
    game = with_features(game, options)
    form, dice = form_of(game), game.dice
    output = options.output or options.file.with_name(
        f"{options.file.stem}-analysed{form.suffix if form.annotated else '.txt'}"
    )
    if output.exists() and not options.overwrite:
        same = " (which is the input)" * output.samefile(options.file)
        raise ValueError(f"expected a new file, found {output}{same}: --overwrite replaces it")
    least = options.least if options.least is not None else 0.02 if dice else 0.1
    if not dice:
        refuse(options, ("rollout",), "a game with dice", game)
    read = read_games(options.file, game, black_first=options.black_first)
    for number, one in enumerate(read, 1):
        for problem in one.problems:
            print(f"game {number}: {problem}", file=sys.stderr)
    good = [(number, one) for number, one in enumerate(read, 1) if one.record is not None]
    if not good:
        raise ValueError(f"{options.file}: expected a game that can be read")
    # rollouts use all cores by themselves
    cube, workers = game.cube, 1 if options.rollout else min(CORES, len(good))
    shared: dict[str, Any] = {"threads": CORES // workers} if dice else {}
    shared |= {"filters": CUBE_FILTERS} if cube else {}
    thinkers = [
        seated(
            game, options.evaluator or usual_evaluator(game),
            limits_of(options, depth=CUBE_DEPTH if cube else 0 if dice else 8),
            techniques="exact", **shared,
        )
        for _ in range(workers)
    ]  # fmt: skip
    thinker = thinkers[0]
    playouts = None if options.rollout is None else Playouts(options.rollout, least)
    records = [one.record for _, one in good]
    judged, interrupted = judge_games(records, thinkers, playouts, quiet=options.quiet)
    damaged, every = len(read) - len(good), judged
    if interrupted:  # later games may be judged, and earlier ones not begun
        good = [one for one, found in zip(good, every, strict=True) if found.moves]
        judged = [found for found in every if found.moves]
    performances = _performances([one for _, one in good], judged) if dice else {}
    lines: list[str] = []
    for (number, one), found in zip(good, judged, strict=True):
        lines += _report(number, one, found, least)
    lines += _totals(len(judged), performances)
    print(f"{thinker.name}, {thinker.limits}; values are for the side that moves")
    played = judged_play_text(thinker.evaluator)
    print(f"Marks and accuracy: by the chances {played}\n" if played else "")
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
    if options.json:
        print(json.dumps(_figures(thinker, every, performances, interrupted)))
    if damaged:
        print(f"{damaged} damaged game{'s' * (damaged > 1)} skipped", file=sys.stderr)
    if interrupted:
        raise KeyboardInterrupt
    return 1 if damaged else 0


def _performances(
    read: list[ReadGame], judged: list[JudgedGame]
) -> dict[tuple[str, bool], Performance]:
    """Returns each player's totals, by name and by whether they are of a match."""
    from play.judging.performance import Performance

    totals: dict[tuple[str, bool], Performance] = {}
    for one, found in zip(read, judged, strict=False):
        match = found.cube and bool(getattr(found.record, "match_length", 0))
        for side, name in enumerate(one.names):
            known = name if name not in ("", "?") else found.record.game.sides[side]
            totals.setdefault((known, match), Performance(match)).add(found, side)
    return totals


def _totals(count: int, performances: dict[tuple[str, bool], Performance]) -> Iterator[str]:
    """The totals of each player over all games."""
    if not performances:
        return
    yield f"{count} game{'s' * (count > 1)}"
    for (name, _), performance in performances.items():
        yield f"  {name}"
        yield from (f"    {line}" for line in performance.lines())
    yield ""


def _figures(
    thinker: Seat,
    judged: list[JudgedGame],
    performances: dict[tuple[str, bool], Performance],
    interrupted: bool,
) -> dict[str, Any]:
    """Returns the totals and every judgement as plain values, for JSON."""
    return {
        "evaluator": thinker.name,
        "limits": str(thinker.limits),
        "players": [{"name": name} | one.figures() for (name, _), one in performances.items()],
        "games": [_game_figures(game) for game in judged],
        "interrupted": interrupted,
    }


def _game_figures(judged: JudgedGame) -> dict[str, Any]:
    game: Any = judged.record.game
    luck = {one.ply: one.luck for one in judged.rolls}
    moves = []
    for one in judged.moves:
        position, roll = judged.record.positions[one.ply], judged.record.rolls[one.ply]
        moves.append({
            "ply": one.ply,
            "side": one.side,
            "roll": None if roll is None else game.dice.text(roll),
            "move": game.move_text(position, one.move),
            "value": one.value,
            "best": game.move_text(position, one.best),
            "best_value": one.best_value,
            "loss": one.loss,
            "error": one.error,
            "luck": luck.get(one.ply),
        })  # fmt: skip
    cubes = [
        {"ply": one.ply, "side": one.side, "action": one.action, "right": one.decision.action,
         "loss": one.loss}
        for one in judged.cubes
        if one.counts
    ]  # fmt: skip
    return {"moves": moves, "cube": cubes, "result": judged.result}


def _report(number: int, read: ReadGame, judged: JudgedGame, least: float) -> Iterator[str]:
    """The moves, doubles and rolls that deserve a remark, and lines for each side."""
    from games.values import value_text
    from play.judging.analysis import remark, summary
    from play.judging.cube import cube_remark, cube_summary

    record: Any = read.record
    sides = record.game.sides
    names = ", ".join(f"{side} {name or '?'}" for side, name in zip(sides, read.names, strict=True))
    yield f"Game {number}: {names}" + (f", {read.result}" if read.result else "")
    first = record.game.to_move(record.start)
    rolls = {one.ply: one for one in judged.rolls}
    doubles = [one for one in judged.cubes if cube_remark(one, least)]
    for ply in range(record.ply + 1):
        turn = f"  {(ply + first) // record.game.players + 1:3}. "
        for cube in [one for one in doubles if one.ply == ply]:
            yield f"{turn}{sides[cube.side]} {cube_remark(cube, least)}"
        if ply >= len(judged.moves):
            continue
        one = judged.moves[ply]
        roll = record.rolls[ply]
        dice = "" if roll is None else f" {record.game.dice.text(roll)}:"
        luck = rolls.get(ply)
        text = record.game.move_text(record.positions[ply], one.move)
        parts = [f"{luck.word}, {luck.luck:+.3f}"] if luck is not None and luck.word else []
        said = remark(record, one, least)
        if said:
            parts.append(f"{text}  {value_text(one.value)}; {said}")
        if parts:
            yield f"{turn}{sides[one.side]}{dice} {'; '.join(parts)}"
    for who, name in enumerate(sides):
        yield f"  {name}: {summary(judged.moves, who)}"
        if judged.cube:
            yield f"     cube: {cube_summary(judged.cubes, who)}"
        if judged.rolls:
            own = [one.luck for one in judged.rolls if one.side == who]
            yield f"     luck: {sum(own):+.3f} in {len(own)} roll{'s' * (len(own) != 1)}"
    yield ""


def _annotated(read: ReadGame, judged: JudgedGame, least: float, thinker: Seat) -> str:
    from games.file_form import form_of
    from play.judging.analysis import judged_record

    record: Any = read.record
    tags = {**read.tags, "Annotator": f"Plysmith with {printable(thinker.name)}, {thinker.limits}"}
    return form_of(record.game).write(judged_record(record, judged.moves, least), read.names, tags)
