"""Objects sent to other processes arrive equal to the originals."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from marks import compiled_only, plain

import games
from games import Game, KernelGame, Rules
from games.checkers import Checkers
from games.features import FeatureSet
from games.kernels import compiler, fingerprint, kernel
from games.nim import Nim
from games.record import GameRecord
from play.players.limits import Limits
from play.players.player import Player
from play.workers.transport import pack, unpack
from search import Engine, KernelEvaluator, LinearEvaluator, Lookup, PythonEvaluator, as_evaluator
from search.lookups.rote import RoteMemory

ROOT = Path(__file__).resolve().parents[2]
CHECKERS = Checkers()

MY_FEATURES = """
import numpy as np

from games.kernels import popcount
from games.features import FeatureSet
from games.kernels import kernel

WEIGHT = 3.0
TABLE = np.arange(4.0)


def worth(position):
    return float(position[0] % 1000) / WEIGHT


@kernel(signature="int64(int64)")
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def men(position):
    return popcount(position[0]) * WEIGHT + TABLE[1]


@kernel
def scaled(weights, position):
    return weights[0] * men(position) + factorial(4)


def plus(constant):
    @kernel
    def closed(position):
        return men(position) + factorial(3) + constant

    return closed


FEATURES = FeatureSet("mine", {"men": men, "five": plus(5), "six": plus(6)})
"""


def load_by_path(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def mine(tmp_path: Path) -> ModuleType:
    path = tmp_path / "my_features.py"
    path.write_text(MY_FEATURES)
    return load_by_path(path)


def elsewhere(value: Any, folder: Path, *lines: str) -> list[str]:
    """Returns the output of Python lines in another process that has unpacked `value` as `it`."""
    (folder / "packed").write_bytes(pack(value))
    text = "\n".join(
        [
            f"import sys; sys.path.insert(0, {str(ROOT)!r})",
            "from play.workers.transport import pack, unpack",
            "it = unpack(open('packed', 'rb').read())",
            *lines,
        ]
    )
    result = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


class Pile(Game):
    """Take one or two sticks; the player who takes the last one wins."""

    def start(self) -> int:
        return 7

    def legal_moves(self, sticks: int) -> list[int]:
        return list(range(1, min(2, sticks) + 1))

    def play(self, sticks: int, move: int) -> int:
        return sticks - move

    def outcome(self, sticks: int) -> float | None:
        return None if sticks else -1.0


@kernel
def walk_moves(position, moves):  # type: ignore[no-untyped-def]
    moves[0], moves[1] = 1, 2
    return 2


@kernel
def walk(position, move):  # type: ignore[no-untyped-def]
    return ((position[0] + move) % 9,)


@kernel
def walk_outcome(position):  # type: ignore[no-untyped-def]
    return -1.0 if position[0] == 7 else math.nan


@kernel
def never(position, move):  # type: ignore[no-untyped-def]
    return False


class Walk(KernelGame):
    """A game of kernels that only this file knows."""

    rules = Rules(walk_moves, walk, walk_outcome, irreversible=never)
    start_position = (0,)
    most_moves = 2


# In one process


@plain
@pytest.mark.parametrize("name", games.names())
def test_a_known_game_travels_by_name(name: str) -> None:
    game = games.load(name)
    packed = pack(game)
    assert len(packed) < 200
    copy = unpack(packed)
    assert type(copy) is type(game)
    assert copy is unpack(packed)
    assert copy.rules == game.rules
    assert all(copy.features[n] is features for n, features in game.features.items())


@plain
def test_a_known_game_with_more_features_does_not() -> None:
    game = Checkers()
    own = FeatureSet("own", {"one": next(iter(game.features["classic"].terms.values()))})
    game.features = {**game.features, "own": own}  # type: ignore[misc]
    copy = unpack(pack(game))
    assert copy.features["own"].names == ("one",)
    assert [copy.legal_moves(copy.start())] == [game.legal_moves(game.start())]


@plain
def test_options_of_a_known_game_travel() -> None:
    assert unpack(pack(Nim((1, 2)))).start() == Nim((1, 2)).start() != Nim().start()


@plain
@pytest.mark.parametrize("kind", [Pile, Walk])
def test_a_users_game_travels(kind: type[Game]) -> None:
    game = kind()
    copy = unpack(pack(game))
    assert type(copy) is kind
    assert (copy.name, copy.start()) == (game.name, game.start())
    assert copy.legal_moves(copy.start()) == [1, 2]
    assert (copy.irreversible is None) == (game.irreversible is None)
    record = GameRecord(copy)
    record.play(2)
    assert unpack(pack(record)).moves == [2]


@compiled_only
def test_kernels_come_back_as_themselves(mine: ModuleType) -> None:
    kinds = [
        CHECKERS.rules.legal_moves,  # by name
        CHECKERS.rules,
        mine.men,  # by value
        mine.factorial,
        mine.FEATURES.terms["five"],
    ]
    for value in kinds[:1] + kinds[2:]:
        assert unpack(pack(value)) is value
    assert unpack(pack(CHECKERS.rules)) == CHECKERS.rules
    assert unpack(pack(mine.FEATURES)) == mine.FEATURES
    assert len(pack(CHECKERS.rules.legal_moves)) < 200


@plain
def test_evaluators_players_and_records() -> None:
    position = CHECKERS.start()
    for _ in range(6):
        position = CHECKERS.play(position, CHECKERS.legal_moves(position)[-1])
    for name in ("classic", "material"):
        evaluator = as_evaluator(CHECKERS, name)
        copy = unpack(pack(Player(name, evaluator, options={"seed": 3})))
        assert (copy.name, copy.options) == (name, {"seed": 3})
        assert copy.evaluator(position) == evaluator(position)
        assert copy.evaluator.features == evaluator.features  # type: ignore[attr-defined]
        assert as_evaluator(CHECKERS, copy.evaluator) is copy.evaluator
    seven = unpack(pack(PythonEvaluator(CHECKERS, lambda position: 7.0, name="seven")))
    assert (seven.name, seven(position)) == ("seven", 7.0)
    assert unpack(pack(Limits(depth=3, seconds=0.5))) == Limits(depth=3, seconds=0.5)

    record = GameRecord(CHECKERS, comment="of a game")
    for _ in range(9):
        record.play(CHECKERS.legal_moves(record.position)[0], value=1.5, depth=2)
    copy = unpack(pack(record))
    assert (copy.positions, copy.moves) == (record.positions, record.moves)
    assert (copy.annotations, copy.history) == (record.annotations, record.history)
    copy.play(CHECKERS.legal_moves(copy.position)[0])
    assert (copy.ply, record.ply) == (10, 9)


@compiled_only
def test_a_rote_memory_travels_as_its_records() -> None:
    memory = RoteMemory(CHECKERS, capacity=100_000, oldest=30)
    position = CHECKERS.start()
    for i in range(50):
        memory.store(position, i / 10, i % 4)
        moves = CHECKERS.legal_moves(position)
        position = CHECKERS.play(position, moves[i % len(moves)])
        if CHECKERS.outcome(position) is not None:
            break
    memory.merge()
    memory.store(CHECKERS.start(), 5.0, 9)
    packed = pack(memory)
    assert len(packed) < 20_000
    copy = unpack(packed)
    assert copy.records() == memory.records() != []
    assert (copy.capacity, copy.oldest, len(copy)) == (100_000, 30, len(memory))


@plain
@pytest.mark.parametrize("value", [threading.Lock(), lambda: threading.Lock(), (x for x in "ab")])
def test_what_cannot_travel(value: Any) -> None:
    if callable(value):
        assert callable(unpack(pack(value)))
        value = value()
    with pytest.raises(TypeError, match="expected something that can be sent to another process"):
        pack(value)


@compiled_only
def test_a_kernel_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel
    def one(position):  # type: ignore[no-untyped-def]
        return 1.0

    packed = pack(one)
    mark = fingerprint(one)
    del one
    compiler._known.pop(mark, None)
    monkeypatch.setattr(compiler, "toolchain", lambda: "another")
    with pytest.raises(ValueError, match=f"kernel one: expected fingerprint {mark[:16]}, found"):
        unpack(packed)


# In another process


@compiled_only
def test_a_users_kernels_arrive(mine: ModuleType, tmp_path: Path) -> None:
    """Also those in closures, and one that calls itself, from a file that was loaded by path."""
    start = CHECKERS.start()
    weights = np.array([2.0])
    linear = LinearEvaluator(CHECKERS, mine.FEATURES, {"men": 0.5, "six": 2.0}, name="own")
    scaled = KernelEvaluator(CHECKERS, mine.scaled, weights)
    python = PythonEvaluator(CHECKERS, mine.worth)
    lookup = Lookup(mine.FEATURES.terms["five"], (weights,))
    (tmp_path / "my_features.py").unlink()
    out = elsewhere(
        (linear, scaled, python, lookup),
        tmp_path,
        "from search import Engine",
        "linear, scaled, python, lookup = it",
        "start = linear.game.start()",
        "print(linear(start), scaled(start), python(start), lookup.tables)",
        "print(linear.features.fingerprint, linear.features.measure([start]).tolist())",
        "print(Engine(linear.game, linear).search(start, depth=3).value)",
        "print(unpack(pack(linear)).features == linear.features)",
        "print('my_features' in sys.modules)",
    )
    assert linear(start) == 0.5 * 37 + 2 * (37 + 6 + 6)
    measured = mine.FEATURES.measure([start]).tolist()
    assert out == [
        f"{linear(start)} {scaled(start)} {python(start)} {(weights,)}",
        f"{mine.FEATURES.fingerprint} {measured}",
        str(Engine(CHECKERS, linear).search(start, depth=3).value),
        "True",
        "False",
    ]


@compiled_only
def test_users_games_arrive(tmp_path: Path) -> None:
    both: list[Game] = [Pile(), Walk()]
    out = elsewhere(
        [(game, GameRecord(game)) for game in both],
        tmp_path,
        "from search import Engine",
        "for game, record in it:",
        "    result = Engine(game, lambda position: 0.0).search(game.start(), depth=4)",
        "    print(type(game).__name__, record.game is game, result.move, result.value)",
    )
    for game, line in zip(both, out, strict=True):
        result = Engine(game, lambda position: 0.0).search(game.start(), depth=4)
        assert line == f"{type(game).__name__} True {result.move} {result.value}"
