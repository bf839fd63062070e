"""Fuzzes every parser: `python -m benchmarks.fuzz [--inputs N] [--seed S] [--only NAME ...]`.

Each parser is given N texts: mutations of good ones, words of its language in any order, and noise.
It may read a text or refuse it with its documented error. Any other error, a text that is read in
two ways, or more than a second of processor time for each 20,000 characters is a failure, and the
text is printed.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

from tqdm import tqdm

import games
from benchmarks.fuzz_page import WORDS, Posted, posted
from games.backgammon.fibs import fibs_text
from games.backgammon.identifiers import position_id, xgid
from games.backgammon.match_file import read_matches, write_match
from games.backgammon.notation import parse_situation
from games.backgammon.record import BackgammonRecord
from games.backgammon.situation import Situation
from games.checkers.pdn import read_games, write_game
from games.checkers.pdn.reader import _Moves
from games.errors import MoveError, PositionError
from games.file_form import form_of
from games.record import GameRecord
from play.players.limits import Limits
from play.players.parse import seated
from play.protocols.gnubg_socket import ExternalPlayer
from play.protocols.hub import Hub
from play.terminal import Session

CHECKERS: Any = games.load("checkers")
BACKGAMMON: Any = games.load("backgammon")
#: Longest processor time in seconds that an input may take, for each block of characters begun: a
#: file of 200,000 holds hundreds of games, each of which is played, written and read again.
SLOWEST, CHARACTERS = 1.0, 20_000
#: A run that hangs for this long prints where it hangs, and ends.
STUCK = 120
NOISE = "".join(map(chr, range(128))) + "éß×１٣\u2028\ufeff\u0000\U0001f600\udcff"


@dataclass(frozen=True)
class Parser:
    """A parser under test: `check` returns whether it read a text, and fails if it misbehaves."""

    check: Callable[[str], bool]
    samples: tuple[str, ...]
    words: tuple[str, ...]


def _record(seed: int, plies: int) -> GameRecord:
    record, generator = GameRecord(CHECKERS), random.Random(seed)
    while record.ply < plies and not record.over:
        record.play(generator.choice(CHECKERS.legal_moves(record.position)), value=0.5, depth=3)
    return record


def _match(seed: int) -> BackgammonRecord:
    record, generator = BackgammonRecord(BACKGAMMON), random.Random(seed)
    while record.ply < 30:
        roll = generator.randrange(21)
        record.play(generator.choice(BACKGAMMON.legal_moves(record.position, roll)), roll=roll)
    record.declare(-1.0, "resignation")
    return record


# --- checks ---------------------------------------------------------------------------------------


def check_fen(text: str) -> bool:
    """PDN FEN: the text that we write of a position is read back as the same position."""
    try:
        position = CHECKERS.parse_position(text)
    except PositionError:
        return False
    assert CHECKERS.parse_position(CHECKERS.position_text(position)) == position
    return True


def check_situation(text: str) -> bool:
    """Position ID, GNU ID, XGID, FIBS: the XGID that we write is read back as the same."""
    try:
        found = parse_situation(text)
    except PositionError:
        return False
    assert BACKGAMMON.parse_position(BACKGAMMON.position_text(found.position)) == found.position
    if not any(found.players):
        assert parse_situation(xgid(found)) == found
    return True


_PLACES = [_record(seed, plies).position for seed, plies in ((1, 0), (2, 9), (3, 30), (4, 60))]
_BOARDS = [_match(seed).position for seed in range(4)]
_TURNS = [(BACKGAMMON.start(), 3), *zip(_BOARDS, (5, 9, 14), strict=False)]


def check_move(text: str) -> bool:
    """A move of checkers, in each of a few positions."""
    read = False
    for position in _PLACES:
        try:
            move = CHECKERS.parse_move(position, text)
        except MoveError:
            continue
        assert move in CHECKERS.legal_moves(position)
        read = True
    return read


def check_backgammon_move(text: str) -> bool:
    """A move of backgammon, in each of a few positions with a roll."""
    read = False
    for position, roll in _TURNS:
        try:
            move = BACKGAMMON.parse_move(position, text, roll)
        except MoveError:
            continue
        assert move in BACKGAMMON.legal_moves(position, roll)
        read = True
    return read


def check_dice(text: str) -> bool:
    """Dice."""
    try:
        roll = BACKGAMMON.dice.parse(text)
    except MoveError:
        return False
    assert BACKGAMMON.dice.parse(BACKGAMMON.dice.text(roll)) == roll
    return True


def check_pdn(text: str) -> bool:
    """PDN: reading never raises; games without a problem can be written and read back."""
    good = False
    try:
        games = list(form_of(CHECKERS).read(text, CHECKERS))
    except ValueError as error:
        assert str(error).startswith("expected games of English checkers")
        games = []
    assert len({game.order for game in games}) <= 1
    native = _Moves._replay
    slow = lambda moves, text: (False, native(moves, "")[1])  # noqa: E731
    with mock.patch.object(_Moves, "_replay", slow):  # move by move
        slowly = list(read_games(text, CHECKERS))
    for one, again in zip(read_games(text, CHECKERS), slowly, strict=True):
        assert one == again
        assert (one.record is None) <= bool(one.problems)
        assert all(re.match(r"line \d+: ", problem) for problem in one.problems)
        if one.record is None:
            continue
        try:
            written = write_game(one.record, one.tags)
        except ValueError:  # braces and control characters, which PDN cannot hold
            continue
        (again,) = read_games(written, CHECKERS)
        assert again.record is not None and again.record.moves == one.record.moves
        assert again.record.outcome() == one.record.outcome()
        good |= not one.problems
    return good


def check_mat(text: str) -> bool:
    """.mat: reading never raises; games without a problem can be written and read back."""
    good = False
    for match in read_matches(text, BACKGAMMON):
        for one in match.games:
            if one.record is None:
                assert one.problems
                continue
            try:
                written = write_match([one.record])
            except ValueError:
                continue
            (again,) = read_matches(written, BACKGAMMON)
            assert again.games[0].record is not None
            assert again.games[0].record.moves == one.record.moves
            good |= not one.problems
    return good


class Spoken:
    """An engine that is sent any lines: it answers them, or says `error`."""

    def __init__(self, kind: Callable[..., Any], game: Any, name: str, depth: int) -> None:
        self.said: list[str] = []
        thinker = seated(game, name, Limits(depth=depth), table_mib=1)
        self.engine = kind(thinker, self.said.append)
        self.engine.handle("init")
        self.engine.handle("isready")

    def __call__(self, text: str) -> bool:
        self.said.clear()
        for line in text.split("\n"):
            self.engine.handle(line)
        self.engine.stop()
        assert all("\n" not in line and len(line) < 1000 for line in self.said)
        return not any(line.startswith("error") for line in self.said)


class Asked:
    """The player behind GNU Backgammon's socket."""

    def __init__(self) -> None:
        self.player = ExternalPlayer(seated(BACKGAMMON, "pips", Limits(depth=0), table_mib=1))

    def __call__(self, text: str) -> bool:
        answer = self.player.answer(text)
        assert "\n" not in answer and len(answer) < 1000
        return not answer.startswith("error")


