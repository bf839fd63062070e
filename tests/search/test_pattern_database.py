"""Pattern databases: against breadth-first search, lower bounds by enumeration, files, refusals."""

from __future__ import annotations

import itertools
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

import search
from benchmarks import patterns as korf
from games.problem import KernelProblem
from games.puzzles.pancakes import Pancakes
from games.puzzles.sliding_tiles import Sliding8, SlidingTiles
from search.evaluators.files import arrays as array_files
from search.evaluators.files.header import EvaluatorError
from search.evaluators.pattern_database import PatternDatabase
from search.single_agent import patterns as building
from search.single_agent.patterns import build_patterns, build_table

EIGHT = Sliding8()


def distances(problem: KernelProblem) -> dict[Any, int]:
    """Returns the cost of the cheapest solution of every position, by breadth-first search."""
    known = {problem.goal(): 0}
    queue = deque(known)
    while queue:
        position = queue.popleft()
        for move in problem.legal_moves(position):
            after = problem.play(position, move)
            if after not in known:
                known[after] = known[position] + 1
                queue.append(after)
    return known


def tile_costs(width: int, height: int, tiles: set[int], counted: set[int]) -> dict[Any, int]:
    """Returns the least number of moves of the `counted` tiles by their squares and the blank's.

    A textbook search of its own: a state is the board as a tuple, with 99 for other tiles.
    """
    goal = tuple(t if t == 0 or t in tiles else 99 for t in range(width * height))
    known, queue = {goal: 0}, deque([goal])
    while queue:
        board = queue.popleft()
        blank = board.index(0)
        row, column = divmod(blank, width)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if not (0 <= r < height and 0 <= c < width):
                continue
            other = list(board)
            other[blank], other[r * width + c] = other[r * width + c], 0
            after = tuple(other)
            cost = known[board] + (other[blank] in counted)
            if cost < known.get(after, 1000):
                known[after] = cost
                (queue.append if cost > known[board] else queue.appendleft)(after)
    return known


@pytest.mark.plain
@pytest.mark.parametrize(
    ("width", "height", "tiles"),
    [
        (3, 3, (1, 2, 3, 6)),
        (3, 2, (2, 4)),
        pytest.param(6, 3, (1, 13), marks=pytest.mark.thorough),  # positions of two words
        pytest.param(5, 5, (7, 24), marks=pytest.mark.thorough),  # and of three
    ],
)
@pytest.mark.parametrize("additive", [True, False])
def test_every_entry_is_that_of_a_textbook_search(
    width: int, height: int, tiles: tuple[int, ...], additive: bool
) -> None:
    problem = SlidingTiles(width, height)
    pattern = problem.pattern(tiles, additive=additive)
    table = build_table(problem, pattern)
    every = set(range(width * height)) | {99}
    truth = tile_costs(width, height, set(tiles), set(tiles) if additive else every)
    assert len(table) == pattern.size // pattern.fold
    assert len(truth) == pattern.size
    best: dict[int, int] = {}
    others = [tile for tile in range(1, width * height) if tile not in tiles]
    for board, cost in truth.items():
        rest = iter(others)
        filled = problem.pack([next(rest) if tile == 99 else tile for tile in board])
        place = pattern.place(filled)
        best[place] = min(best.get(place, 1000), cost)
    assert best == dict(enumerate(table.tolist()))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("problem", "sums"),
    [
        (SlidingTiles(3, 2), [[(1, 2), (3, 4, 5)]]),
        (SlidingTiles(3, 2), [[(2, 4)], [(1, 2), (3, 4, 5)]]),
        (SlidingTiles(3, 2), [[(2, 4)]]),
        (Pancakes(6), [[(0, 3, 5)]]),
        (Pancakes(6), [[range(6)]]),
    ],
    ids=lambda part: getattr(part, "name", str(len(part)) if isinstance(part, list) else ""),
)
def test_no_value_is_too_high_and_patterns_with_all_moves_are_consistent(
    problem: KernelProblem, sums: Any
) -> None:
    truth = distances(problem)
    positions = list(truth)
    database = build_patterns(problem, sums)
    values = dict(zip(positions, database.values(positions).tolist(), strict=True))
    plain = database.plain()
    assert all(values[p] <= truth[p] for p in positions)
    assert max(values.values()) > 0 and values[problem.goal()] == 0
    drops = [
        abs(values[position] - values[problem.play(position, move)])
        for position in positions
        for move in problem.legal_moves(position)
    ]
    # sums leave the blank's square aside, so their values may fall faster than a move costs
    assert max(drops) <= 1 or any(len(group) > 1 for group in sums)
    assert max(drops) > 1 or sums != [[(1, 2), (3, 4, 5)]]
    for position in positions[::9]:
        solution = search.solve(problem, position, database, memory_mib=8)
        assert solution.cost == truth[position] and solution.optimal
    for position in positions[::37]:
        assert plain(position) == values[position]
    if sums == [[range(6)]]:
        assert values == truth


