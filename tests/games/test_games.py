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
from search.textbook.minimax import minimax

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
    "chinese_checkers": functools.partial(ChineseCheckers, 3, last_move=8),
    **{
        f"chinese_checkers{players}": functools.partial(ChineseCheckers, players, last_move=8)
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
    for text in ["", " ", "?", "None", "[1]", "{[]: 1}", "\0", "(" * 300, "9" * 5000]:
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


PLAIN: dict[str, tuple[Callable[[], Game], str]] = {
    "play changes its argument": (
        lambda: heap_game(play=eats_itself),
        r"playing 1 leaves it as it is; in position Heap\(20\): expected Heap\(20\), found"
        r" Heap\(19\)$",
    ),
    "a look that changes the position": (
        lambda: heap_game(show=shown_once),
        r"looking at a position leaves it as it is; in position Heap\(20\): .* found Heap\(21\)$",
    ),
    "an outcome by chance": (
        lambda: broken(outcome=outcome_by_chance),
        "outcome answers alike each time; .* expected (-1.0, found 1.0|1.0, found -1.0)$",
    ),
    "a position equal only to itself": (
        lambda: heap_game(start=lambda self: Board(20)),
        "positions are compared by value",
    ),
    "a position that cannot be hashed": (
        lambda: broken(start=lambda self: [20, 0]),
        r"positions are hashable; in position \[20, 0\]",
    ),
    "a new start each time": (
        lambda: broken(start=starts_elsewhere),
        "every game starts alike",
    ),
    "play by chance": (
        lambda: broken(play=plays_by_chance),
        "leads to the same each time",
    ),
    "play that changes the game": (
        lambda: broken(
            play=consumes,
            legal_moves=lambda self, p: [1] if hasattr(self, "spent") else [2, 1],
        ),
        "legal_moves are the same after moves were tried",
    ),
    "moves in changing order": (
        lambda: broken(legal_moves=remembers),
        r"legal_moves answers alike each time; in position \(20, 0\): expected \[1, 2\], found"
        r" \[2, 1\]$",
    ),
    "duplicate moves": (
        lambda: broken(legal_moves=lambda self, p: [1, 1] if p[0] else []),
        r"lists a move once; in position \(20, 0\): expected 1 once, found \[1, 1\]",
    ),
    "moves as a tuple": (
        lambda: broken(legal_moves=lambda self, p: (1,) if p[0] else ()),
        "legal_moves returns a list",
    ),
    "moves that cannot be hashed": (
        lambda: broken(legal_moves=lambda self, p: [[1]] if p[0] else []),
        "moves are hashable",
    ),
    "moves after the end": (
        lambda: broken(legal_moves=lambda self, p: [1]),
        r"a finished game has no moves \(its outcome is -1.0\); in position \(0, [01]\)",
    ),
    "no moves and no end": (
        lambda: broken(outcome=lambda self, p: None),
        "a game without moves has an outcome; .* expected a number, found None",
    ),
    "an outcome in words": (
        lambda: broken(outcome=lambda self, p: None if p[0] else "lost"),
        "outcomes are finite numbers; .* found 'lost'",
    ),
    "an outcome that is not a number": (
        lambda: broken(outcome=lambda self, p: None if p[0] else float("nan")),
        "outcomes are finite numbers; .* found nan",
    ),
    "an outcome of points": (
        lambda: broken(outcome=lambda self, p: None if p[0] else -2.0),
        "`wins` is set; .* expected -1, 0 or 1, found -2.0",
    ),
    "an infinite outcome of points": (
        lambda: broken(wins=False, outcome=lambda self, p: None if p[0] else float("inf")),
        "outcomes are finite numbers; .* found inf",
    ),
    "a game that never ends": (
        lambda: broken(
            legal_moves=lambda self, p: [1],
            play=lambda self, p, move: (p[0] + 1, 1 - p[1]),
        ),
        "random play ends; .* expected an end within",
    ),
    "a position that comes back": (
        lambda: broken(play=lambda self, p, move: ((p[0] - move) % 20 + 1, 1 - p[1])),
        "comes back after [123], for irreversible is None",
    ),
    "a move that is reversible after all": (
        lambda: broken(
            play=lambda self, p, move: ((p[0] - move) % 20 + 1, 1 - p[1]),
            irreversible=lambda self, p, move: move == 1,
        ),
        "comes back after [123], for irreversible says so",
    ),
    "an irreversible that counts": (
        lambda: broken(irreversible=lambda self, p, move: 1),
        "irreversible answers yes or no to 1; .* found 1",
    ),
    "the same side twice": (
        lambda: broken(play=lambda self, p, move: (p[0] - move, p[1])),
        "to_move changes with 1; .* expected 1, found 0",
    ),
    "a third side": (
        lambda: broken(to_move=lambda self, p: 2),
        "to_move names a side; .* expected 0 or 1, found 2",
    ),
    "noise in numbers": (lambda: broken(noisy=lambda self, p: 0), "noisy answers yes or no"),
    "gain without end": (
        lambda: broken(gain=lambda self, p, move: float("inf")),
        "gain of 1 is a number; .* found inf",
    ),
    "text without the side": (
        lambda: broken(position_text=lambda self, p: f"({p[0]}, 0)"),
        r"parse_position reads position_text, '\(\d+, 0\)'; .* expected \(\d+, 1\)",
    ),
    "text of two lines": (
        lambda: broken(position_text=lambda self, p: f"({p[0]},\n{p[1]})"),
        "position_text is a line of text",
    ),
    "moves of one name": (
        lambda: broken(move_text=lambda self, p, move: "take"),
        r"differ in their texts; .* one move to be called 'take', found \[1, 2\]",
    ),
    "moves without a name": (
        lambda: broken(move_text=lambda self, p, move: " "),
        "move_text of 1 is text",
    ),
    "moves that break the parser": (
        lambda: broken(parse_move=lambda self, p, text: int(text)),
        "parse_move refuses 'this names nothing'; .* expected a MoveError, found ValueError",
    ),
    "moves that read as the first": (
        lambda: broken(
            parse_move=lambda self, p, text: Game.parse_move(self, p, text) and 1,
        ),
        "parse_move reads move_text, '2'; .* expected 2, found 1",
    ),
    "anything is a position": (
        lambda: broken(parse_position=reads_anything),
        "parse_position refuses 'this names nothing'; .* expected a PositionError, found ",
    ),
    "a board of numbers": (lambda: broken(show=lambda self, p: p), "show returns text"),
    "weights for no term": (
        lambda: broken(evaluators={"mine": ("lines", {"x": 1.0})}),
        "evaluator 'mine' .* found 'lines' and",
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_check_game_finds_a_broken_game(name: str) -> None:
    make, message = PLAIN[name]
    with pytest.raises(ContractError, match=f"^twenty: .*{message}"):
        check_game(make(), games=3)


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


DICE: dict[str, tuple[dict[str, Any], str]] = {
    "rolls that add up to less": ({"dice": Rolls((0.5, 0.4))}, "rolls add up to 1; .* found 0.9"),
    "first rolls that add up to more": (
        {"dice": Rolls((0.5, 0.5), (0.5, 1.0))},
        "first_rolls add up to 1; .* found 1.5",
    ),
    "fewer first rolls": (
        {"dice": Rolls((0.5, 0.5), (1.0,))},
        "first_rolls are probabilities; .* 2 numbers",
    ),
    "a roll that is less than impossible": (
        {"dice": Rolls((1.5, -0.5))},
        "rolls are probabilities; .* expected 2 numbers from 0 to 1",
    ),
    "no rolls": ({"dice": Rolls(())}, "rolls add up to 1"),
    "rolls of one name": (
        {"dice": Rolls((0.5, 0.5), text=lambda roll: "a roll")},
        r"rolls differ in their texts; .* expected one called 'a roll', found \[0, 1\]",
    ),
    "rolls without a name": (
        {"dice": Rolls((0.5, 0.5), text=lambda roll: "")},
        "text of roll 0 is text",
    ),
    "rolls that are read as the first": (
        {"dice": Rolls((0.5, 0.5), read=lambda text: Coins.dice.parse(text) * 0)},
        "dice.parse reads dice.text, '1'; .* expected 1, found 0",
    ),
    "anything is a roll": (
        {"dice": Rolls((0.5, 0.5), read=lambda text: int(text) if text.isdigit() else 0)},
        "dice.parse refuses 'this names nothing'; .* expected a MoveError, found 0",
    ),
    "a roll without a move": (
        {"legal_moves": lambda self, p, roll=None: [1] if roll and p[0] else []},
        r"every roll has a move while the game goes on \(roll 0\); .* expected a move, found \[\]",
    ),
    "moves after the end": (
        {"legal_moves": lambda self, p, roll=None: [min(1, p[0])]},
        "a finished game has no moves",
    ),
    "moves to one position": (
        {"play": lambda self, p, move: (p[0] - min(move, 1), 1 - p[1])},
        r"moves with roll 1 lead to different positions; .* found \[1, 2\]",
    ),
    "moves of one name": (
        {"move_text": lambda self, p, move: "go"},
        r"moves of a position differ in their texts; .* called 'go', found \[1, 2\]",
    ),
    "moves that read as the first": (
        {
            "parse_move": lambda self, p, text, roll=None: (
                DiceGame.parse_move(self, p, text, roll) and 1
            )
        },
        "parse_move reads move_text, '2'; .* expected 2, found 1",
    ),
}


def test_a_game_with_dice_that_is_whole() -> None:
    check_game(Coins())


@pytest.mark.parametrize("name", DICE)
def test_check_game_finds_a_broken_game_with_dice(name: str) -> None:
    changes, message = DICE[name]
    with pytest.raises(ContractError, match=f"^coins: .*{message}"):
        check_game(coins(**changes), games=3)


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


KERNELS: dict[str, tuple[Callable[[], Game], str]] = {
    "duplicate moves": (
        lambda: tic_tac_toe(legal_moves=twice, most_moves=10),
        "legal_moves lists a move once",
    ),
    "duplicate moves, and so too many": (
        lambda: tic_tac_toe(legal_moves=twice),
        "more than most_moves, 9; .* found 10",
    ),
    "more moves than most_moves": (
        lambda: tic_tac_toe(most_moves=8),
        r"more than most_moves, 8; in position \(0, 0, 0\) .* found 9",
    ),
    "a shorter position": (
        lambda: tic_tac_toe(play=forgets_the_side),
        "playing 1 leads to a tuple of integers; .* expected 3 integers",
    ),
    "a start that is too long": (
        lambda: tic_tac_toe(start_position=(0, 0, 0, *[0] * 14)),
        "expected 17 integers as at the start, and at most 16",
    ),
    "a start of floats": (
        lambda: tic_tac_toe(start_position=(0.5, 0, 0)),
        "expected a tuple of integers",
    ),
    "an integer of more than 64 bits": (
        lambda: tic_tac_toe(play=too_wide),
        "playing 1 leads to a tuple of integers; .* expected integers of 64 bits",
    ),
    "a key that tells too little": (
        lambda: tic_tac_toe(key=own_squares),
        r"different positions have different keys \(\d+\)",
    ),
    "moves of more than 64 bits": (
        lambda: tic_tac_toe(legal_moves=huge_moves),
        "moves are integers of 64 bits; .* found OverflowError",
    ),
    "a standard that is a number": (
        lambda: tic_tac_toe(standard=a_number),
        "standard returns a tuple of integers; .* expected a tuple of integers, found 0",
    ),
    "a standard that is none": (
        lambda: tic_tac_toe(standard=transposed),
        "standard of a standard position is itself",
    ),
    "a standard with other moves": (
        lambda: tic_tac_toe(standard=one_stone),
        r"standard, \(1, 0, 0\), keeps the number of moves; .* expected 9, found 8",
    ),
    "a feature without end": (
        lambda: with_term(infinite, None),
        "feature mine.term is finite; .* found inf",
    ),
    "a swap that swaps nothing": (
        lambda: with_term(first_square, same_side),
        "swap of mine gives the move to the other side; .* expected 1, found 0",
    ),
    "a swap that changes the board": (
        lambda: with_term(first_square, other_board),
        "feature mine.term changes its sign with swap",
    ),
    "weights for a term that is not there": (
        lambda: tic_tac_toe(evaluators={"mine": ("lines", {"twos": 1.0, "fours": 2.0})}),
        "evaluator 'mine' .* found 'lines' and .*'fours'",
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_check_game_finds_a_broken_kernel(name: str) -> None:
    make, message = KERNELS[name]
    with pytest.raises(ContractError, match=f"^tic_tac_toe: .*{message}"):
        check_game(make(), games=3)


DIFFERENT: dict[str, tuple[Callable[[], Game], str]] = {
    "key": (lambda: tic_tac_toe(key=overflows), r"expected \d{20,}, found -?\d+"),
    "legal_moves": (
        lambda: tic_tac_toe(legal_moves=moves_that_overflow),
        r"expected \[1, 2, .*, 256\], found \[1, 2, .*, 0\]$",
    ),
    "gain of 1": (lambda: tic_tac_toe(gain=gain_that_overflows), r"expected \d{20}, found -?\d+"),
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


def test_tic_tac_toe_as_published() -> None:
    """5,478 positions can be reached in 255,168 games, and the best play is a draw."""
    game = TicTacToe()

    @functools.cache
    def facts(position: Any) -> tuple[int, float]:
        """Returns the number of games from here on, and the value."""
        outcome = game.outcome(position)
        if outcome is not None:
            return 1, outcome
        after = [facts(game.play(position, move)) for move in game.legal_moves(position)]
        return sum(games for games, _ in after), max(-value for _, value in after)

    assert facts(game.start()) == (255168, 0.0)
    assert facts.cache_info().currsize == 5478


def test_misere_nim_as_published() -> None:
    """Lost if the xor is 0 or, once no pile has more than one stick, if it is 1."""
    for a in range(4):
        for b in range(a, 4):
            for c in range(b, 3):
                lost = a ^ b ^ c == (1 if max(a, b, c) <= 1 else 0)
                game = Nim((a, b, c))
                assert minimax(game, game.start()) == (-1.0 if lost else 1.0), (a, b, c)


def test_kayles_as_published() -> None:
    """Two rows are lost if their nim-values are equal (Guy and Smith 1956)."""
    nim_values = [0, 1, 2, 3, 1, 4, 3, 2, 1]
    game = kayles()
    for a in range(9):
        for b in range(a, 8 - a):
            rows = tuple(row for row in (a, b) if row)
            expected = -1.0 if nim_values[a] == nim_values[b] else 1.0
            assert minimax(game, rows) == expected, rows


def test_paths_that_a_tree_does_not_have() -> None:
    tree = Tree([[3, 12, 8], [2, 4, 6], [14, 5, 2]])
    assert tree.parse_position("(2, 0)") == (2, 0)


class Boarded(TicTacToe):
    """Tic-tac-toe with a board that is declared wrongly."""


@pytest.mark.parametrize(
    ("pieces", "clicks", "said"),
    [
        ({9: (0, "")}, [0], "pieces stand on squares; .* expected 0 to 8, found 9"),
        ({0: (2, "")}, [0], "a piece has a side and a text"),
        ({0: (0, 1)}, [0], "a piece has a side and a text"),
        ({}, [-1], "is made by clicks on squares; .* expected 0 to 8, found -1"),
        ({}, [[]], "every click of 1 has a square"),
        ({}, [4], "different moves have different clicks"),
    ],
)
@pytest.mark.plain
def test_a_board_that_cannot_be_drawn_or_clicked_is_found(
    pieces: Any, clicks: Any, said: str
) -> None:
    game = Boarded()
    game.extras = (Grid(3, 3, lambda position: pieces, lambda position, move: clicks),)
    with pytest.raises(ContractError, match=said):
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
