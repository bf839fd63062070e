"""Prefilters: moves that a small network excludes are not valued by the large one."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import reread
from errors import errors_of

import games
from games import kernels
from play.workers.transport import pack, unpack
from search import Engine, Lookup, MoveFilters, load_evaluator
from search.evaluators.evaluator import Prefilter
from search.evaluators.quantised import QuantisedNetwork
from search.lookups.database import DatabaseLookup
from tests.search.test_outcome_network import GAME, POINTS, network, positions_of_games

plain = pytest.mark.plain


def small(seed: int = 1) -> QuantisedNetwork:
    """Returns a small network with random weights."""
    random = np.random.default_rng(seed)
    first = random.integers(-400, 400, (len(POINTS), 8)), random.integers(-50, 50, 8)
    second = random.integers(-127, 128, (1, 8, 1)), np.array([[5]])
    return QuantisedNetwork(GAME, POINTS, [first, second])


def filtered(keep: int = 3, margin: float = math.inf) -> Any:
    return network("three of points", prefilter=Prefilter(small(), keep, margin, {"lost": 0.5}))


def value_of(evaluator: Any, position: Any, lookup: Lookup | None) -> float:
    """Returns the outcome of a position, its value by a lookup or by an evaluator."""
    end = GAME.outcome(position)
    if end is not None:
        return float(end)
    known, value, *_ = (False, 0.0) if lookup is None else lookup.plain()(position)
    return float(value) if known else float(evaluator(position))


def kept(evaluator: Any, position: Any, roll: int, lookup: Lookup | None = None) -> list[Any]:
    """Returns the moves that the evaluator's prefilter keeps."""
    prefilter = evaluator.prefilter
    ranks = {
        move: -value_of(prefilter.evaluator, GAME.play(position, move), lookup)
        for move in GAME.legal_moves(position, roll)
    }
    best = sorted(ranks.values(), reverse=True)
    least = max(best[: prefilter.keep][-1], best[0] - prefilter.margin)
    return [move for move, rank in ranks.items() if rank >= least]


def best(evaluator: Any, position: Any, roll: int, lookup: Lookup | None = None) -> tuple[Any, Any]:
    """Returns the best move of those kept, and its value."""
    values = {
        move: -value_of(evaluator, GAME.play(position, move), lookup)
        for move in kept(evaluator, position, roll, lookup)
    }
    move = max(values, key=lambda move: values[move])
    return move, values[move]


@pytest.mark.thorough
@plain
@pytest.mark.parametrize(
    ("keep", "margin", "looked_up"),
    [(1, math.inf, False), (3, math.inf, False), (24, 0.3, False), (4, 0.1, True)],
)
def test_only_moves_that_the_prefilter_keeps_are_valued(
    keep: int, margin: float, looked_up: bool
) -> None:
    evaluator = filtered(keep, margin)
    lookup = DatabaseLookup(games.load("backgammon"), "bearoff") if looked_up else None
    engine = Engine(GAME, evaluator, lookup=lookup)
    generator, excluded = random.Random(5), 0
    for position in positions_of_games(6, 30):
        roll = generator.randrange(21)
        expected, value = best(evaluator, position, roll, lookup)
        result = engine.search(position, roll=roll, depth=0)
        assert (result.move, result.value) == (expected, value)
        excluded += len(GAME.legal_moves(position, roll)) > len(
            kept(evaluator, position, roll, lookup)
        )
        # where every move's value is shown, all are exact
        moves = dict(engine.analyse(position, roll=roll, depth=0).moves)
        assert moves == {
            move: -value_of(evaluator, GAME.play(position, move), lookup)
            for move in GAME.legal_moves(position, roll)
        }
    assert excluded > 10


