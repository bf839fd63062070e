"""One suite for every game; `check_game` and the faults that it reports; malformed texts."""

from __future__ import annotations

import functools
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from errors import errors_of
from pages import ROOT, run

from games import (
    ContractError,
    DiceGame,
    Game,
    KernelGame,
    MoveError,
    PositionError,
    Rules,
    check_game,
    describe_game,
    load,
    names,
)
from games import tic_tac_toe as ttt
from games.board import Board as Grid
from games.chinese_checkers import ChineseCheckers
from games.connect_four import ConnectFour
from games.features import FeatureSet
from games.kernels import compiled, kernel
from games.nim import Nim
from games.rolls import Rolls
from games.tic_tac_toe import TicTacToe
from games.tree import Chance, Tree

pytestmark = pytest.mark.plain


def random_tree(seed: int) -> Tree:
    """Returns a tree of up to five plies; some branches end early."""
    generator = random.Random(seed)

    def node(depth: int) -> Any:
        if depth == 0 or generator.random() < 0.15:
            return generator.choice([generator.randint(-9, 9), generator.random()])
        return [node(depth - 1) for _ in range(generator.randint(1, 4))]

    return Tree(node(5), max_begins=seed % 2 == 0)


@kernel
def pile_moves(position, moves):
    for sticks in range(1, 4):
        moves[sticks - 1] = sticks
    return min(position[0], 3)


@kernel
def pile_play(position, move):
    return (position[0] - move,)


@kernel
def pile_outcome(position):
    return float("nan") if position[0] else -1.0


class Pile(KernelGame):
    """A game of kernels alone; texts, sides and everything else are the defaults."""

    rules = Rules(legal_moves=pile_moves, play=pile_play, outcome=pile_outcome)
    start_position = (21,)
    most_moves = 3


def kayles() -> Game:
    """Returns the plain Python game of docs/own_game.md."""
    game = run(ROOT / "docs" / "own_game.md", 1)["Kayles"]()
    assert isinstance(game, Game)
    return game


GAMES: dict[str, Callable[[], Game]] = {
    **{name: functools.partial(load, name) for name in names()},
    # here random games end after a few moves; by the rules they would go on for a thousand
    "chinese_checkers": functools.partial(ChineseCheckers, 3, last_move=40),
    **{
        f"chinese_checkers{players}": functools.partial(ChineseCheckers, players, last_move=40)
        for players in (2, 4, 6)
    },
    **{
        f"nim {piles}": functools.partial(Nim, piles)
        for piles in [(2, 2), (1,), (0, 0), (40,), (1, 2, 3, 4, 5), (1,) * 15]
    },
    "the textbook's tree": lambda: Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]]),
    "a leaf": lambda: Tree(7),
    **{f"tree {seed}": functools.partial(random_tree, seed) for seed in range(6)},
    "pile": Pile,
    "connect four": ConnectFour,
    "kayles": kayles,
}


@pytest.mark.parametrize("name", GAMES)
def test_every_game_keeps_the_contract(name: str) -> None:
    check_game(GAMES[name](), games=2 if name == "backgammon" else 6)  # its games are long


@pytest.mark.parametrize("name", GAMES)
def test_every_game_refuses_what_it_cannot_read(name: str) -> None:
    game = GAMES[name]()
    for text in ["", " ", "?", "None", "[?]", "{[]: 1}", "\0", "(" * 300, "9" * 5000]:
        with pytest.raises(PositionError, match="expected .* found "):
            game.parse_position(text)
        with pytest.raises(MoveError, match="expected .* found "):
            if isinstance(game, DiceGame):
                game.parse_move(game.start(), text, 0)
            else:
                game.parse_move(game.start(), text)
        if isinstance(game, DiceGame):
            with pytest.raises(MoveError, match="expected .* found "):
                game.dice.parse(text)


def test_names_are_those_that_games_load_by() -> None:
    assert {"backgammon", "checkers", "nim", "tic_tac_toe"} <= set(names())
    assert [load(name).name for name in names()] == names()


@pytest.mark.parametrize("name", ["chess", "", "Checkers", None, 3])
def test_an_unknown_name_lists_the_known_ones(name: Any) -> None:
    with pytest.raises(ValueError) as caught:
        load(name)
    for part in [*names(), repr(str(name)), "expected", "found"]:
        assert part in str(caught.value)


def test_importing_games_imports_nothing_slow() -> None:
    slow = "{'numba', 'numpy', 'torch', 'sklearn'}"
    program = f"import sys, games; sys.exit(' '.join({slow} & set(sys.modules)) or 0)"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


# --- check_game finds what is broken ----------------------------------------------------------


@dataclass(eq=False)
class Board:
    """A position that is equal only to itself."""

    rest: int