class Typed:
    """A game in the terminal, where an error is a line of text. Nothing is saved."""

    def __init__(self, game: Any, name: str, depth: int, **options: Any) -> None:
        thinker = seated(game, name, Limits(depth=depth), table_mib=1)
        self.session = Session(game, thinker, **options)
        self.session.save = lambda name, overwrite: iter(())
        self.start = list(self.session.advance())

    def __call__(self, text: str) -> bool:
        before = self.session.record.ply
        for line in text.split("\n")[:20]:
            if "level" not in line and "hint" not in line:  # these would take time
                assert all(isinstance(shown, str) for shown in self.session.answer(line))
            for shown in self.session.advance():
                assert isinstance(shown, str)
        return bool(self.session.record.ply != before)


def parsers() -> dict[str, Parser]:
    """Returns every parser by name."""
    start = Situation(BACKGAMMON.start())
    boards = [Situation(board, roll=3) for board in _BOARDS]
    pdn = [write_game(_record(seed, 40), {"Event": "e", "White": "w"}) for seed in (5, 6)]
    mat = [write_match([_match(seed)]) for seed in (7, 8)]
    fens = tuple(CHECKERS.position_text(position) for position in _PLACES)
    moves = tuple(
        CHECKERS.move_text(position, move)
        for position in _PLACES
        for move in CHECKERS.legal_moves(position)
    )
    steps = tuple(
        BACKGAMMON.move_text(position, move)
        for position, roll in _TURNS
        for move in BACKGAMMON.legal_moves(position, roll)[:20]
    )
    ids = tuple(form(one) for one in (start, *boards) for form in (xgid, fibs_text)) + tuple(
        position_id(board) for board in _BOARDS
    )
    situation_words = tuple("-abcdeABCDE:0123456789/+= XO") + ("XGID=", "board:", "-1", "Match ID:")
    hub = (
        "hub", "init", "ping", "stop", "new-game", "level depth=1", "level move-time=0.001",
        "level time=1 inc=0.1 moves=3", "set-param name=variant value=english", "go think", "go",
        'pos pos=Bbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww moves="11-15 22-18 15x22x18"', "ponder-hit",
        "set-param name=turned-pos value=true", "pos pos=WeeeeeeeeBbeeeeeeeewwwwwwwwwwwwwW",
    )  # fmt: skip
    page = posted([(11, 15), (22, 18), (9, 13)], moves[:20], fens, pdn[0])
    dice_page = posted([(8, 5), (6, 5), (24, 18)], steps[:20], ids[:9], mat[0])
    typed = ("help", "moves", "why", "board", "flip", "undo", "position", "resign", "new", "save x")
    return {
        "FEN": Parser(check_fen, fens, tuple("BWbwK:,-0123456789. ") + ("32", "1-12")),
        "checkers move": Parser(check_move, moves, tuple("0123456789x-: *×")),
        "PDN": Parser(
            check_pdn,
            tuple(pdn),
            ('[Event "x"]\n', "[", '"', "{", "}", "(", ")", ";", "%", "$1", "\n", "\n\n", "1-0",
             "1/2-1/2", "*", "1.", "11-15", "22-18", "15x22", '[FEN "', *fens, "!?", "0.3/5"),
        ),
        "position ID, XGID, FIBS": Parser(check_situation, ids, situation_words),
        "backgammon move": Parser(
            check_backgammon_move, steps, (*"0123456789/-*() ,;", "bar", "off", "cannot move")
        ),
        "dice": Parser(check_dice, ("31", "6-6", "(5,4):", "1 2"), tuple("0123456789-,/ ():")),
        ".mat": Parser(
            check_mat,
            tuple(mat),
            ("Game 1\n", " 3 point match\n", "31: ", "8/5 6/5", "\n", "  1) ", " " * 20, "66:",
             "Doubles => 2", "Takes", "Drops", "Wins 2 points", "and the match", "a : 0  b : 1\n",
             "Losses 1 point", "????", "00:", "Resigned Match", '; [Jacoby "On"]\n',
             '; [x "y"]\n', "(", "bar/20"),
        ),
        "Hub": Parser(Spoken(Hub, CHECKERS, "material", 1), hub, (*hub, *moves, '"', "=", "\n")),
        "GNU socket": Parser(Asked(), tuple(map(fibs_text, (start, *boards))), situation_words),
        "checkers page": Parser(Posted(CHECKERS), page, (*WORDS, *page[-12:])),
        "backgammon page": Parser(Posted(BACKGAMMON), dice_page, (*WORDS, *dice_page[-12:])),
        "checkers terminal": Parser(
            Typed(CHECKERS, "material", 1),
            (*typed, *moves, *(f"new {fen}" for fen in fens)),
            (*typed, *moves, "\n"),
        ),
        "backgammon terminal": Parser(
            Typed(BACKGAMMON, "pips", 0, people=frozenset({0, 1})),
            (*typed, *steps, "31", "double", *(f"new {text}" for text in ids[:9])),
            (*typed, *steps, "31", "62", "\n"),
        ),
    }  # fmt: skip


