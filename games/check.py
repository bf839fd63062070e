"""`check_game`: whether a game keeps the contract of `games.contract`, by random play."""

from __future__ import annotations

import copy
import math
import numbers
import random
from typing import Any, NoReturn

from games.contract import Game, Rules
from games.errors import ContractError, MoveError, PositionError
from games.record import GameRecord

__all__ = ["check_game"]

MOST_PLIES = 5000  # random play of any game for people is over long before
MOST_TRIED = 32  # moves of a position that are played
MOST_MEASURED = 100  # positions that feature sets are measured on
MOST_INTEGERS = 16  # of a position of a game written as kernels
ROOM = 4096  # moves beyond `most_moves` that can still be counted
NONSENSE = "this names nothing"


def check_game(game: Game, *, games: int = 20, seed: int = 0) -> None:
    """Play `games` random games and check every position on the way against the contract.

    Raises ContractError at the first broken rule; its message names the rule and the position,
    and says what was expected and found. An exception from the game itself passes through with a
    note that tells the position.
    """
    if games < 1:
        raise ValueError(f"games: expected at least 1, found {games}")
    check = _Check(game, random.Random(seed))
    check.start()
    for _ in range(games):
        check.random_game()
    check.feature_sets()
    check.evaluators()


class _Check:
    """One game under check."""

    def __init__(self, game: Game, generator: random.Random) -> None:
        self.game = game
        self.random = generator
        self.tells_sides = type(game).to_move is not Game.to_move
        self.kernels = _Kernels(self, game.rules) if game.rules is not None else None
        self.seen: dict[Any, None] = {}  # in order, for the feature sets

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
        found = _read(game.parse_move, start, NONSENSE)
        if not isinstance(found, MoveError):
            self.fail(f"parse_move refuses {NONSENSE!r}", start, "a MoveError", found)

    def random_game(self) -> None:
        game, record = self.game, GameRecord(self.game)
        gone: set[Any] = set()  # positions that may not come back
        recent: list[Any] = []
        while True:
            position = record.position
            self.position(position)
            if record.over:
                return
            if record.ply >= MOST_PLIES:
                self.fail("random play ends", position, f"an end within {MOST_PLIES} plies", None)
            recent.append(position)
            move = self.random.choice(game.legal_moves(position))
            if game.irreversible is None or game.irreversible(position, move):
                gone.update(recent)
                recent.clear()
            record.play(move)
            if record.position in gone:
                why = "is None" if game.irreversible is None else "says so"
                self.fail(
                    f"no earlier position comes back after {move!r}, for irreversible {why}",
                    position,
                    "a new position",
                    record.position,
                )

    def position(self, position: Any) -> None:
        """Check everything that can be said of one position."""
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
        if self.kernels is not None:
            self.kernels.position(position)
        moves = self.moves(position)
        self.outcome(position, moves)
        side, noisy = game.to_move(position), game.noisy(position)
        if side not in (0, 1):
            self.fail("to_move names a side", position, "0 or 1", side)
        if not isinstance(noisy, bool):
            self.fail("noisy answers yes or no", position, "a bool", noisy)
        tried = moves if len(moves) <= MOST_TRIED else self.random.sample(moves, MOST_TRIED)
        for move in tried:
            self.move(position, move, before)
        self.equal(
            "legal_moves are the same after moves were tried",
            position,
            moves,
            game.legal_moves(position),
        )
        self.texts(position, moves, tried)
        self.unchanged("looking at a position", position, before)
        if len(self.seen) < MOST_MEASURED:
            self.seen[position] = None

    def value(self, position: Any) -> Any:
        """A deep copy of a position, which equals it."""
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

    def moves(self, position: Any) -> list[Any]:
        moves = self.game.legal_moves(position)
        if not isinstance(moves, list):
            self.fail("legal_moves returns a list", position, "a list", moves)
        moves = list(moves)
        again = self.game.legal_moves(position)
        self.equal("legal_moves answers alike each time", position, moves, again)
        try:
            different = len(set(moves))
        except TypeError as error:
            self.fail("moves are hashable", position, "hashable moves", error)
        if different < len(moves):
            twice = next(move for i, move in enumerate(moves) if move in moves[:i])
            self.fail("legal_moves lists a move once", position, f"{twice!r} once", moves)
        return moves

    def outcome(self, position: Any, moves: list[Any]) -> None:
        game = self.game
        outcome = game.outcome(position)
        if outcome is None:
            if not moves:
                self.fail("a game without moves has an outcome", position, "a number", None)
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

    def move(self, position: Any, move: Any, before: Any) -> None:
        game = self.game
        after = game.play(position, move)
        self.unchanged(f"playing {move!r}", position, before)
        again = game.play(position, move)
        self.equal(f"playing {move!r} leads to the same each time", position, after, again)
        if self.tells_sides:
            side = 1 - game.to_move(position)
            self.equal(f"to_move changes with {move!r}", position, side, game.to_move(after))
        gain = game.gain(position, move)
        if not isinstance(gain, numbers.Real) or not math.isfinite(gain):
            self.fail(f"gain of {move!r} is a number", position, "a finite number", gain)
        if game.irreversible is not None:
            final = game.irreversible(position, move)
            if not isinstance(final, bool):
                self.fail(f"irreversible answers yes or no to {move!r}", position, "a bool", final)

    # --- text ----------------------------------------------------------------------------------

    def texts(self, position: Any, moves: list[Any], tried: list[Any]) -> None:
        game = self.game
        text: Any = game.position_text(position)
        if not isinstance(text, str) or len(text.splitlines()) != 1:
            self.fail("position_text is a line of text", position, "one line", text)
        read = _read(game.parse_position, text)
        self.equal(f"parse_position reads position_text, {text!r}", position, position, read)
        board: Any = game.show(position)
        if not isinstance(board, str):
            self.fail("show returns text", position, "text", board)
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
            read = _read(game.parse_move, position, name)
            self.equal(f"parse_move reads move_text, {name!r}", position, move, read)

    # --- features ------------------------------------------------------------------------------

    def feature_sets(self) -> None:
        """Check every feature set on positions that were seen."""
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
        if features.swap is None:
            return
        from games.kernel import uncompiled

        swapped = uncompiled(features.swap)(position)
        if self.tells_sides:
            side = 1 - self.game.to_move(position)
            rule = f"swap of {name} gives the move to the other side"
            self.equal(rule, position, side, self.game.to_move(swapped))
        for (term, value), other in zip(values.items(), features.values(swapped), strict=True):
            if not _same(-value, other):
                rule = f"feature {name}.{term} changes its sign with swap, to {swapped}"
                self.fail(rule, position, repr(-value), other)

    def evaluators(self) -> None:
        """Check that weights of hand-crafted evaluators are for terms that there are."""
        for name, entry in self.game.evaluators.items():
            if not isinstance(entry, tuple) or callable(entry[0]):
                continue
            chosen, weights = entry
            features = self.game.features.get(chosen)
            if features is None or not set(weights) <= set(features.names):
                raise ContractError(
                    f"{self.game.name}: evaluator {name!r} weighs the terms of a feature set:"
                    f" expected one of {list(self.game.features)} and its terms, found {chosen!r}"
                    f" and {list(weights)}"
                )