@plain
@pytest.mark.parametrize(
    ("prune", "inner", "keep", "margin"),
    [
        ("none", None, 12, 0.4), ("star2", None, 12, 0.4), ("star2", (2, 9.0), 2, 0.4),
        ("star2", (12, 0.05), 12, 0.05), ("star2", (24, 9.0), 12, 0.4), ("star2", ..., 4, 0.1),
    ],
)  # fmt: skip
def test_a_search_values_the_replies_that_the_prefilter_keeps(
    prune: str, inner: Any, keep: int, margin: float
) -> None:
    filters = None if inner is ... else MoveFilters(inner=inner)
    engine = Engine(GAME, filtered(12, 0.4), prune=prune, filters=filters)
    thin, total = filtered(keep, margin), sum(GAME.rolls)
    for position in positions_of_games(7, 2):
        expected = sum(
            chance * best(thin, position, roll)[1] for roll, chance in enumerate(GAME.rolls)
        )
        assert engine.values([position], depth=1)[0] == pytest.approx(expected / total, abs=1e-12)


@plain
def test_a_look_searches_only_two_moves_that_are_nearly_equal() -> None:
    """GNU's 0-ply, and where it is in doubt the better of two by 1 ply with one reply a roll."""
    evaluator, near = filtered(12, 0.4), 0.1
    look = MoveFilters(((2, near),), inner=(1, 0.0), only_decide=True)
    engine, ahead = (Engine(GAME, evaluator, filters=filters)
                     for filters in (look, MoveFilters(inner=(1, 0.0))))  # fmt: skip
    generator, depths = random.Random(3), set()
    for position in positions_of_games(7, 12):
        roll = generator.randrange(21)
        values = {move: -value_of(evaluator, GAME.play(position, move), None)
                  for move in kept(evaluator, position, roll)}  # fmt: skip
        first, *others = sorted(values, key=lambda move: -values[move])
        result = engine.search(position, roll=roll, depth=1)
        depths.add(result.depth)
        if others and values[others[0]] >= values[first] - near:
            afters = [GAME.play(position, move) for move in (first, others[0])]
            deeper = -ahead.values(afters, depth=1)
            assert (result.depth, result.value) == (1, deeper.max())
            assert result.move == (first, others[0])[int(deeper.argmax())]
        else:
            assert (result.move, result.value, result.depth) == (first, values[first], 0)
    assert depths == {0, 1}


# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "filtered.safetensors"
    filtered(5, 0.25).save(path)
    return path


@plain
def test_files_hold_the_prefilter(saved: Path, tmp_path: Path) -> None:
    found: Any = load_evaluator(saved, game=GAME)
    prefilter = found.prefilter
    assert (prefilter.keep, prefilter.margin) == (5, 0.25)
    assert prefilter.evidence == {"lost": 0.5}
    rows = positions_of_games(8, 5)
    assert np.array_equal(prefilter.evaluator.values(rows), small().values(rows))
    found.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == saved.read_bytes()
    assert unpack(pack(found)).prefilter.margin == 0.25
    # a copy may learn, which the prefilter does not know of
    assert found.copy().prefilter is None
    # the other arrays and fields are those of a file without
    found.prefilter = None
    found.save(tmp_path / "bare.safetensors")
    network("three of points").save(saved)
    assert (tmp_path / "bare.safetensors").read_bytes() == saved.read_bytes()


def changed(tmp_path: Path, change: Any) -> None:
    def of_the_prefilter(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        change(header["prefilter"], arrays)

    reread(tmp_path / "filtered.safetensors", filtered(5, 0.25), of_the_prefilter, game=GAME)


@pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")
def test_the_shipped_prefilter_excludes_half_of_the_moves_and_no_good_ones() -> None:
    game: Any = games.load("backgammon")
    filtered: Any = load_evaluator("wide", game=game)
    lookup = DatabaseLookup(game, "bearoff")
    quick, exact = (Engine(game, e, lookup=lookup) for e in (filtered, filtered.copy()))
    generator = random.Random(12)
    positions = np.array(positions_of_games(12, 1500))
    rolls = np.array([generator.randrange(21) for _ in positions])
    moves, values = exact.best_moves(positions, rolls)
    chosen, kept_values = quick.best_moves(positions, rolls)
    lost = values - kept_values
    assert (lost >= 0).all() and 1000 * lost.mean() <= 0.1
    assert np.mean(moves == chosen) > 0.998
    evidence = filtered.prefilter.evidence
    assert all(group["thousandths lost"] <= 0.03 for group in evidence.values())
    assert evidence["natural"]["decisions"] >= 5000
    assert evidence["natural"]["kept"] < 0.6 * evidence["natural"]["moves"]


test_errors = errors_of(globals())
