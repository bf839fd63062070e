"""`check_game`: whether a game keeps the contract of `games.contract`, by random play."""

from __future__ import annotations

import copy
import math
import numbers
import random
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from games.check.board import check_board
from games.check.kernels import KernelCheck, same
from games.contract import Game, expect_game, given
from games.errors import ContractError, MoveError, PositionError
from games.kinds import WITH_SIDES
from games.rolls import Rolls, rolls_of
from games.values import GRID

__all__ = ["CHECKS", "Check", "check_game"]

#: Checks of the values of evaluators that a game names, `check(game, seed)`. `search` adds its own,
#: because comparing values between depths needs a search.
CHECKS: list[Callable[[Game, int], None]] = []

MOST_PLIES = 5000  # random play of games that people play ends long before
MOST_TRIED = 32  # number of moves of a position that are played
MOST_ROLLS = 2  # number of rolls of a position whose moves are checked one by one
MOST_MEASURED = 100  # number of positions on which feature sets are measured
NONSENSE = "this names nothing"


def check_game(game: Game, *, games: int = 20, seed: int = 0) -> None:
    """Play random games and check every position on the way against the contract.

    game: the game to check. The values of the evaluators that it names are checked as by
        `search.check_evaluator`, on fewer positions, where `search` has been imported.
    games: number of random games, at least 1.
    seed: seed of the random moves and rolls.

    Raises ContractError at the first broken rule; its message names the rule and the position, and
    says what was expected and found. An exception that the game itself raises passes through with
    a note that names the position. Raises ValueError if `games` is less than 1, and for a problem.
    """
    expect_game(game)
    instead = "games.check.problem.check_problem checks it"
    WITH_SIDES.expect(game, where="game", instead=instead)
    if games < 1:
        raise ValueError(f"games: expected at least 1, found {games}")
    check = Check(game, random.Random(seed))
    check.start()
    for _ in range(games):
        check.random_game()
    check.feature_sets()
    check.evaluators()
    if game.evaluators and not CHECKS:
        warnings.warn(
            f"{game.name}: the values of its evaluators are not checked: import search first",
            stacklevel=2,
        )
    for of_values in CHECKS:
        of_values(game, seed)


