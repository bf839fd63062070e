"""Opening books: values and priorities by hand and by twins, growth, files, players, lookups."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from twin import PlainFace, Twin

from games import kernels
from games.backgammon import Backgammon
from games.checkers import Checkers
from games.checkers.rules import turn
from games.contract import Game
from games.kernels import kernel
from games.lock import alone
from games.nim import Nim
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from games.tree import Tree
from play.__main__ import main
from play.book_building import LeafSearch, build_book
from play.match.driver import play_match
from play.match.loop import play
from play.players.book_choice import BookChoice, parse_book
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.player import Player
from play.workers import Workers
from search import EXACT, UPPER, WIN, Engine, Lookup, as_evaluator
from search.evaluators.array_files import load_arrays, save_arrays
from search.lookups.lookup import CombinedLookup
from search.lookups.opening_book import DECIDED, BookError, BookSettings, OpeningBook
from search.lookups.opening_lookup import BookLookup

plain = pytest.mark.plain
compiled_only = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

CHECKERS = Checkers()
ROOT = Path(__file__).resolve().parents[2]


def nothing(position: Any) -> tuple[float, int]:
    """Returns the value and depth of a search that sees nothing."""
    return 0.0, 1


def grown(game: Game, expansions: int, search: Any = nothing, **settings: Any) -> OpeningBook:
    book = OpeningBook(game, BookSettings(**{"batch": 1, **settings}))
    with Workers(jobs=1) as workers:
        build_book(book, search, expansions, workers=workers)
    return book


def number_of(book: OpeningBook, position: Any) -> int:
    number = book.number(position)
    assert number is not None
    return number


# --- values ----------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("game", [TicTacToe(), Nim((1, 2, 3))], ids=["tic_tac_toe", "nim"])
def test_a_book_of_a_whole_game_holds_the_values_of_minimax(game: Game, tmp_path: Path) -> None:
    book = grown(game, 10_000, batch=1000, weight=0.0)
    assert not any(map(book.is_open, range(len(book))))
    assert book.next_leaves(5) == []
    twin = Twin(game, lambda position: 0.0)
    expected = [twin.value(position, 9) for position in book.positions]
    assert book.backed_up == expected
    book.save(tmp_path / "book")
    assert OpeningBook.load(game, tmp_path / "book").backed_up == expected
    assert set(book.backed_up_depths) == {DECIDED}
    if game.name == "tic_tac_toe":
        assert (len(book), len(book.expanded)) == (5478, 4520)  # all boards, and those in play


class Loop(Game):
    """Two places, A and B: a move goes from one to the other, or stops the game for points."""

    name = "loop"
    wins = False

    def __init__(self, at_a: float, at_b: float) -> None:
        self.points = {"A": at_a, "B": at_b}
        self.irreversible = lambda position, move: move == "stop"

    def start(self) -> str:
        return "A"

    def legal_moves(self, position: str) -> list[str]:
        return ["go", "stop"] if position in "AB" else []

    def play(self, position: str, move: str) -> str:
        return {"A": "B", "B": "A"}[position] if move == "go" else f"{position} stopped"

    def outcome(self, position: str) -> float | None:
        # seen by the side that did not stop
        return -self.points[position[0]] if position.endswith("stopped") else None


@plain
@pytest.mark.parametrize(
    ("at_a", "at_b", "a", "b"),
    [
        (-1.0, -2.0, 0.0, 0.0),  # neither stops, so play repeats for ever
        (1.0, 1.0, 1.0, 1.0),  # both would rather stop
        (2.0, -3.0, 2.0, -2.0),
        (-1.0, 2.0, -1.0, 2.0),
        (1.0, -0.5, 1.0, -0.5),
    ],
)
def test_play_that_comes_round_for_ever_is_worth_nothing(
    at_a: float, at_b: float, a: float, b: float
) -> None:
    book = grown(Loop(at_a, at_b), 10)
    assert len(book) == 4
    assert book.backed_up[number_of(book, "A")] == a
    assert book.backed_up[number_of(book, "B")] == b
    assert len(book.line("A")) <= 2


@plain
def test_a_position_is_as_deep_as_its_least_deep_line() -> None:
    book = OpeningBook(Tree([[1, 2], [3, [4, 5]]]))
    book.expand(0, {(0,): (0.5, 7), (1,): (-0.5, 3)})
    book.settle()
    assert (book.backed_up[0], book.backed_up_depths[0]) == (0.5, 4)
    book.expand(number_of(book, (1,)), {(1, 1): (2.0, 6)})
    book.settle()
    # MAX's 3 and the value of a search, 2 for MAX; then the position one ply earlier
    assert book.backed_up[number_of(book, (1,))] == -2.0
    assert (book.backed_up[0], book.backed_up_depths[0]) == (2.0, 8)
    book.expand(number_of(book, (1, 1)), {})
    book.expand(number_of(book, (0,)), {})
    book.settle()
    assert (book.backed_up[0], book.backed_up_depths[0]) == (3.0, DECIDED)


@plain
def test_symmetry_and_transpositions_share_a_position() -> None:
    start = CHECKERS.start()
    book = grown(CHECKERS, 60, plies=3)
    lines = (["11-15", "21-17", "9-13"], ["9-13", "21-17", "11-15"])
    numbers = []
    for line in lines:
        position = start
        for text in line:
            position = CHECKERS.play(position, CHECKERS.parse_move(position, text))
        numbers.append(book.number(position))
    assert numbers[0] is not None
    assert numbers[0] == numbers[1]
    assert len(book.moves(start)) == 7
    # the same with colours swapped
    flip = kernels.uncompiled(turn)
    own, opponent, kings, _ = start
    assert book.number((flip(own), flip(opponent), flip(kings), 1)) == 0


# --- drop-out expansion ----------------------------------------------------------------------


@plain
def test_the_order_of_expansion_on_a_tree_worked_out_by_hand() -> None:
    """The tree's leaves are out of reach; the test supplies the results of searches."""
    deep: Any = [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]
    book = OpeningBook(Tree(deep), BookSettings(weight=1.0))

    def priorities() -> dict[Any, float]:
        return {book.positions[number]: cost for number, cost in book.priorities().items()}

    assert priorities() == {(): 0.0}
    # moves of value 5, 3 and 4.5
    book.expand(0, {(0,): (-5.0, 1), (1,): (-3.0, 1), (2,): (-4.5, 1)})
    book.settle()
    assert priorities() == {(0,): 1.0, (1,): 3.0, (2,): 1.5}
    # the replies to the first have the values -5 and -6, so the second drops out by 1
    book.expand(number_of(book, (0,)), {(0, 0): (5.0, 1), (0, 1): (6.0, 1)})
    book.settle()
    assert priorities() == {(0, 0): 2.0, (0, 1): 3.0, (1,): 3.0, (2,): 1.5}
    assert [book.positions[i] for i in book.next_leaves(4)] == [(2,), (0, 0), (1,), (0, 1)]
    # now the third move turns out to be the best by 2, so the others are 2 further behind
    book.expand(number_of(book, (2,)), {(2, 0): (7.0, 1), (2, 1): (7.5, 1)})
    book.settle()
    assert book.backed_up[0] == 7.0
    assert priorities() == {
        (0, 0): 1 + 2 + 1, (0, 1): 1 + 2 + 1 + 1, (1,): 1 + 4, (2, 0): 2, (2, 1): 2.5
    }  # fmt: skip