class Twenty(Game):
    """Take 1 to 3 of 20; a position is (rest, side). A correct game."""

    def start(self) -> Any:
        return (20, 0)

    def legal_moves(self, position: Any) -> list[Any]:
        return [taken for taken in (1, 2, 3) if taken <= position[0]]

    def play(self, position: Any, move: Any) -> Any:
        return (position[0] - move, 1 - position[1])

    def outcome(self, position: Any) -> Any:
        return None if position[0] else -1.0

    def to_move(self, position: Any) -> int:
        return int(position[1])


class Heap:
    """A mutable position, hashed and compared by its contents."""

    def __init__(self, rest: int) -> None:
        self.rest = rest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heap) and other.rest == self.rest

    def __hash__(self) -> int:
        return hash(self.rest)

    def __repr__(self) -> str:
        return f"Heap({self.rest})"


def heap_game(**changes: Any) -> Game:
    """Returns Twenty with positions of type Heap."""

    def read(self: Any, text: str) -> Heap:
        if not text.startswith("Heap("):
            raise PositionError("no heap")
        return Heap(int(text[5:-1]))

    methods = {
        "start": lambda self: Heap(20),
        "legal_moves": lambda self, p: [taken for taken in (1, 2, 3) if taken <= p.rest],
        "play": lambda self, p, move: Heap(p.rest - move),
        "outcome": lambda self, p: None if p.rest else -1.0,
        "to_move": Game.to_move,
        "parse_position": read,
    }
    return broken(**{**methods, **changes})


def broken(**changes: Any) -> Game:
    """Returns Twenty with other methods."""
    game = type("Twenty", (Twenty,), changes)()
    if changes.get("to_move") is Game.to_move:
        assert type(game).to_move is Game.to_move
    assert isinstance(game, Game)
    return game


def eats_itself(self: Any, position: Heap, move: int) -> Heap:
    position.rest -= move
    return Heap(position.rest)


def remembers(self: Any, position: Any) -> list[int]:
    """Returns moves that depend on earlier calls."""
    self.asked = getattr(self, "asked", 0) + 1
    return [1, 2] if self.asked % 2 else [2, 1]


def shown_once(self: Any, position: Heap) -> str:
    position.rest += 1
    return "a heap"


def outcome_by_chance(self: Any, position: Any) -> float | None:
    self.asked = getattr(self, "asked", 1) if position[0] else -getattr(self, "asked", -1)
    return None if position[0] else float(self.asked)


def starts_elsewhere(self: Any) -> Any:
    self.asked = getattr(self, "asked", 0) + 1
    return (20 + self.asked, 0)


def plays_by_chance(self: Any, position: Any, move: int) -> Any:
    self.asked = getattr(self, "asked", 0) + 1
    return (position[0] - 1 - self.asked % move, 1 - position[1])


def reads_anything(self: Any, text: str) -> Any:
    try:
        return Game.parse_position(self, text)
    except PositionError:
        return (20, 0)


def consumes(self: Any, position: Any, move: int) -> Any:
    """A `play` that changes the game and so the legal moves."""
    self.spent = True
    return Twenty.play(self, position, move)


def test_the_games_that_were_broken_are_whole() -> None:
    check_game(Twenty())
    check_game(heap_game())


def test_an_error_of_the_game_itself_tells_the_position() -> None:
    def outcome(self: Any, position: Any) -> None:
        return {20: None}[position[0]]

    with pytest.raises(KeyError) as caught:
        check_game(broken(outcome=outcome))
    assert any("in position (1" in note for note in caught.value.__notes__)


# --- games with dice --------------------------------------------------------------------------


class Coins(DiceGame):
    """Move 1 or 2 steps towards 0, or none on a roll of 0. A correct game."""

    name = "coins"
    dice = Rolls((0.5, 0.5))

    def start(self) -> Any:
        return (9, 0)

    def legal_moves(self, position: Any, roll: Any = None) -> list[Any]:
        if not position[0]:
            return []
        return list(range(1, min(2, position[0]) + 1)) if roll else [0]

    def play(self, position: Any, move: Any) -> Any:
        return (position[0] - move, 1 - position[1])

    def outcome(self, position: Any) -> Any:
        return None if position[0] else -1.0

    def to_move(self, position: Any) -> int:
        return int(position[1])

    #: After a roll of 0 the position comes back, with the other side to move, then with the first.
    irreversible = staticmethod(lambda position, move: move > 0)


def coins(**changes: Any) -> Game:
    """Returns Coins with other methods."""
    game = type("Coins", (Coins,), changes)()
    assert isinstance(game, Game)
    return game


def test_a_game_with_dice_that_is_whole() -> None:
    check_game(Coins())


# --- and in kernels ---------------------------------------------------------------------------


@kernel
def twice(position, moves):
    count = ttt.legal_moves(position, moves)
    if count:
        moves[count] = moves[0]
        count += 1
    return count


@kernel
def forgets_the_side(position, move):
    after = ttt.play(position, move)
    return (after[0], after[1])


@kernel
def too_wide(position, move):
    own, opponent, side = ttt.play(position, move)
    return (own, opponent | side << 70, side)