class _Kernels:
    """The kernels of a game, each compared with its own source run by the Python interpreter."""

    def __init__(self, check: _Check, rules: Rules) -> None:
        import numpy as np

        from games.kernel import uncompiled

        self.check = check
        self.width = len(check.game.start())
        self.most_moves = int(getattr(check.game, "most_moves", 256))
        self.buffer = np.zeros(self.most_moves + ROOM, dtype=np.int64)
        self.native = {name: rule for name, rule in vars(rules).items() if rule is not None}
        self.source = {name: uncompiled(rule) for name, rule in self.native.items()}
        self.of_position: list[str] = [
            n for n in ("outcome", "key", "noisy", "standard") if n in self.native
        ]
        self.of_move: list[str] = [n for n in ("play", "irreversible", "gain") if n in self.native]
        self.keys: dict[int, Any] = {}

    def position(self, position: Any) -> None:
        check, native, source = self.check, self.native, self.source
        self.integers("a position is a tuple of integers", position, position)
        # The source goes first: out of bounds it raises, where native code overwrites memory.
        moves = self.moves(position, source["legal_moves"])
        if len(moves) > self.most_moves:
            rule = f"no position has more than most_moves, {self.most_moves}"
            check.fail(rule, position, "no more", len(moves))
        self.same("legal_moves", position, moves, self.moves(position, native["legal_moves"]))
        for name in self.of_position:
            self.same(name, position, source[name](position), native[name](position))
        for move in moves if len(moves) <= MOST_TRIED else moves[:: len(moves) // MOST_TRIED]:
            after = source["play"](position, move)
            self.integers(f"playing {move} leads to a tuple of integers", position, after)
            for name in self.of_move:
                found = native[name](position, move)
                self.same(f"{name} of {move}", position, source[name](position, move), found)
        if "key" in source:
            key = int(source["key"](position))
            other = self.keys.setdefault(key, position)
            check.equal(
                f"different positions have different keys ({key})", position, position, other
            )
        if "standard" in source:
            self.standard(position, len(moves))

    def integers(self, rule: str, where: Any, position: Any) -> None:
        if not isinstance(position, tuple) or not all(map(_is_integer, position)):
            self.check.fail(rule, where, "a tuple of integers", position)
        if len(position) != self.width or self.width > MOST_INTEGERS:
            expected = f"{self.width} integers as at the start, and at most {MOST_INTEGERS}"
            self.check.fail(rule, where, expected, position)
        if not all(-(1 << 63) <= x < 1 << 63 for x in position):
            self.check.fail(rule, where, "integers of 64 bits", position)

    def moves(self, position: Any, legal_moves: Any) -> list[int]:
        try:
            count = int(legal_moves(position, self.buffer))
        except OverflowError as error:
            self.check.fail("moves are integers of 64 bits", position, "such", error)
        return [int(move) for move in self.buffer[:count]]

    def same(self, rule: str, position: Any, source: Any, native: Any) -> None:
        if not _same(source, native):
            rule = f"{rule} compiled is the same as uncompiled"
            self.check.fail(rule, position, repr(source), native)

    def standard(self, position: Any, moves: int) -> None:
        check, source = self.check, self.source
        image = source["standard"](position)
        self.integers("standard returns a tuple of integers", position, image)
        again = source["standard"](image)
        check.equal("standard of a standard position is itself", position, image, again)
        found = len(self.moves(image, source["legal_moves"]))
        check.equal(f"standard, {image}, keeps the number of moves", position, moves, found)


def _read(parse: Any, *arguments: Any) -> Any:
    """What a parser returns, or the exception that it raises."""
    try:
        return parse(*arguments)
    except Exception as error:
        return error


def _is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral)


def _same(one: Any, other: Any) -> bool:
    """Whether numbers, or lists or tuples of numbers, are the same but for rounding."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if _is_integer(one) and _is_integer(other):
        return bool(one == other)
    if one != one or other != other:
        return bool(one != one and other != other)
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _where(game: Game, position: Any) -> str:
    """A position for a message: the object and, where that says more, its text."""
    plain = repr(position)
    text = _read(game.position_text, position)
    more = f" ({text[:200]})" if isinstance(text, str) and text != plain else ""
    return f"in position {plain[:200]}{more}"