def priorities_by_all_paths(book: OpeningBook) -> dict[int, float]:
    """Returns priorities by the formula over every path from the root without repetition."""
    found: dict[int, float] = {}

    def walk(number: int, cost: float, ply: int, way: tuple[int, ...]) -> None:
        after = book.successors[number]
        if after is None:
            if book.is_open(number):
                found[number] = min(found.get(number, cost), cost)
            return
        values = [-book.backed_up[i] for i in after]
        for value, i in zip(values, after, strict=True):
            if i not in way:
                step = 1 + book.settings.weight * (max(values) - value)
                step = 0.0 if lengths[number] < book.settings.plies else step
                walk(i, cost + step, ply + 1, (*way, i))

    lengths = book.lengths()
    walk(0, 0.0, 0, (0,))
    return found


@plain
@pytest.mark.parametrize(("weight", "plies"), [(0.0, 0), (3.0, 0), (10.0, 2)])
def test_priorities_are_those_of_the_formula_over_all_paths(weight: float, plies: int) -> None:
    random = np.random.default_rng(5)

    def guess(position: Any) -> tuple[float, int]:
        return float(random.normal()), 1

    game = Nim((3, 3, 2))
    game.wins = False
    for expansions in (1, 5, 20, 60):
        book = grown(game, expansions, guess, weight=weight, plies=plies, batch=3)
        assert book.priorities() == pytest.approx(priorities_by_all_paths(book))
        leaves = book.next_leaves(10)
        expected = sorted((cost, i) for i, cost in book.priorities().items())
        assert leaves == [i for _, i in expected[:10]]


@plain
def test_the_first_plies_are_expanded_in_full() -> None:
    def bad_at_first(position: Any) -> tuple[float, int]:
        return -100.0 + 7.0 * (position[0].bit_count() + position[1].bit_count()), 1

    book = grown(TicTacToe(), 1 + 9 + 72, bad_at_first, plies=3, batch=3)
    lengths = book.lengths()
    assert sorted({lengths[number] for number in book.expanded}) == [0, 1, 2]
    assert len(book) == 1 + 9 + 72 + 252