# --- texts ----------------------------------------------------------------------------------------


def mutated(parser: Parser, generator: random.Random) -> str:
    """Returns a text for a parser: mostly a valid one with a few edits, else words or noise."""
    kind = generator.random()
    if kind < 0.1:
        text = "".join(generator.choices(NOISE, k=generator.randrange(40)))
    elif kind < 0.3:
        count = generator.randrange(1, 30)
        glue = generator.choice(("", " ", "\n"))
        text = glue.join(generator.choices(parser.words, k=count))
    else:
        text = generator.choice(parser.samples)
        for _ in range(generator.choice((0, 1, 1, 2, 3, 8))):
            text = _edited(text, parser, generator)
    if generator.random() < 0.0005:
        text = (text or "x") * generator.choice((100, 2000))
        text = text[:200_000]
    return text


def _edited(text: str, parser: Parser, generator: random.Random) -> str:
    start = generator.randrange(len(text) + 1)
    end = min(len(text), start + generator.choice((0, 1, 1, 2, 5, 20, 200)))
    middle = generator.choice(
        (
            "",
            generator.choice(parser.words),
            generator.choice(NOISE),
            text[start:end] * 2,
            text[start:end][::-1],
            text[start:end].swapcase(),
            str(generator.randrange(-3, 1 << generator.choice((3, 6, 40)))),
        )
    )
    return text[:start] + middle + text[end:]