@pytest.mark.thorough
def test_the_whole_8_puzzle_and_its_mirror_image() -> None:
    truth = distances(EIGHT)
    positions = list(truth)
    whole = build_patterns(EIGHT, [[range(1, 9)]], mirrored=False)
    assert whole.values(positions).tolist() == list(truth.values())
    positions = positions[::5]
    costs_to_go = np.array([truth[position] for position in positions])
    for sums in ([[(1, 2, 3)]], [[(1, 2, 3), (4, 5, 6, 7, 8)]]):
        one_side = build_patterns(EIGHT, sums, mirrored=False)
        both = build_patterns(EIGHT, sums)
        assert both.mirrored
        found, images = one_side.values(positions), [EIGHT.problem.mirror(p) for p in positions]
        larger = np.maximum(found, one_side.values([tuple(map(int, p)) for p in images]))
        assert both.values(positions).tolist() == larger.tolist() and (larger > found).any()
        assert (larger <= costs_to_go).all()
    for position in positions[::1000]:
        mirrored, costs = both.largest_sum(position)
        assert [pieces for pieces, _ in costs] == [(1, 2, 3), (4, 5, 6, 7, 8)]
        assert sum(cost for _, cost in costs) == both(position)
        assert mirrored == (both(position) > one_side(position))
    manhattan = [EIGHT.evaluators["manhattan"].value(p) for p in positions]
    assert larger.mean() > np.mean(manhattan) + 1


@pytest.mark.plain
def test_building_stops_and_tells_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "CHUNK", 50)
    problem = SlidingTiles(3, 2)
    told: list[tuple[int, int]] = []
    build_patterns(problem, [[(1, 2), (3, 4, 5)]], progress=lambda *now: told.append(now))
    assert told[-1] == (120 + 360, 120 + 360) and len(told) > 20
    assert all(a <= b for (a, _), (b, _) in itertools.pairwise(told))

    def stop(known: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_patterns(problem, progress=stop)


@pytest.mark.slow
def test_korf_1_to_30_have_their_published_costs() -> None:
    """Korf 1985; with these patterns the thirty take about a minute."""
    assert korf.main(["--patterns", "5-5-5"]) == 0


@pytest.mark.plain
def test_a_file_gives_the_same_values(tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    problem = SlidingTiles(3, 3, goal=(1, 2, 3, 8, 0, 4, 7, 6, 5))
    database = build_patterns(problem, [[(1, 2, 3), (4, 5)], [(6, 7)]], mirrored=False)
    database.save(path)
    positions = [problem.random_position(seed) for seed in range(30)]
    for same in (search.load_evaluator(path, game=problem), database.copy()):
        assert isinstance(same, PatternDatabase)
        assert (same.sums, same.mirrored) == (database.sums, database.mirrored)
        assert list(same.values(positions)) == list(database.values(positions))
        assert list(map(same.plain(), positions)) == list(database.values(positions))
    solved = search.solve(problem, positions[0], path)
    assert solved.optimal
    # another puzzle, another goal of the same puzzle, and tables of other patterns
    with pytest.raises(
        ValueError, match="expected an evaluator of pancakes5, found one of sliding8_to_1_2_"
    ):
        search.solve(Pancakes(5), heuristic=path)
    with pytest.raises(ValueError, match="expected an evaluator of sliding8, found one of slidi"):
        search.solve(SlidingTiles(3, 3), heuristic=path)
    whole = path.read_bytes()
    for wrong in (
        whole.replace(b"1 2 3 8 0 4 7 6 5", b"0 2 3 8 1 4 7 6 5"),
        whole.replace(b"[1, 2, 3], [4, 5]", b"[1, 2, 3], [3, 5]"),
        whole.replace(b"[1, 2, 3], [4, 5]", b"[1, 2], [3, 4, 5]"),
        whole.replace(b"[[6, 7]]", b'[["67"]]'[:8]),
        whole[:-200],
    ):
        assert wrong != whole
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"p\.safetensors"):
            search.load_evaluator(path, game=problem)


def test_a_large_file_is_mapped_and_gives_the_same_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build_patterns(EIGHT)
    path = tmp_path / "large.safetensors"
    built.save(path)
    monkeypatch.setattr(array_files, "MOST_ARRAY_BYTES", 1000)
    loaded = search.load_evaluator(path)
    assert all(isinstance(table.base, np.memmap) for table in loaded.tables)
    assert not loaded.tables[0].flags.writeable
    positions = [EIGHT.random_position(seed) for seed in range(50)]
    assert [loaded(place) for place in positions] == [built(place) for place in positions]
    found = search.solve(EIGHT, positions[0], loaded, method="ida")
    assert found.cost == search.solve(EIGHT, positions[0]).cost
    monkeypatch.setattr(array_files, "MOST_ARRAY_BYTES", 100)
    array_files.save_arrays(path, {}, {"a": np.zeros(60), "b": np.zeros(600, dtype=np.int8)})
    with pytest.raises(EvaluatorError, match="at most 100 bytes without tables of int8"):
        array_files.load_arrays(path)


test_errors = errors_of(globals())