@plain
def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a game without dice, found backgammon"):
        OpeningBook(Backgammon())
    with pytest.raises(ValueError, match="root: expected a position in which the game goes on"):
        OpeningBook(TicTacToe(), root=(0, 7, 1))
    for option, text in (("weight", "-1"), ("plies", "41"), ("batch", "0")):
        with pytest.raises(ValueError, match=f"{option}: expected .*, found {text}"):
            BookSettings(**{option: float(text) if option == "weight" else int(text)})
    book = OpeningBook(Tree([[1, 2], [3, 4]]))
    with pytest.raises(KeyError):
        book.expand(0, {(0,): (1.0, 1)})
    for value, depth in ((float("nan"), 1), (2 * WIN, 1), (0.0, -1)):
        with pytest.raises(ValueError, match="expected a value of .* and a depth"):
            book.expand(0, {(0,): (1.0, 1), (1,): (value, depth)})
    assert len(book) == 1
    book.expand(0, {(0,): (1.0, 1), (1,): (0.0, 1)})
    with pytest.raises(ValueError, match="expected an open leaf, found position 0"):
        book.expand(0, {})


# --- growing ---------------------------------------------------------------------------------


def leaf_search(depth: int = 3, evaluator: str = "classic") -> LeafSearch:
    return LeafSearch(CHECKERS, parse_player(CHECKERS, evaluator), Limits(depth), table_mib=0.1)


def state(book: OpeningBook) -> tuple[Any, ...]:
    backed_up = book.backed_up, book.backed_up_depths
    return book.positions, book.values, book.depths, book.successors, *backed_up


@compiled_only
def test_the_same_book_by_one_thread_two_and_a_file_in_between(tmp_path: Path) -> None:
    books = []
    for jobs, parts in ((1, (61,)), (2, (61,)), (2, (15, 24, 20))):
        book = OpeningBook(CHECKERS, BookSettings(plies=1, batch=4))
        path = tmp_path / f"{len(books)}.safetensors"
        for part in parts:
            with Workers(jobs=jobs) as workers:
                done = build_book(book, leaf_search(), part, workers=workers)
            assert part <= done < part + 4
            book.save(path)
            again = OpeningBook.load(CHECKERS, path)
            assert state(again) == state(book)
            book = pickle.loads(pickle.dumps(again))
        books.append((state(book), path.read_bytes()))
    assert books[0] == books[1] == books[2]
    assert len(books[0][0][0]) > 200


@compiled_only
def test_values_in_a_book_are_those_of_a_new_engine() -> None:
    book = grown(CHECKERS, 20, leaf_search(4), plies=1)
    for number in (1, 9, len(book) - 1):
        result = Engine(CHECKERS, "classic").search(book.positions[number], depth=4)
        assert (book.values[number], book.depths[number]) == (result.value, result.depth)


@plain
def test_a_book_that_is_interrupted_is_what_it_was_before() -> None:
    book = grown(TicTacToe(), 5, batch=3)
    assert len(book.expanded) == 7  # the root, and twice three
    before = pickle.dumps(state(book))
    asked = 0

    def interrupted(position: Any) -> tuple[float, int]:
        nonlocal asked
        asked += 1
        if asked == 7:
            raise KeyboardInterrupt
        return 0.0, 1

    with Workers(jobs=1) as workers, pytest.raises(KeyboardInterrupt):
        build_book(book, interrupted, 3, workers=workers)
    assert pickle.dumps(state(book)) == before
    # interrupted while adding an expansion, with one value too many
    with Workers(jobs=1) as workers, pytest.raises(ValueError, match="expected a value"):
        build_book(book, lambda position: (3 * WIN * asked, 1), 3, workers=workers)
    assert pickle.dumps(state(book)) == before
    with Workers(jobs=1) as workers:
        build_book(book, nothing, 3, workers=workers)
    assert len(book.expanded) == 10


@plain
def test_what_was_taken_in_by_halves_is_taken_back() -> None:
    book = grown(TicTacToe(), 4, batch=4)
    before = pickle.dumps(state(book))
    expansions, positions = len(book.expanded), len(book)
    for number in book.next_leaves(3):
        book.expand(number, {after: nothing(after) for after in book.unknown(number)})
    # an interrupt between two steps of adding a position
    book.positions.append("half")
    book.values.append(1.0)
    book.take_back(expansions, positions)
    assert pickle.dumps(state(book)) == before
    assert book.number("half") is None