def fuzz(
    parser: Parser, inputs: int, seed: int, progress: Callable[[], Any] = lambda: None
) -> tuple[int, float]:
    """Give a parser texts; returns how many it read, and the longest time that one took.

    Raises AssertionError, with the text, if the parser fails.
    """
    generator = random.Random(seed)
    read, slowest = 0, 0.0
    try:
        for number in range(inputs):
            if number % 1000 == 0:
                faulthandler.dump_traceback_later(STUCK, exit=True, file=sys.__stderr__)
            text = mutated(parser, generator)
            began = time.thread_time()
            try:
                read += parser.check(text)
            except Exception as error:
                shown = repr(text if len(text) < 3000 else text[:3000])
                raise AssertionError(
                    f"input {number}: {type(error).__name__}: {error}: {shown}"
                ) from error
            took = time.thread_time() - began
            if took > SLOWEST * (1 + len(text) // CHARACTERS):
                raise AssertionError(f"input {number}: took {took:.1f} s: {text[:300]!r}")
            slowest = max(slowest, took)
            progress()
    finally:  # else it would end a caller that goes on after a failure
        faulthandler.cancel_dump_traceback_later()
    return read, slowest


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    command = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    command.add_argument("--inputs", type=int, default=10_000, metavar="N", help="for each parser")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--only", nargs="+", metavar="NAME", help="of these parsers")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    options = command.parse_args(arguments)
    known = parsers()
    unknown = set(options.only or ()) - set(known)
    if unknown or options.inputs < 1:
        found = ", ".join(sorted(unknown)) or options.inputs
        print(f"expected inputs from 1 on and parsers among {', '.join(known)}; found {found}")
        return 2
    failed = 0
    for name in options.only or known:
        with tqdm(total=options.inputs, desc=name, disable=options.quiet, leave=False) as bar:
            try:
                read, slowest = fuzz(known[name], options.inputs, options.seed, bar.update)
            except AssertionError as error:
                failed += 1
                print(f"{name:24} FAILED: {error}")
                continue
        print(
            f"{name:24} {options.inputs} inputs: {read} read, {options.inputs - read} refused;"
            f" slowest {1000 * slowest:.1f} ms",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
