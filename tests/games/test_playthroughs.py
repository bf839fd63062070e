"""One game of every game with all that can be observed of it, and what games refuse, as it was.

One game of each kind has a file in `playthroughs/`, its first and last position in full. A change
of it is a change of what people see or of what is learned, and shows as a difference to be read.
Of the other games `digests.json` has a digest: their texts of two commits are compared with

    python -m tests.games.test_playthroughs show NAME

and without arguments the command writes all files anew. In `refused/` a line is a text that a game
cannot read, and what it says of it; the messages are written anew, and lines are added by hand,
without a message.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import games
from games import DiceGame, MoveError, PositionError
from games.chinese_checkers import ChineseCheckers
from games.file_form import form_of
from games.problem import Problem
from games.record import new_record
from play.players.parse import parse_player
from search import as_evaluator

pytestmark = pytest.mark.plain

FOLDER = Path(__file__).parent
DIGESTS = FOLDER / "playthroughs/digests.json"
GAMES: dict[str, Any] = {
    **{name: games.load(name) for name in (*games.names(), *games.problems())},
    **{f"chinese_checkers{n if n != 3 else ''}": ChineseCheckers(n, 8) for n in (2, 3, 6)},
}
#: One game of each kind: the pieces that are taken, dice, more than two seats, a problem.
WHOLE_TEXTS = ("checkers", "backgammon", "chinese_checkers", "sliding8")
#: Most plies of a playthrough, and those at which all of a position is observed, as at the end. The
#: texts tell all of the first and the last; a digest stands for those between, whose moves are in
#: the game's file below. The command `show` tells more.
PLIES, WHOLE = 60, (0, 20)
#: Most moves that are listed; a digest stands for the others.
LISTED = 8
NAMES = ("first of all", "second")


def number(value: Any) -> str:
    return f"{value + 0.0:.6g}"


def observed(game: Any, position: Any) -> Iterator[str]:
    """Yields all that a game says of a position, apart from the moves."""
    yield from game.show(position).splitlines()
    yield f"side {game.to_move(position)}, outcome {game.outcome(position)}"
    if isinstance(game, Problem):
        yield f"solved {game.solved(position)} {game.why_unsolvable(position)}".rstrip()
    elif game.players > 2:
        yield f"outcomes {game.outcome_vector(position)}"
    yield f"noisy {game.noisy(position)}"
    rules = game.rules
    if rules is not None:
        for name in ("key", "standard"):
            if getattr(rules, name, None) is not None:
                yield f"{name} {getattr(rules, name)(position)}"
    for name, features in game.features.items():
        terms = zip(features.names, features.values(position), strict=True)
        yield f"{name}: " + ", ".join(f"{term} {number(value)}" for term, value in terms)
    for name, encoding in game.encodings.items():
        places = " ".join(map(str, encoding.places(position)))
        yield f"{name}: " + (places if len(places) < 200 else digest(places))
    if game.outcome(position) is None or isinstance(game, Problem):
        for name in game.evaluators:
            heuristic = isinstance(game, Problem)
            value = game.evaluators[name] if heuristic else as_evaluator(game, name).plain()
            yield f"{name} {number(value(position))}"


def digest(text: str) -> str:
    return f"{crc32(text.encode()):08x}"


def offered(game: Any, position: Any, moves: list[Any]) -> Iterator[str]:
    """Yields the moves, and what a game says of each."""
    lines = list(each_offered(game, position, moves))
    yield from lines[:LISTED]
    if lines[LISTED:]:
        yield f"  and {len(lines) - LISTED} more, digest {digest(str(lines[LISTED:]))}"


def each_offered(game: Any, position: Any, moves: list[Any]) -> Iterator[str]:
    for move in moves:
        told = [game.move_text(position, move)]
        if isinstance(game, Problem):
            told.append(f"costs {number(game.cost(position, move))}")
        else:
            told += [f"gain {number(gain)}"] if (gain := game.gain(position, move)) else []
            told += ["for good"] * bool(game.irreversible and game.irreversible(position, move))
        yield "  " + ", ".join(told)


def summary(between: list[str]) -> Iterator[str]:
    """Yields a line for some plies, which are forgotten."""
    if between:
        yield f"then {len(between)} plies, digest {digest(str(between))}"
        between.clear()


def playthrough(game: Any, told_at: Sequence[int] = WHOLE[:1]) -> Iterator[str]:
    """Yields the lines of a game in which every move is fixed; all is told at some of the plies."""
    yield f"{game.name}, version {game.version}: {game.title}; {', '.join(game.sides)}"
    position, record = game.start(), None if isinstance(game, Problem) else new_record(game)
    between: list[str] = []
    for ply in range(6 if isinstance(game, Problem) else PLIES):
        roll = 7 * ply % len(game.rolls) if isinstance(game, DiceGame) else None
        over = game.outcome(position) is not None and not isinstance(game, Problem)
        dice = () if roll is None else (roll,)
        moves = [] if over else game.legal_moves(position, *dice)
        move = None if over else moves[(5 * ply + 3) % len(moves)]
        thrown = "" if roll is None else f"{game.dice.text(roll)} "
        played = [] if over else [f"plays {thrown}{game.move_text(position, move)}"]
        told = f"{ply}. {game.position_text(position)}"
        seen: list[str] = []
        if over or ply in WHOLE or ply in told_at:
            seen = [*observed(game, position), *offered(game, position, moves)]
        if over or ply in told_at:
            yield from summary(between)
            yield from (f"\n{told}", *seen, *(f"{line}\n" for line in played))
        else:
            between.append(" ".join([told, *seen, *played]))
        if over:
            break
        if record is not None:
            record.play(move, **({} if roll is None else {"roll": roll}))
        position = game.play(position, move)
    yield from summary(between)
    if record is not None:
        yield f"\n{record.reason if record.over else 'goes on'}\n"
        form = form_of(game)
        names = NAMES + tuple(f"{seat}" for seat in range(2, game.players))
        yield form.write(record, names, {}).rstrip("\n")


def text_of(game: Any, told_at: Sequence[int] = WHOLE[:1]) -> str:
    return "\n".join(playthrough(game, told_at)) + "\n"


@pytest.mark.parametrize("name", WHOLE_TEXTS)
def test_a_game_is_played_as_it_was(name: str) -> None:
    assert text_of(GAMES[name]) == (FOLDER / f"playthroughs/{name}.txt").read_text("utf-8")


def digests() -> dict[str, str]:
    return {name: digest(text_of(GAMES[name])) for name in GAMES if name not in WHOLE_TEXTS}


def test_other_games_are_played_as_they_were() -> None:
    assert digests() == json.loads(DIGESTS.read_text("utf-8"))


# --- what is refused --------------------------------------------------------------------------


def refusal(game: Any, kind: str, *texts: str) -> str:
    """Returns what a game says of a text that it cannot read."""
    if kind == "position":
        with pytest.raises(PositionError) as caught:
            game.parse_position(*texts)
    elif kind == "player":
        with pytest.raises((ValueError, FileNotFoundError)) as caught:
            parse_player(game, *texts)
    elif kind == "roll":
        with pytest.raises(MoveError) as caught:
            game.dice.parse(*texts)
    else:
        position, text, *roll = texts
        where = game.parse_position(position)
        with pytest.raises(MoveError) as caught:
            game.parse_move(where, text, *(game.dice.parse(one) for one in roll))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def refusals(name: str) -> str:
    """Returns a file of refused texts with the messages of now."""
    lines = []
    for line in (FOLDER / f"refused/{name}.txt").read_text("utf-8").splitlines():
        if (read := re.match(r"(position|move|roll|player)(\(.*?\)) ->", line)) is not None:
            told = refusal(GAMES[name], read[1], *ast.literal_eval(f"({read[2][1:-1]},)"))
            line = f"{read[0]} {told}"
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("refused/*.txt")), ids=lambda path: path.stem)
def test_what_cannot_be_read_is_refused_as_it_was(path: Path) -> None:
    told = refusals(path.stem)
    assert told == path.read_text("utf-8")
    for line in filter(None, told.splitlines()):
        assert re.search(r"-> .*expected .*found ", line) or line.startswith("#"), line


if __name__ == "__main__":
    if sys.argv[1:2] == ["show"]:
        print("\n".join(text_of(GAMES[name], range(PLIES)) for name in sys.argv[2:]))
    else:
        for name in WHOLE_TEXTS:
            (FOLDER / f"playthroughs/{name}.txt").write_text(text_of(GAMES[name]), "utf-8")
        DIGESTS.write_text(json.dumps(digests(), indent=2) + "\n", "utf-8")
        for path in FOLDER.glob("refused/*.txt"):
            path.write_text(refusals(path.stem), "utf-8")