@compiled_only
def test_a_search_of_leaves_stops_and_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="expected a player with an evaluator, found random"):
        LeafSearch(CHECKERS, parse_player(CHECKERS, "random"), Limits(3))
    with pytest.raises(ValueError, match="depth: expected at least 1 ply"):
        LeafSearch(CHECKERS, parse_player(CHECKERS, "classic"), Limits(0))
    with pytest.raises(ValueError, match="threads: expected 1 in a book, found 2"):
        LeafSearch(CHECKERS, parse_player(CHECKERS, "classic@threads=2"), Limits(depth=3))
    search = leaf_search()
    copy = pickle.loads(pickle.dumps(search))
    assert copy(CHECKERS.start()) == search(CHECKERS.start())
    search.stop()
    with pytest.raises(KeyboardInterrupt):
        search(CHECKERS.start())
    book = OpeningBook(CHECKERS)
    with Workers(jobs=1) as workers:
        with pytest.raises(ValueError, match="expansions: expected at least 0, found -1"):
            build_book(book, search, -1, workers=workers)


# --- lookups ---------------------------------------------------------------------------------


@plain
@pytest.mark.parametrize("game", [TicTacToe(), PlainFace(TicTacToe())], ids=["native", "plain"])
def test_a_search_takes_values_of_the_book(game: Game) -> None:
    random = np.random.default_rng(1)
    book = grown(game, 12, lambda position: (float(random.uniform(-9, 9)), 4), plies=1)
    probe = BookLookup(book).plain()
    for number, position in enumerate(book.positions):
        expected = (True, book.backed_up[number], book.backed_up_depths[number], EXACT)
        assert probe(position) == expected
    assert not probe((0o777, 0, 0))[0]
    result = Engine(game, lookup=BookLookup(book)).analyse(game.start(), depth=3)
    assert dict(result.moves) == {move: value for move, value, _ in book.moves(game.start())}
    assert result.nodes == 3 * 10  # in each of three iterations the root and its moves
    # the book's values are too shallow for a search of this depth
    deep = Engine(game, lookup=BookLookup(book)).search(game.start(), depth=7)
    assert deep.nodes > 100


@compiled_only
def test_a_book_of_checkers_is_asked_for_both_colours() -> None:
    book = grown(CHECKERS, 30, leaf_search(5), plies=2)
    lookup = BookLookup(book)
    start = CHECKERS.start()
    for move, value, depth in book.moves(start):
        after = CHECKERS.play(start, move)
        assert after[3] == 1
        result = Engine(CHECKERS, "classic", lookup=lookup).analyse(after, depth=4)
        assert depth >= 5
        assert result.value == -value
        assert dict(result.moves) == {row[0]: row[1] for row in book.moves(after)}
    copy = pickle.loads(pickle.dumps(lookup))
    position = book.positions[17]
    assert copy.plain()(position) == lookup.plain()(position)


@kernel
def knows_all(tables, position):
    """Knows every position, with the value in its table."""
    return (True, tables[0], 3, EXACT)


@kernel
def knows_one(tables, position):
    """Knows the position in its first array, with a value from its second."""
    board, values = tables
    if board[0] == position[0] and board[1] == position[1]:
        return (True, values[0], 9, UPPER)
    return (False, 0.0, 0, EXACT)


@plain
@pytest.mark.parametrize("game", [TicTacToe(), PlainFace(TicTacToe())], ids=["native", "plain"])
def test_of_several_lookups_the_first_that_knows_answers(game: Game) -> None:
    def one(square: int, value: float) -> Lookup:
        board = np.array([0, 1 << square], dtype=np.int64)
        return Lookup(knows_one, (board, np.array([value])))

    everything = Lookup(knows_all, np.array([-0.25]))
    two = CombinedLookup(one(3, -0.5), one(3, -0.7), one(5, -0.6), everything)
    moves = dict(Engine(game, lookup=two).analyse(game.start(), depth=1).moves)
    # bounds cannot settle an open window, so those two are static values
    expected = {1 << i: 0.0 if i in (3, 5) else 0.25 for i in range(9)}
    assert moves == expected
    probe = pickle.loads(pickle.dumps(two)).plain()
    assert [probe((0, 1 << i, 1))[1] for i in (3, 5, 6)] == [-0.5, -0.6, -0.25]
    assert probe((0, 8, 1))[2:] == (9, UPPER)
    first = CombinedLookup(everything, one(3, -0.5))
    assert set(dict(Engine(game, lookup=first).analyse(game.start(), depth=1).moves).values()) == {
        0.25
    }
    none = CombinedLookup(one(3, -0.5), one(4, 0.5)).plain()
    assert none((0, 1, 1))[0] is False
    with pytest.raises(ValueError, match="expected at least one lookup to combine, found none"):
        CombinedLookup()