class Check:
    """The checks of one game."""

    def __init__(self, game: Game, generator: random.Random) -> None:
        self.game = game
        self.random = generator
        self.tells_sides = type(game).to_move is not Game.to_move
        self.kernels = KernelCheck(self, game.rules) if game.rules is not None else None
        self.seen: dict[Any, None] = {}  # in order, for the feature sets
        #: The rolls of a position; [None] for a game without dice.
        self.rolls: list[int | None] = list(rolls_of(game).every)

    def fail(self, rule: str, position: Any, expected: str, found: Any) -> NoReturn:
        raise ContractError(
            f"{self.game.name}: {rule}; {_where(self.game, position)}: expected {expected},"
            f" found {found!r}"
        )

    def equal(self, rule: str, position: Any, expected: Any, found: Any) -> None:
        if expected != found:
            self.fail(rule, position, repr(expected), found)

    # --- play ----------------------------------------------------------------------------------

    def start(self) -> None:
        game, start = self.game, self.game.start()
        self.position(start)
        self.equal("every game starts alike", start, start, game.start())
        found = _read(game.parse_position, NONSENSE)
        if not isinstance(found, PositionError):
            self.fail(f"parse_position refuses {NONSENSE!r}", start, "a PositionError", found)
        if game.dice:
            self.dice(game.dice)
        found = _read(game.parse_move, start, NONSENSE, *given(self.rolls[0]))
        if not isinstance(found, MoveError):
            self.fail(f"parse_move refuses {NONSENSE!r}", start, "a MoveError", found)

    def dice(self, dice: Rolls) -> None:
        """Check the rolls of a game with dice."""
        start = self.game.start()
        for name, chances in (("rolls", dice.rolls), ("first_rolls", dice.first)):
            if len(chances) != len(dice.rolls) or not all(0 <= chance <= 1 for chance in chances):
                expected = f"{len(dice.rolls)} numbers from 0 to 1"
                self.fail(f"{name} are probabilities", start, expected, list(chances))
            if not dice.rolls or not math.isclose(sum(chances), 1.0, abs_tol=1e-9):
                self.fail(f"{name} add up to 1", start, "1", sum(chances))
        names: dict[str, int] = {}
        for roll in range(len(dice.rolls)):
            text: Any = dice.text(roll)
            if not isinstance(text, str) or not text.strip():
                self.fail(f"the text of roll {roll} is text", start, "text", text)
            if names.setdefault(text, roll) != roll:
                rolls = [names[text], roll]
                self.fail("rolls differ in their texts", start, f"one called {text!r}", rolls)
            read = _read(dice.parse, text)
            self.equal(f"dice.parse reads dice.text, {text!r}", start, roll, read)
        found = _read(dice.parse, NONSENSE)
        if not isinstance(found, MoveError):
            self.fail(f"dice.parse refuses {NONSENSE!r}", start, "a MoveError", found)

    def throw(self, first: bool) -> int | None:
        """Returns a random roll by its probability; None in a game without dice."""
        return rolls_of(self.game).draw(self.random, first=first)

    def random_game(self) -> None:
        from games.record import GameRecord  # imports NumPy, which help texts do not need

        game, record = self.game, GameRecord(self.game)
        gone: set[Any] = set()  # positions that must not occur again
        recent: list[Any] = []
        while True:
            position = record.position
            self.position(position)
            if record.over:
                return
            if record.ply >= MOST_PLIES:
                self.fail("random play ends", position, f"an end within {MOST_PLIES} plies", None)
            recent.append(position)
            roll = self.throw(first=record.ply == 0)
            move = self.random.choice(game.legal_moves(position, *given(roll)))
            if game.irreversible is None or game.irreversible(position, move):
                gone.update(recent)
                recent.clear()
            record.play(move, roll=roll)
            if record.position in gone:
                why = "is None" if game.irreversible is None else "says so"
                self.fail(
                    f"no earlier position occurs again after {move!r}, for irreversible {why}",
                    position,
                    "a new position",
                    record.position,
                )

    def position(self, position: Any) -> None:
        """Check all rules that concern one position."""
        try:
            self.parts(position)
        except ContractError:
            raise
        except Exception as error:
            error.add_note(f"check_game found this {_where(self.game, position)}")
            raise

    def parts(self, position: Any) -> None:
        game = self.game
        before = self.value(position)
        looked_at = self.rolls
        if len(looked_at) > MOST_ROLLS:
            looked_at = self.random.sample(looked_at, MOST_ROLLS)
        if self.kernels is not None:
            self.kernels.position(position, looked_at)
        listed = {roll: self.moves(position, roll, again=roll in looked_at) for roll in self.rolls}
        for roll, moves in listed.items():
            self.outcome(position, roll, moves)
        side, noisy = game.to_move(position), game.noisy(position)
        if side not in range(game.players):
            sides = " or ".join(map(str, range(game.players)))
            self.fail("to_move names a side", position, sides, side)
        if not isinstance(noisy, bool):
            self.fail("noisy answers yes or no", position, "a bool", noisy)
        if game.players > 2 and game.outcome(position) is None:
            self.turned(position, before)
        for roll in looked_at:
            self.look(position, roll, listed[roll], before)
        self.position_texts(position)
        for roll in looked_at:
            check_board(self.game, position, listed[roll], self.fail)
        self.unchanged("looking at a position", position, before)
        if len(self.seen) < MOST_MEASURED:
            self.seen[position] = None

    def look(self, position: Any, roll: int | None, moves: list[Any], before: Any) -> None:
        """Check the moves of a position with a roll one by one."""
        game = self.game
        tried = moves if len(moves) <= MOST_TRIED else self.random.sample(moves, MOST_TRIED)
        for move in tried:
            self.move(position, move, before)
        self.equal(
            "legal_moves are the same after moves were tried",
            position,
            moves,
            game.legal_moves(position, *given(roll)),
        )
        if roll is not None:
            reached: dict[Any, Any] = {}
            for move in tried:
                other = reached.setdefault(game.play(position, move), move)
                if other != move:
                    rule = f"moves with roll {roll} lead to different positions"
                    self.fail(rule, position, "one of them", [other, move])
        self.move_texts(position, roll, moves, tried)

    def value(self, position: Any) -> Any:
        """Returns a deep copy of a position after checking that it equals the position."""
        try:
            mark = hash(position)
        except TypeError as error:
            self.fail("positions are hashable", position, "a hashable position", error)
        twin = copy.deepcopy(position)
        if twin != position or hash(twin) != mark:
            rule = "positions are compared by value"
            self.fail(rule, position, "a copy of it to be equal and to have its hash", twin)
        return twin

    def unchanged(self, doing: str, position: Any, before: Any) -> None:
        if position != before or hash(position) != hash(before):
            self.fail(f"{doing} leaves it as it is", before, repr(before), position)

    def moves(self, position: Any, roll: int | None, *, again: bool) -> list[Any]:
        moves = self.game.legal_moves(position, *given(roll))
        if not isinstance(moves, list):
            self.fail("legal_moves returns a list", position, "a list", moves)
        moves = list(moves)
        if again:
            listed = self.game.legal_moves(position, *given(roll))
            self.equal("legal_moves answers alike each time", position, moves, listed)
        try:
            different = len(set(moves))
        except TypeError as error:
            self.fail("moves are hashable", position, "hashable moves", error)
        if different < len(moves):
            twice = next(move for i, move in enumerate(moves) if move in moves[:i])
            self.fail("legal_moves lists a move once", position, f"{twice!r} once", moves)
        return moves

    def outcome(self, position: Any, roll: int | None, moves: list[Any]) -> None:
        game = self.game
        outcome = game.outcome(position)
        if outcome is None:
            if not moves and roll is None:
                self.fail("a game without moves has an outcome", position, "a number", None)
            if not moves:
                rule = f"every roll has a move while the game is in progress (roll {roll})"
                self.fail(rule, position, "a move", moves)
            return
        number = isinstance(outcome, numbers.Real) and math.isfinite(outcome)
        if not number:
            self.fail("outcomes are finite numbers", position, "a finite number", outcome)
        if game.wins and outcome not in (-1, 0, 1):
            rule = "outcomes are loss, draw and win where `wins` is set"
            self.fail(rule, position, "-1, 0 or 1", outcome)
        if moves:
            rule = f"a finished game has no moves (its outcome is {outcome!r})"
            self.fail(rule, position, "none", moves)
        self.equal("outcome answers alike each time", position, outcome, game.outcome(position))
        self.vector(position, outcome)

    def vector(self, position: Any, outcome: float) -> None:
        """Check the outcomes of all players."""
        players = self.game.players
        vector: Any = self.game.outcome_vector(position)
        if not (
            isinstance(vector, tuple)
            and len(vector) == players
            and all(isinstance(v, numbers.Real) and math.isfinite(v) for v in vector)
        ):
            rule = "outcome_vector returns a number for each player"
            self.fail(rule, position, f"{players} finite numbers", vector)
        self.equal("outcome_vector begins with outcome", position, outcome, vector[0])
        constant = self.game.constant_sum
        if constant is None:
            return
        rule = "outcomes add up to constant_sum"
        self.equal(rule, position, float(constant), float(sum(vector)))
        if any(GRID * value % 1 for value in vector):
            rule = "outcomes that add up to a constant have exact sums"
            self.fail(rule, position, "multiples of 1/65536", vector)

    def turned(self, position: Any, before: Any) -> None:
        """Check that a turn for each player leads back to the same player and board."""
        game, turned = self.game, position
        for _ in range(game.players):
            side = (game.to_move(turned) + 1) % game.players
            turned = game.turn(turned)
            if self.tells_sides:
                self.equal(
                    "turn gives the move to the next side", position, side, game.to_move(turned)
                )
        self.equal(f"{game.players} turns lead back to the position", position, position, turned)
        self.unchanged("turning a position", position, before)

    def move(self, position: Any, move: Any, before: Any) -> None:
        game = self.game
        after = game.play(position, move)
        self.unchanged(f"playing {move!r}", position, before)
        again = game.play(position, move)
        self.equal(f"playing {move!r} gives the same position each time", position, after, again)
        if self.tells_sides:
            side = (game.to_move(position) + 1) % game.players
            self.equal(f"to_move changes with {move!r}", position, side, game.to_move(after))
        gain = game.gain(position, move)
        if not isinstance(gain, numbers.Real) or not math.isfinite(gain):
            self.fail(f"gain of {move!r} is a number", position, "a finite number", gain)
        if game.irreversible is not None:
            final = game.irreversible(position, move)
            if not isinstance(final, bool):
                self.fail(f"irreversible answers yes or no to {move!r}", position, "a bool", final)

    # --- text ----------------------------------------------------------------------------------

    def position_texts(self, position: Any) -> None:
        game = self.game
        text: Any = game.position_text(position)
        if not isinstance(text, str) or len(text.splitlines()) != 1:
            self.fail("position_text is a line of text", position, "one line", text)
        read = _read(game.parse_position, text)
        self.equal(f"parse_position reads position_text, {text!r}", position, position, read)
        board: Any = game.show(position)
        if not isinstance(board, str):
            self.fail("show returns text", position, "text", board)

    def move_texts(
        self, position: Any, roll: int | None, moves: list[Any], tried: list[Any]
    ) -> None:
        game = self.game
        names: dict[str, Any] = {}
        for move in moves:
            name: Any = game.move_text(position, move)
            if not isinstance(name, str) or not name.strip():
                self.fail(f"move_text of {move!r} is text", position, "text", name)
            other = names.setdefault(name, move)
            if other != move:
                rule = "moves of a position differ in their texts"
                self.fail(rule, position, f"one move to be called {name!r}", [other, move])
        for move in tried:
            name = game.move_text(position, move)
            read = _read(game.parse_move, position, name, *given(roll))
            self.equal(f"parse_move reads move_text, {name!r}", position, move, read)

    # --- features ------------------------------------------------------------------------------

    def feature_sets(self) -> None:
        """Check every feature set on the positions of the random games."""
        for name, features in self.game.features.items():
            for position in self.seen:
                self.terms(name, features, position)

    def terms(self, name: str, features: Any, position: Any) -> None:
        values = dict(zip(features.names, features.values(position), strict=True))
        for term, value in values.items():
            if not math.isfinite(value):
                rule = f"feature {name}.{term} is finite"
                self.fail(rule, position, "a finite number", value)
        if self.kernels is not None:
            measured = features.measure([position])[0].tolist()
            for (term, value), native in zip(values.items(), measured, strict=True):
                self.kernels.same(f"feature {name}.{term}", position, value, native)
        if not features.differences or features.swap is None:
            return
        from games.kernels import uncompiled

        swapped = uncompiled(features.swap)(position)
        if self.tells_sides:
            side = 1 - self.game.to_move(position)
            rule = f"swap of {name} gives the move to the other side"
            self.equal(rule, position, side, self.game.to_move(swapped))
        for (term, value), other in zip(values.items(), features.values(swapped), strict=True):
            if not same(-value, other):
                rule = f"feature {name}.{term} changes its sign with swap, to {swapped}"
                self.fail(rule, position, repr(-value), other)

    def evaluators(self) -> None:
        """Check that weights are of existing terms, and compare kernels with their source."""
        for name, entry in self.game.evaluators.items():
            if not isinstance(entry, tuple) or callable(entry[0]):
                if self.kernels is not None:
                    self.kernels.evaluator(name, entry, list(self.seen))
                continue
            chosen, weights = entry
            features = self.game.features.get(chosen)
            if features is None or not set(weights) <= set(features.names):
                raise ContractError(
                    f"{self.game.name}: evaluator {name!r} weighs the terms of a feature set:"
                    f" expected one of {list(self.game.features)} and its terms, found {chosen!r}"
                    f" and {list(weights)}"
                )


def _read(parse: Any, *arguments: Any) -> Any:
    """Returns the result of a parser, or the exception that it raises."""
    try:
        return parse(*arguments)
    except Exception as error:
        return error


def _where(game: Game, position: Any) -> str:
    """Returns a position for a message: the object and, if it differs, its text."""
    plain = repr(position)
    text = _read(game.position_text, position)
    more = f" ({text[:200]})" if isinstance(text, str) and text != plain else ""
    return f"in position {plain[:200]}{more}"
