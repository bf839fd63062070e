"""PDN files: games are read back as written; damage is reported and reading goes on."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of
from hypothesis import given
from hypothesis import strategies as st

from games import load
from games.checkers.pdn import PdnGame, read_games, write_game
from games.checkers.pdn.reader import _Moves
from games.file_form import form_of
from games.record import Annotation, GameRecord
from games.values import WIN

pytestmark = pytest.mark.plain

CHECKERS = load("checkers")
START = CHECKERS.start()
TEXTS = st.text(st.characters(exclude_characters="{}", exclude_categories=("Cs",)), max_size=30)
VALUES = (
    st.none()
    | st.floats(-1e6, 1e6).map(lambda value: round(value, 4))
    | st.integers(0, 200).map(lambda plies: WIN - plies)
    | st.integers(0, 200).map(lambda plies: plies - WIN)
)


def record_of(*texts: str, start: str = "", **options: Any) -> GameRecord:
    record = GameRecord(CHECKERS, CHECKERS.parse_position(start) if start else None, **options)
    for text in texts:
        record.play_text(text)
    return record


def read(text: str, **options: Any) -> list[PdnGame]:
    return list(read_games(text, CHECKERS, **options))


def read_one(text: str, **options: Any) -> PdnGame:
    games = read(text, **options)
    assert len(games) == 1, games
    return games[0]


def texts_of(record: GameRecord | None) -> list[str]:
    assert record is not None
    pairs = zip(record.positions, record.moves, strict=False)
    return [CHECKERS.move_text(position, move) for position, move in pairs]


def one_line(comment: str) -> str:
    return " ".join(comment.split())


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    """Draw a random game from the start or a later position, with notes and perhaps a result."""
    generator = random.Random(draw(st.integers(0, 2**32)))
    position = START
    for _ in range(draw(st.sampled_from((0, 0, 1, 30, 51)))):
        moves = CHECKERS.legal_moves(position)
        position = CHECKERS.play(position, generator.choice(moves)) if moves else position
    record = GameRecord(CHECKERS, position, comment=draw(TEXTS))
    for _ in range(draw(st.integers(0, 120))):
        if record.over:
            break
        note: dict[str, Any] = {}
        if generator.random() < 0.2:
            depth = draw(st.none() | st.integers(0, 50))
            note = {"value": draw(VALUES), "depth": depth, "comment": draw(TEXTS)}
        record.play(generator.choice(CHECKERS.legal_moves(record.position)), **note)
    if not record.over and draw(st.booleans()):
        record.declare(draw(st.sampled_from((-1, 0, 1))), "agreed")
    return record


TAG_VALUES = TEXTS.map(lambda text: "".join(c for c in text if c.isprintable()))
TAGS = st.dictionaries(st.sampled_from(("Event", "White", "Black", "Opening", "X_1")), TAG_VALUES)


@given(st.lists(st.tuples(records(), TAGS), max_size=3), st.booleans())
@pytest.mark.thorough
def test_games_are_read_back(games: list[tuple[GameRecord, dict[str, str]]], lines: bool) -> None:
    text = "\n".join(write_game(record, tags) for record, tags in games)
    source = io.StringIO(text, newline="\n") if lines else text
    found = list(read_games(source, CHECKERS))
    assert len(found) == len(games)
    for (record, tags), (found_tags, again, problems, *_) in zip(games, found, strict=True):
        assert problems == []
        assert again is not None
        assert again.positions == record.positions
        assert again.moves == record.moves
        assert again.outcome() == record.outcome()
        assert again.comment == one_line(record.comment)
        assert again.annotations == [
            Annotation(note.value, note.depth, one_line(note.comment))
            for note in record.annotations
        ]
        assert tags.items() <= found_tags.items()
        assert write_game(again, found_tags) == write_game(record, tags)


def test_a_written_game() -> None:
    record = record_of("11-15", "22-18", "15x22", "25x18")
    record.annotations[0] = Annotation(0.35, 7)
    record.annotations[2] = Annotation(-1.0, None, "forced")
    record.declare(-1, "Black resigns")
    assert write_game(record, {"Black": 'A "B" \\', "White": "C", "Opening": "Double Corner"}) == (
        '[Event "?"]\n[Site "?"]\n[Date "?"]\n[Round "?"]\n[White "C"]\n'
        '[Black "A \\"B\\" \\\\"]\n[Result "1-0"]\n[GameType "21"]\n[Opening "Double Corner"]\n'
        "\n"
        "1. 11-15 {0.35/7} 1... 22-18 2. 15x22 {-1.0/- forced} 2... 25x18 1-0\n"
    )


def test_a_written_game_from_a_position_with_white_to_move() -> None:
    text = write_game(record_of("18x9", start="W:W18:B14"))
    assert '[SetUp "1"]\n[FEN "W:W18:B14"]\n' in text
    assert text.endswith("\n\n1... 18x9 1-0\n")


@pytest.mark.parametrize(
    ("outcome", "result"), [(1, "0-1"), (-1, "1-0"), (0, "1/2-1/2"), (None, "*")]
)
def test_results_have_white_first(outcome: float | None, result: str) -> None:
    record = record_of("11-15")
    if outcome is not None:
        record.declare(outcome, "agreed")
    text = write_game(record)
    assert f'[Result "{result}"]' in text
    assert text.endswith(f" {result}\n")
    again = read_one(text).record
    assert again is not None and again.outcome() == outcome


def test_lines_are_short_and_begin_with_nothing_that_could_be_misread() -> None:
    record = record_of("11-15")
    tricky = '[Event "x"] %word ; 1-0 ( $1 ' * 20
    record.annotate(comment=tricky, value=0.5, depth=3)
    record.play_text("22-18")
    text = write_game(record)
    lines = text.split("\n\n")[1].splitlines()
    assert len(lines) > 5
    assert all(len(line) <= 79 for line in lines)
    assert not any(line.startswith(("[", "%")) for line in lines)
    again = read_one(text).record
    assert again is not None and again.annotations[0].comment == tricky.strip()


def test_comments_that_look_like_values_stay_comments() -> None:
    record = record_of("11-15", "22-18", "15x22")
    notes = [Annotation(comment="0.35/7"), Annotation(comment="-/- x"), Annotation(2.0, 1, "0.5/3")]
    record.annotations[:] = notes
    again = read_one(write_game(record)).record
    assert again is not None and again.annotations == notes


def test_values_are_rounded_to_four_decimals() -> None:
    record = record_of("11-15", "22-18", "15x22")
    values = [1 / 3, -0.00001, 123456789.0]
    record.annotations[:] = [Annotation(value, 1) for value in values]
    text = one_line(write_game(record))
    assert all(part in text for part in ("{0.3333/1}", "{0.0/1}", "{123456789.0/1}"))


def test_proven_values_are_written_in_words() -> None:
    record = record_of("11-15", "22-18", "15x22", "25x18")
    notes = [Annotation(WIN - 17, 17), Annotation(18 - WIN, 16), Annotation(WIN - 1, None, "!"),
             Annotation(WIN, 3)]  # fmt: skip
    record.annotations[:] = notes
    text = one_line(write_game(record))
    for comment in ("won in 17 plies/17", "lost in 18 plies/16", "won in 1 ply/- !", "won/3"):
        assert f"{{{comment}}}" in text
    again = read_one(text).record
    assert again is not None and again.annotations == notes


def noted(note: dict[str, Any], message: str) -> None:

    record = record_of("11-15")
    record.annotate(**note)
    write_game(record)


def tagged(tags: dict[str, str], message: str) -> None:

    write_game(record_of("11-15"), tags)


FOREIGN = """\ufeff% made by hand
[Event "Club; 3(a)"]   [Site "A {b}"]
[Black "Smith"]
[White "Jones"]
[Result "0-1"]
[GameType "21,B,8,8,N1,0"]