@compiled_only
def test_a_native_search_asks_as_often_as_a_plain_one() -> None:
    game = TicTacToe()
    book = grown(game, 12, lambda position: (float(position[0]) / 512, 2), plies=1)
    both = CombinedLookup(BookLookup(book), BookLookup(grown(game, 40, nothing)))
    native = Engine(game, lookup=both).search(game.start(), depth=5)
    python = Engine(PlainFace(game), lookup=both).search(game.start(), depth=5)
    for name in ("value", "lookups", "lookup_hits"):
        assert getattr(native, name) == getattr(python, name), name
    assert 0 < native.lookup_hits < native.lookups


# --- players ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book of checkers that `classic` has built."""
    path = tmp_path_factory.mktemp("book") / "small.safetensors"
    options = ["--expansions", "60", "--depth", "3", "--plies", "1", "--quiet"]
    assert main(["book", "build", "checkers", "classic", str(path), *options]) == 0
    return path


@compiled_only
def test_a_player_plays_from_the_book_and_leaves_it(shipped: Path) -> None:
    player = parse_player(CHECKERS, f"classic+book:{shipped}:0")
    assert player.book is not None
    book = player.book.book
    assert (player.book.margin, player.name) == (0.0, f"classic+book:{shipped}:0")
    seats = tuple(player.seat(CHECKERS, Limits(depth=2)) for _ in range(2))
    record = play(GameRecord(CHECKERS), seats)
    inside = [bool(book.moves(position)) for position in record.positions[:-1]]
    assert inside[0] and not all(inside)
    for ply, (position, move) in enumerate(zip(record.positions, record.moves, strict=False)):
        note = record.annotations[ply]
        if inside[ply]:
            best = book.moves(position)[0]
            assert note.value == best[1]
            assert move in [row[0] for row in book.moves(position) if row[1] == best[1]]
            assert note.depth is not None and note.depth > 2
        elif note.depth is not None and abs(note.value or 0.0) < WIN / 2:
            assert note.depth == 2


@compiled_only
def test_the_seed_decides_which_move_of_the_book_is_played(shipped: Path) -> None:
    player = parse_player(CHECKERS, f"classic+book:{shipped}:0.06")
    limits = Limits(depth=1)

    def games(seed: int) -> list[Any]:
        match = play_match(CHECKERS, player, player, limits=limits, games=6, threads=2, seed=seed,
                           openings=[(), (), ()])  # fmt: skip
        return [record.moves for pair in match.units for record in pair.games]

    first, again, other = games(1), games(1), games(2)
    assert first == again
    assert first != other
    # pairs with the same opening differ too, because the book's choice is random
    assert len({tuple(moves[:4]) for moves in first}) > 1

    choice = player.book
    assert choice is not None
    start = CHECKERS.start()
    rows = choice.moves(start)
    assert 1 < len(rows) < 7
    assert all(row[1] >= rows[0][1] - 0.06 for row in rows)
    random = np.random.default_rng(0)
    drawn = [choice.choose(start, random) for _ in range(200)]
    assert {row[0] for row in drawn if row is not None} == {row[0] for row in rows}
    assert replace(choice, margin=0.0).choose((1, 2, 0, 0), random) is None