@kernel
def overflows(position):
    return position[0] * 0x7FFFFFFFFFFFFFFF + position[1]


@kernel
def huge_moves(position, moves):
    moves[0] = 1 << 40 + 30 * (position[2] + 1)
    return 1


@kernel
def moves_that_overflow(position, moves):
    count = ttt.legal_moves(position, moves)
    for i in range(count):
        product = (int(moves[i]) + 0x7FFFFFFFFFFFFF00) * 3
        if product < 0:
            moves[i] = 0
    return count


@kernel
def gain_that_overflows(position, move):
    return (move + 0x7FFFFFFFFFFFFF00) * 3


@kernel
def a_number(position):
    return position[0]


@kernel
def own_squares(position):
    return position[0]


@kernel
def transposed(position):
    """Returns a different board each time."""
    own, opponent, side = position
    return (own << 1 & 511 | own >> 8, opponent, side)


@kernel
def same_side(position):
    return position


@kernel
def first_square(position):
    return position[0] & 1


@kernel
def other_board(position):
    """Returns the position with the other side to move, and changes the board."""
    own, opponent, side = position
    return (opponent, own | 1, 1 - side)


@kernel
def one_stone(position):
    return (1, 0, 0)


@kernel
def infinite(position):
    return 1e308 * 10.0 if position[0] else 0.0


def tic_tac_toe(**changes: Any) -> Game:
    """Returns tic-tac-toe with other rules or settings."""
    rules = {name: value for name, value in changes.items() if hasattr(TicTacToe.rules, name)}
    settings = {name: value for name, value in changes.items() if name not in rules}
    game = type("TicTacToe", (TicTacToe,), settings | {"rules": replace(TicTacToe.rules, **rules)})
    return game()  # type: ignore[no-any-return]


def with_term(term: Any, swap: Any) -> Game:
    return tic_tac_toe(features={"mine": FeatureSet("mine", {"term": term}, swap)}, evaluators={})


DIFFERENT: dict[str, tuple[Callable[[], Game], str]] = {
    "key": (lambda: tic_tac_toe(key=overflows), r"expected \d{20,}, found -?\d+"),
    "legal_moves": (
        lambda: tic_tac_toe(legal_moves=moves_that_overflow),
        r"expected \[1, 2, .*, 256\], found \[1, 2, .*, 0\]$",
    ),
    "gain of 1": (lambda: tic_tac_toe(gain=gain_that_overflows), r"expected \d{20}, found -?\d+"),
    "evaluator mine": (
        lambda: tic_tac_toe(evaluators={"mine": overflows}),
        r"expected \d{20,}, found -?\d+",
    ),
    "feature mine.term": (lambda: with_term(overflows, None), r"expected .*e\+.*, found "),
}


@pytest.mark.skipif(not compiled, reason="there is no compiled code to differ")
@pytest.mark.parametrize("what", DIFFERENT)
def test_check_game_finds_compiled_code_that_differs(what: str) -> None:
    make, message = DIFFERENT[what]
    rule = f"^tic_tac_toe: {what} compiled is the same as uncompiled; in position .*{message}"
    with pytest.raises(ContractError, match=rule):
        check_game(make())


# --- tic-tac-toe and nim ----------------------------------------------------------------------


def test_paths_that_a_tree_does_not_have() -> None:
    tree = Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]])
    assert tree.parse_position("(2, 0)") == (2, 0)


class Boarded(TicTacToe):
    """Tic-tac-toe with a board that is declared wrongly."""


def boarded(pieces: Any, clicks: Any) -> None:

    game = Boarded()
    game.extras = (Grid(3, 3, lambda position: pieces, lambda position, move: clicks),)
    check_game(game, games=1)


def test_what_kinds_of_games_they_are() -> None:
    told = describe_game(TicTacToe(), games=30)
    assert (told.players, told.zero_sum, told.deterministic, told.finite) == (2, True, True, True)
    assert 5 <= told.longest <= 9 and 4 < told.branching < 7
    assert "2 players; zero-sum, deterministic, of perfect information, finite;" in str(told)
    assert not describe_game(load("backgammon"), games=1).deterministic
    chances = Tree([Chance((0.5, 1), (0.5, 2)), 3])
    assert not describe_game(chances).deterministic
    shares = Tree([[(1, 2, 6), (4, 2, 3)], [(6, 1, 2)]], players=3)
    told = describe_game(shares)
    assert (told.players, told.zero_sum, told.longest) == (3, False, 2)

    class Endless(Pile):
        """A pile that does not get smaller."""

        def play(self, position: Any, move: int) -> Any:
            return position

    told = describe_game(Endless(), games=1)
    assert not told.finite and "not finite" in str(told)

    class Random(Pile):
        """A pile of which nobody knows how much a move takes."""

        def play(self, position: Any, move: int) -> Any:
            return (max(0, position[0] - random.randint(1, 3)),)

    assert not describe_game(Random()).deterministic


test_errors = errors_of(globals())