{an {old} game; 1-0
% this is a part of it}
1. 11-15! $1 22-18?! ; 2. nonsense }
% 2. more nonsense
(1... 23-18 {0.5/3} 2. 8-11 (2. 9-13 nothing (!) like this) 0-1)
2.15x22 {+1.25/12 takes
  a man} {and more} 25:18* 3. ... 3. 8 - 11 {} 4... 29x25 0-1 {Resigns}
"""


def test_a_file_with_everything_in_it() -> None:
    # The comment ends at its first closing brace, so that the next line is a line of its own.
    text = FOREIGN.replace("{an {old} game; 1-0\n% this is a part of it}", "{an old game; 1-0}")
    tags, record, problems, *_ = read_one(text)
    assert problems == []
    assert record is not None
    assert texts_of(record) == ["11-15", "22-18", "15x22", "25x18", "8-11", "29-25"]
    assert tags == {
        "Event": "Club; 3(a)", "Site": "A {b}", "Black": "Smith", "White": "Jones",
        "Result": "0-1", "GameType": "21",
    }  # fmt: skip
    assert record.comment == "an old game; 1-0"
    assert record.annotations[2] == Annotation(1.25, 12, "takes a man and more")
    assert record.annotations[0] == record.annotations[1] == Annotation()
    assert (record.outcome(), record.reason) == (1.0, "result of the file")


def test_comments_between_games_belong_to_neither() -> None:
    first, second = read("1. 11-15 * {White went home}\n\n" + GOOD)
    assert first.record is not None and second.record is not None
    assert (first.record.comment, second.record.comment) == ("", "")
    assert first.record.annotations == [Annotation()]


def test_the_first_of_two_values_is_kept_and_the_other_not_lost() -> None:
    record = read_one("1. 11-15 {book} {0.5/3} {0.75/4} *").record
    assert record is not None
    assert record.annotations == [Annotation(0.5, 3, "book 0.75/4")]


def test_reading_in_the_other_order() -> None:
    text = '[Event "a"]\n[Result "1-0"]\n\n1. 11-15 1-0\n'
    assert [game.record.outcome() for game in read(text) if game.record] == [-1.0]
    tags, record, problems, *_ = read_one(text, black_first=True)
    assert record is not None
    assert (record.outcome(), tags["Result"], problems) == (1.0, "0-1", [])


def test_a_game_without_tags_and_one_without_moves() -> None:
    text = '1. 11-15 *\n[Event "a"]\n[FEN "W:W5:B14"]\n\n*\n{c} 1. 9-13 22-18 1/2-1/2'
    first, second, third = read(text)
    assert texts_of(first.record) == ["11-15"]
    assert second.record is not None
    assert CHECKERS.position_text(second.record.position) == "W:W5:B14"
    assert second.tags["SetUp"] == "1"
    assert texts_of(third.record) == ["9-13", "22-18"]
    assert third.record is not None and third.record.comment == "c"
    assert [game.problems for game in (first, second, third)] == [[], [], []]
    assert read("") == read(" \n\n% x\n{only a comment}\n") == []


def test_positions_without_moves_or_results_are_games_of_their_own() -> None:
    first, second = read('[FEN "W:W5:B14"]\n\n[FEN "W:W6:B14"]\n')
    assert first.record is not None and second.record is not None
    assert first.record.start != second.record.start
    assert first.problems == ["line 1: expected a result, found the next game on line 3"]
    assert second.problems == ["line 3: expected a result, found the end of the file"]


@pytest.mark.parametrize(
    ("tag", "end", "outcome", "problems"),
    [
        ("1-0", "1-0", -1.0, []),
        ("1-0", "*", -1.0, []),
        ("*", "0-1", 1.0, []),
        ("1-0", "0-1", 1.0, ["line 1: expected the result 0-1 (result of the file), found 1-0"]),
        ("won", "0-1", 1.0, ["line 1: expected a result such as 1-0, found 'won'"]),
        ("2-0", "2-0", -1.0, []),
        ("1-1", "1-1", 0.0, []),
        ("?", "*", None, []),
    ],
)
def test_results_that_do_not_agree(
    tag: str, end: str, outcome: float | None, problems: list[str]
) -> None:
    game = read_one(f'[Result "{tag}"]\n\n1. 11-15 {end}\n')
    assert game.record is not None
    assert game.record.outcome() == outcome
    assert game.problems == problems
    assert game.tags["Result"] in write_game(game.record, game.tags)


def test_the_moves_have_the_last_word_on_the_result() -> None:
    game = read_one('[FEN "B:W14:B9"]\n[Result "1-0"]\n\n1. 9x18 1/2-1/2\n')
    assert game.record is not None
    assert (game.record.outcome(), game.record.reason) == (1.0, "no move")
    assert game.problems == [
        "line 4: expected the result 0-1 (no move), found 1/2-1/2",
        "line 2: expected the result 0-1 (no move), found 1-0",
    ]


def test_positions_may_repeat() -> None:
    laps = "1-6 32-27 6-1 27-32 " * 3
    text = f'[FEN "B:WK32:BK1"]\n\n{laps} 1/2-1/2\n'
    assert len(texts_of(read_one(text).record)) == 12


GOOD = '[Event "good"]\n[Result "*"]\n\n1. 11-15 *\n'


def damaged(text: str) -> None:
    """Raises the problem of a damaged game, which leaves the games around it as they are."""
    bad, good = read(text + GOOD)
    (problem,) = bad.problems
    assert bad.record is None or (bad.record.ply and not bad.record.over)
    assert (good.tags["Event"], texts_of(good.record), good.problems) == ("good", ["11-15"], [])
    # The same at the end of a file, and if lines are counted from a later one.
    good, bad = read(GOOD + text)
    assert good.record is not None
    number = int(problem.split(" ")[1].rstrip(":"))
    assert bad.problems[0].startswith(f"line {number + 4}:")
    assert number <= text.count("\n")
    raise ValueError(problem)


def test_a_game_that_only_lacks_its_result() -> None:
    first, second = read('[Event "a"]\n\n1. 11-15 22-18\n' + GOOD)
    assert texts_of(first.record) == ["11-15", "22-18"]
    assert first.problems == ["line 3: expected a result, found the next game on line 4"]
    assert second.problems == []


def test_a_broken_first_tag_does_not_damage_the_game_before_it() -> None:
    first, second = read('[Event "a"]\n\n1. 11-15\n[Event "b\n[Site "c"]\n\n1. 9-13 *\n')
    assert texts_of(first.record) == ["11-15"]
    assert (second.record, second.tags) == (None, {"Site": "c"})


def test_a_game_of_tags_alone_does_not_swallow_the_next() -> None:
    first, second = read('[Site "a"]\n[Black -?"]\n\n' + GOOD)
    assert (first.record, first.tags) == (None, {"Site": "a"})
    assert second.tags["Event"] == "good" and texts_of(second.record) == ["11-15"]


def test_a_line_of_moves_that_looks_like_a_tag_does_not_swallow_the_next_game() -> None:
    first, second, third = read("1. 11-15\n[2. 22-18 *\n\n" + GOOD)
    assert texts_of(first.record) == ["11-15"]
    assert (second.record, second.tags) == (None, {})
    assert third.tags["Event"] == "good" and texts_of(third.record) == ["11-15"]


@given(records(), st.integers(0, 2**32))
def test_a_damaged_file_is_read_to_its_end(record: GameRecord, seed: int) -> None:
    """Characters of one game change; the games around it are read all the same."""
    generator = random.Random(seed)
    text = list(write_game(record))
    for _ in range(3):
        text[generator.randrange(len(text))] = generator.choice('[]{}()"9-x. \n;%*')
    games = read(GOOD + "\n" + "".join(text) + "\n" + GOOD)
    assert games[0].tags["Event"] == games[-1].tags["Event"] == "good"
    assert texts_of(games[0].record) == texts_of(games[-1].record) == ["11-15"]


def test_games_come_one_by_one() -> None:
    read_lines = 0

    def endless() -> Any:
        nonlocal read_lines
        while True:
            for line in GOOD.splitlines(keepends=True):
                read_lines += 1
                yield line

    games = read_games(endless(), CHECKERS)
    for number in range(1, 4):
        assert next(games).record is not None
        assert read_lines <= 4 * number + 1


# --- speed -----------------------------------------------------------------------------------


def played(seed: int, plies: int) -> str:
    """Returns a random game, with several captures that pass several squares."""
    generator = random.Random(seed)
    record = GameRecord(CHECKERS, repetitions=None, quiet_moves=None)
    while not record.over and record.ply < plies:
        record.play(generator.choice(CHECKERS.legal_moves(record.position)))
    if not record.over:
        record.declare(0.0, "agreed")
    return write_game(record)


def test_games_are_read_by_one_native_call_each(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = "\n".join(played(seed, 60) for seed in range(5))
    asked = []
    monkeypatch.setattr(type(CHECKERS), "parse_move", lambda *given: asked.append(given))
    games = read(texts)
    assert [game.problems for game in games] == [[]] * 5 and not asked
    assert sum(game.record.ply for game in games if game.record) > 200


def test_fast_reading_is_the_same_as_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [played(seed, 200) for seed in range(12)]
    texts += [text.replace("x", " : ").replace(". ", ".") for text in texts[:4]]
    texts += [text.replace(" 2", "\u00a02", 3) for text in texts[:4]]  # a space that is rare
    texts += [f"1. 11-15 23-19 {n}... 8-11 22-17 3. 11-1{n} *" for n in range(5, 9)]
    texts += ['[FEN "W:WK6:B9,10,18,26"]\n\n1. 6x13 *', '[FEN "B:BK6:W9,10,18,17,2,1"]\n\n6x13x6 *']
    texts += ["1. {a number alone} 11-15 2. {b} 22-18 2... {c} 15x22 *"]
    natively = _Moves._replay
    for text in texts:
        (fast,) = read(text)
        with monkeypatch.context() as slowly:
            slowly.setattr(_Moves, "_replay", lambda moves, text: (False, natively(moves, "")[1]))
            (slow,) = read(text)
        assert fast == slow
        if fast.record is not None and slow.record is not None:
            assert fast.record.quiet_plies == slow.record.quiet_plies
            assert fast.record.history == slow.record.history


# --- real files ------------------------------------------------------------------------------

ENDED = '[Event "a"]\n[FEN "B:W14:B9"]\n[Result "{0}"]\n\n1. 9x18 {0}\n\n'
RESIGNED = '[White "Don Lafferty"]\n[Black "Tinsley, Marion"]\n[Result "{0}"]\n\n'
RESIGNED += "1. 11-15 22-18 {1} {0}\n\n"


def order_of(text: str) -> Any:
    form = form_of(CHECKERS)
    return next(iter(form.read(text, CHECKERS))).order


@pytest.mark.parametrize(
    ("text", "black_first", "clear"),
    [
        (ENDED.format("1-0"), True, True),  # White cannot move
        (ENDED.format("0-1"), False, True),
        (RESIGNED.format("1-0", "{White resigns}"), True, True),
        (RESIGNED.format("1-0", "{Lafferty resigned}"), True, True),
        (RESIGNED.format("0-1", "{Tinsley won.}"), False, True),
        (RESIGNED.format("1-0", "{won in 12 plies/9}"), False, True),
        (RESIGNED.format("1-0", "{the winner is known}"), False, False),
        (RESIGNED.format("1-0", "{White could have won}"), False, False),
        (RESIGNED.format("1/2-1/2", ""), False, True),
        ("1. 11-15 22-18 2. 15x22 1-0\n\n" * 3, False, False),
        ("1. 11-15 22-18 2. 15x22 25x18 3. 8-11 24-20 1-0\n\n" * 4, False, True),
        ("1. 11-15 22-18 2. 15x22 25x18 3. 8-11 24-20 0-1\n\n" * 4, True, True),
        ("1. 11-15 22-18 1-0\n\n1. 11-15 22-18 0-1\n\n" * 9, False, False),
    ],
)
def test_whom_results_name_first(text: str, black_first: bool, clear: bool) -> None:
    order = order_of(text)
    assert (order.black_first, order.clear) == (black_first, clear), str(order)
    games = list(form_of(CHECKERS).read(text, CHECKERS))
    assert [game.record.outcome() for game in games if game.record] == [
        game.record.outcome()
        for game in read(text, black_first=black_first if clear else None)
        if game.record
    ]
    for game in games:
        assert game.record is not None
        assert ("White first" in game.result) == clear == ("unclear" not in game.result)
        # The file that is written says so, too.
        text = form_of(CHECKERS).write(game.record, game.names, {})
        assert ('[Result "*"]' in text) == (not clear) == ("unclear which side" in one_line(text))


def test_an_order_that_is_asked_for_is_not_guessed() -> None:
    form, text = form_of(CHECKERS), RESIGNED.format("1-0", "{White resigns}")
    outcomes = [
        next(iter(form.games_in(text, CHECKERS, order))).record.outcome()  # type: ignore[union-attr]
        for order in (None, True, False)
    ]
    assert outcomes == [1.0, 1.0, -1.0]
    nim = load("nim")
    with pytest.raises(ValueError, match="black_first: expected a game whose files may name"):
        form_of(nim).games_in("", nim, False)


@pytest.mark.parametrize(
    "tag", ['[FEN ""W:W5:B14""]', '[FEN "\\"W:W5:B14\\""]', "[FEN \"'W:W5:B14'\"]"]
)
def test_a_position_in_quotes(tag: str) -> None:
    game = read_one(f'[Event "a"]\n{tag}\n\n1. 5-1 *\n')
    assert game.problems == [] and game.tags["FEN"] == "W:W5:B14"


RUSSIAN = '[GameType "25"]\n[Result "1-0"]\n\n1. c3-d4 d6-c5 2. b2-c3 f6-g5 1-0\n\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RUSSIAN * 2, "found 2 of Russian draughts \\(GameType 25\\)"),
        (RUSSIAN.replace("25", "25,W,8,8,A0,0"), "found 1 of Russian draughts \\(GameType 25\\)"),
        (RUSSIAN.replace('[GameType "25"]', ""), "found 1 of games with squares such as c3"),
        (RUSSIAN.replace("25", "20").replace("c3-d4", "32-28"), "international draughts"),
        (RUSSIAN.replace("25", "99"), "found 1 of another game \\(GameType 99\\)"),
    ],
)
def test_a_file_of_another_game_is_refused(text: str, message: str) -> None:
    form = form_of(CHECKERS)
    for order in (None, True):
        with pytest.raises(ValueError, match=f"^expected games of English checkers.*{message}"):
            form.games_in(text, CHECKERS, order)
    # beside a game of checkers the others are damaged games
    good, *others = form.read(GOOD + "\n" + text, CHECKERS)
    assert good.record is not None and all(game.record is None for game in others)


@pytest.mark.skipif(not find_spec("draughts"), reason="pydraughts is not installed")
@pytest.mark.thorough
def test_games_of_another_program_end_in_the_same_positions(tmp_path: Path) -> None:
    path = tmp_path / "peer.pdn"
    script = Path(__file__).parents[1] / "pdn_peer.py"
    command = [sys.executable, str(script), str(path), "8"]
    ends = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    games = read(path.read_text("utf-8"))
    assert len(games) == len(ends) == 8
    for game, end in zip(games, ends, strict=True):
        assert game.record is not None
        assert game.record.position == CHECKERS.parse_position(end)
    assert sum(game.record.ply for game in games if game.record) > 200


test_errors = errors_of(globals())