@compiled_only
def test_a_book_goes_with_other_lookups(shipped: Path, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    from games.checkers.endgame import database
    from search.lookups.rote import RoteMemory

    monkeypatch.setattr(database, "user_cache_dir", lambda *_, **__: str(tmp_path))
    memory = RoteMemory(CHECKERS, capacity=10, direction=0.0)
    unusual = CHECKERS.parse_position("B:W18,25,29,30,31,32:B1,2,3,4,5")
    memory.store(unusual, 0.75, 6)
    memory.merge()
    memory.save(tmp_path / "memory.sqlite")
    text = f"classic+endgame3+{tmp_path / 'memory.sqlite'}+book:{shipped}@selective"
    player = parse_player(CHECKERS, text)
    assert isinstance(player.lookup, CombinedLookup)
    assert len(player.lookup.parts) == 3
    assert player.book is not None and "techniques" in player.options
    probe = player.lookup.plain()
    book = player.book.book
    assert probe(CHECKERS.parse_position("B:WK1:BK32,K31"))[1] > WIN / 2
    assert probe(unusual)[:3] == (True, 0.75, 6)
    assert probe(book.positions[5])[1:3] == (book.backed_up[5], book.backed_up_depths[5])
    assert not probe(CHECKERS.parse_position("B:W21,22,29,30,31:B1,2,3,4,5"))[0]
    # the native probe of all three, after a move that leads into each
    for position in (book.positions[0], CHECKERS.parse_position("B:WK1:BK32,K31")):
        asked = Engine(CHECKERS, "classic", lookup=player.lookup).analyse(position, depth=3)
        assert asked.lookup_hits == asked.lookups > 0
        for move, value in asked.moves:
            after = probe(CHECKERS.play(position, move))[1]
            assert value == -after or abs(value) == abs(after) - 1


@compiled_only
def test_texts_of_players_that_name_no_book(shipped: Path, tmp_path: Path) -> None:
    def refused(text: str, match: str, kind: type[Exception] = ValueError) -> None:
        with pytest.raises(kind, match=match):
            parse_player(CHECKERS, text)

    refused("classic+", r"expected EVALUATOR\+LOOKUP, a name after the \+, found")
    refused(f"classic+book:{shipped}+", "expected EVALUATOR")
    refused("classic+book:", "expected an opening book, found no file", FileNotFoundError)
    refused("classic+book:missing.bin", "expected an opening book, found no", FileNotFoundError)
    refused(f"classic+book:{shipped}+book:{shipped}", "expected one opening book at most")
    refused(f"classic+book:{shipped}:-0.1", "margin: expected at least 0, found -0.1")
    refused(
        f"{ROOT / 'data/checkers/samuel.json'}+book:{shipped}",
        r"expected an evaluator with the values of classic \(mark .*\), found .* \(mark ",
    )
    with pytest.raises(ValueError, match="margin"):
        BookChoice(OpeningBook(CHECKERS), float("nan"))
    # half of what the book takes for a ply
    assert parse_book(CHECKERS, str(shipped)).margin == 0.05
    assert parse_book(CHECKERS, f"{shipped}:0.2").margin == 0.2


@compiled_only
def test_the_evaluator_of_a_book_is_known_by_its_values(shipped: Path) -> None:
    other = as_evaluator(CHECKERS, lambda position: 0.5)
    book = OpeningBook.load(CHECKERS, shipped)
    book.check_evaluator(as_evaluator(CHECKERS, "classic"))
    with pytest.raises(ValueError, match="expected an evaluator with the values of classic"):
        book.check_evaluator(other)
    search = LeafSearch(CHECKERS, Player("other", other), Limits(2))
    assert search.mark() != book.settings.mark


# --- files -----------------------------------------------------------------------------------


@plain
def test_any_game_can_keep_its_book_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "book"
    for game in (Tree([[1, 2], [3, [4, 5]]]), TicTacToe(), Nim((1, 2, 3)), CHECKERS):
        book = OpeningBook(game, BookSettings("someone", "mark", 3, None, 0.5, 2.0, 1, 4))
        with Workers(jobs=1) as workers:
            build_book(book, nothing, 4, workers=workers)
        book.save(path)
        again = OpeningBook.load(game, path)
        assert state(again) == state(book)
        assert again.settings == book.settings
        assert again.expanded == book.expanded
    root = CHECKERS.parse_position("W:W21,22,23:B1,2,3,K32")
    OpeningBook(CHECKERS, root=root).save(path)
    assert OpeningBook.load(CHECKERS, path).number(root) == 0


@plain
def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.safetensors"
    game = TicTacToe()
    grown(game, 6).save(path)
    header, arrays = load_arrays(path)

    def refused(match: str, where: Any = path, whose: Game = game) -> None:
        with pytest.raises(BookError, match=match):
            OpeningBook.load(whose, where)

    def changed(match: str, replaced: dict[str, Any] | None = None, **fields: Any) -> None:
        other = tmp_path / "other.safetensors"
        save_arrays(other, {**header, **fields}, {**arrays, **(replaced or {})})
        refused(match, other)

    refused("expected an opening book of nim, rules 1, found tic_tac_toe, rules 1", whose=Nim())
    changed("found tic_tac_toe, rules 7", rules=7)
    changed("expected an opening book .*, found 'plysmith-network-1'", format="plysmith-network-1")
    changed("expected field 'root' of type str, found '3'", root=3)
    changed("expected an opening book, found a damaged one.*nine of X", root="nonsense")
    changed("expected the positions that the rules of tic_tac_toe lead to", identity="0")
    changed("expected an opening book with checksum .*, found a damaged", checksum="0")
    changed("damaged", settings={**header["settings"], "weight": "much"})
    changed("damaged", settings={**header["settings"], "colour": 1})
    changed("damaged", settings={**header["settings"], "batch": 1.5})
    values = arrays["values"].copy()
    values[3] = 0.125
    changed("checksum", {"values": values})
    changed("expected int32 of shape", {"expanded": arrays["expanded"].astype(np.int64)})
    changed("expected int16 of shape", {"depths": arrays["depths"].reshape(-1, 1)})
    changed("expected no array but three, found", {"more": values})
    (tmp_path / "text").write_text("a book?")
    refused("expected a whole safetensors file", tmp_path / "text")
    with pytest.raises(FileNotFoundError, match="expected an opening book, found no file"):
        OpeningBook.load(game, tmp_path / "missing")


@plain
def test_no_damage_goes_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "book.safetensors"
    grown(TicTacToe(), 6, player="someone").save(path)
    good = path.read_bytes()
    random = np.random.default_rng(3)
    for cut in random.integers(0, len(good), 30):
        path.write_bytes(good[:cut])
        with pytest.raises(BookError):
            OpeningBook.load(TicTacToe(), path)
    loaded = 0
    for place in random.integers(0, len(good), 150):
        damaged = bytearray(good)
        damaged[place] ^= 1 << int(random.integers(8))
        path.write_bytes(bytes(damaged))
        try:
            found = OpeningBook.load(TicTacToe(), path)
        except BookError:
            continue
        loaded += 1  # only a word of the settings can have changed
        assert state(found) == state(grown(TicTacToe(), 6))
    assert loaded < 40


@plain
def test_expansions_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """Files that are forged, with correct checksums."""
    from search.lookups.opening_book import _restored

    book = grown(TicTacToe(), 6)
    good: dict[str, Any] = {
        "expanded": book.expanded, "values": book.values, "depths": book.depths
    }  # fmt: skip
    for name, column in (
        ("expanded", [*book.expanded[:-1], len(book) + 5]),
        ("expanded", [*book.expanded[:-1], -1]),
        ("expanded", [0, 0]),
        ("expanded", book.expanded[:-1]),
        ("values", book.values[:-1]),
        ("values", []),
        ("depths", book.depths[1:]),
        ("depths", [-3] * len(book)),
    ):
        with pytest.raises((ValueError, IndexError)):
            _restored(TicTacToe(), book.settings, (0, 0, 0), **{**good, name: column})


# --- the commands ----------------------------------------------------------------------------


@compiled_only
def test_the_commands_build_and_describe(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "book.safetensors"
    common = ["--depth", "3", "--plies", "1", "--quiet", "--threads", "1"]
    build = ["book", "build", "checkers", "classic", str(path), *common]
    assert main([*build, "--expansions", "24", "--every", "0"]) == 0
    assert "24 positions expanded, 24 in all" in capsys.readouterr().out
    # the last batch is always complete, so two runs give the same book as one
    assert main([*build, "--expansions", "60"]) == 0
    assert "40 positions expanded, 64 in all" in capsys.readouterr().out
    assert path.read_bytes() == shipped.read_bytes()
    assert main([*build, "--expansions", "10"]) == 0
    assert "0 positions expanded, 64 in all" in capsys.readouterr().out

    assert main(["book", "info", "checkers", str(path), "--json"]) == 0
    out = capsys.readouterr().out
    figures = json.loads(out.splitlines()[-1])
    book = OpeningBook.load(CHECKERS, path)
    assert (figures["positions"], figures["expanded"]) == (len(book), 64)
    assert figures["value"] == book.backed_up[0]
    assert "searched by classic" in out
    assert main(["book", "show", "checkers", str(path), "9-14", "--json"]) == 0
    out = capsys.readouterr().out
    found = json.loads(out.splitlines()[-1])
    after = CHECKERS.play(CHECKERS.start(), CHECKERS.parse_move(CHECKERS.start(), "9-14"))
    assert [(row["value"], row["depth"]) for row in found["moves"]] == [
        row[1:] for row in book.moves(after)
    ]
    assert main(["book", "show", "checkers", str(path), "--position", "B:W32:B1"]) == 2
    assert "expected a position of the book, found B:W32:B1" in capsys.readouterr().err


@compiled_only
def test_values_of_a_book_are_shown_in_the_unit_of_its_evaluator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "book"
    common = ["--depth", "2", "--plies", "1", "--expansions", "8", "--quiet"]
    assert main(["book", "build", "checkers", "rote", str(path), *common]) == 0
    book, rote = OpeningBook.load(CHECKERS, path), as_evaluator(CHECKERS, "rote")
    root, said = book.backed_up[0], capsys.readouterr().out
    shown = f"{root / rote.unit:+.3f} (win "
    assert rote.unit > 1000 and f"root {shown}" in said
    assert main(["book", "info", "checkers", str(path)]) == 0
    assert f"the root: {shown}" in capsys.readouterr().out
    assert main(["book", "show", "checkers", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(shown) for line in lines)
    assert any(line.strip().startswith(f"{root / rote.unit:+.3f}  ") for line in lines)


@compiled_only
def test_a_book_that_another_process_grows_is_refused(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "book.safetensors"
    book.write_bytes(shipped.read_bytes())
    build = ["book", "build", "checkers", "classic", str(book), "--depth", "3", "--plies", "1"]
    with alone(tmp_path / ".book.safetensors.lock", str(book)):
        assert main([*build, "--quiet"]) == 2
    error = capsys.readouterr().err
    assert f"{book}: expected nobody else to write it, found process" in error
    assert book.read_bytes() == shipped.read_bytes()
    assert main([*build, "--expansions", "72", "--quiet"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.safetensors"]


@compiled_only
def test_the_commands_refuse_in_one_line(
    shipped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(expected: str, *arguments: str) -> None:
        assert main(["book", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("play: ") and error.count("\n") == 1
        assert expected in error

    same = ["build", "checkers", "classic", str(shipped), "--quiet"]
    refused("expected a book with depth 4 to go on with, found depth 3", *same, "--depth", "4")
    refused("expected a book with plies 3 to go on with, found plies 1", *same, "--depth", "3")
    refused("expansions: expected at least 1, found 0", *same, "--expansions", "0")
    other = (
        "with @late_moves=1.2,singular=6 behind the evaluator, found 'classic@exact', with @exact"
    )
    refused(other, "build", "checkers", "classic@exact", *same[3:], "--depth", "3")
    new = ["build", "checkers", "classic", str(tmp_path / "new"), "--quiet"]
    refused("weight: expected 0 to 1e9, found -1.0", *new, "--weight", "-1")
    refused("without dice, found backgammon", "build", "backgammon", "hand", str(tmp_path / "b"))
    refused("an evaluator", "build", "checkers", "random", str(tmp_path / "b"))
    refused("found no file", "info", "checkers", str(tmp_path / "missing"))
    refused("of nim", "info", "nim", str(shipped))
    samuel = str(ROOT / "data/checkers/samuel.json")
    refused("with mark ", "build", "checkers", samuel, *same[3:], "--depth", "3", "--plies", "1")
    (tmp_path / "damaged").write_bytes(shipped.read_bytes()[:-9])
    refused("expected a whole safetensors file", "info", "checkers", str(tmp_path / "damaged"))


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    begun: list[subprocess.Popen[bytes]] = []

    def build(path: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "play", "book", "build", "checkers", "classic", str(path)]
        command += ["--expansions", "4000", "--depth", "6", "--every", "0", "--quiet"]
        begun.append(subprocess.Popen([*command], cwd=ROOT, stderr=subprocess.PIPE))
        return begun[-1]

    yield build
    for process in begun:
        process.kill()
        process.communicate()


@compiled_only
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_book_that_was_killed_goes_on_to_the_same_bits(
    tmp_path: Path, building: Callable[[Path], subprocess.Popen[bytes]], sign: signal.Signals
) -> None:
    path = tmp_path / "book.safetensors"
    process = building(path)
    deadline = time.monotonic() + 120
    while not path.exists() or len(OpeningBook.load(CHECKERS, path).expanded) < 17:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, sign)
    _, error = process.communicate(timeout=60)
    assert process.returncode == (130 if sign == signal.SIGINT else -signal.SIGKILL)
    assert error == (b"stopped\n" if sign == signal.SIGINT else b"")
    done = len(OpeningBook.load(CHECKERS, path).expanded)
    assert 17 <= done < 4000
    more = done + 16
    options = ["--expansions", str(more), "--depth", "6", "--quiet"]
    assert main(["book", "build", "checkers", "classic", str(path), *options]) == 0
    whole = tmp_path / "whole.safetensors"
    assert main(["book", "build", "checkers", "classic", str(whole), *options]) == 0
    assert path.read_bytes() == whole.read_bytes()


def test_the_shipped_book_belongs_to_the_shipped_network() -> None:
    data = Path(__file__).resolve().parents[2] / "data" / "checkers"
    text = f"{data}/quantised.safetensors+book:{data}/book.safetensors:0@selective"
    player = parse_player(CHECKERS, text)
    assert player.book is not None and player.evaluator is not None
    book, random = player.book.book, np.random.default_rng(0)
    position, known = CHECKERS.start(), 0
    while (chosen := player.book.choose(position, random)) is not None:
        following = [CHECKERS.play(position, move) for move in CHECKERS.legal_moves(position)]
        numbers = [number for p in following if (number := book.number(p)) is not None]
        assert len(numbers) == len(following)
        assert chosen[1] == max(book.before(book.backed_up[number]) for number in numbers)
        position, known = CHECKERS.play(position, chosen[0]), known + 1
    assert known >= 4
    assert book.settings.nodes is not None and book.settings.nodes >= 100_000
