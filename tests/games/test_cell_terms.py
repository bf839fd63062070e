"""Terms as data: a slow twin over the board's labels, many positions at once, and the kernels."""

from __future__ import annotations

import functools
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
from games import ContractError, Game, check_game, kernels
from games.board import Board
from games.connect_four import ConnectFour
from games.connect_four.rules import has_four
from games.extras import extra
from games.feature_file import add_features, load_features
from games.features.cell_terms import OFF, CellTerm, Neighbours, atoms
from games.features.cells import EMPTY, Cells
from games.features.term_file import feature_set_of, named, term_file
from games.nim import Nim
from search import LinearEvaluator, load_evaluator
from search.evaluators.files.header import EvaluatorError

NAMES = [
    "checkers", "connect_four", "docs.examples.hexapawn:Hexapawn", "docs.examples.othello:Othello"
]  # fmt: skip


@functools.cache
def positions(name: str, count: int = 24) -> list[Any]:
    """Returns unfinished positions of random games."""
    game, chance = games.load(name), random.Random(1)
    found: list[Any] = []
    position = game.start()
    while len(found) < count:
        moves = game.legal_moves(position)
        if not moves or game.outcome(position) is not None:
            position = game.start()
            continue
        if chance.random() < 0.5:
            found.append(position)
        position = game.play(position, chance.choice(moves))
    return found


def cells_of(game: Game) -> Cells:
    cells = extra(game, Cells)
    assert cells is not None
    return cells


def related(game: Game, position: Any, name: str) -> set[int]:
    """Returns the squares of a relation for the side to move, by the rules themselves."""
    cells, shown = extra(game, Cells), extra(game, Board)
    assert cells is not None and shown is not None
    if name in ("threat", "first threat", "win"):
        own, opponent, side = position
        stones = own | opponent
        empty = [bit for bit in cells.bits.values() if not stones >> bit & 1]
        wins = {bit for bit in empty if kernels.uncompiled(has_four)(own | 1 << bit)}
        if name == "first threat" and side != 0:
            return set()
        if name == "win":  # at once, so only for the side whose turn it is
            turn = stones.bit_count() % 2
            reached = {column + (stones >> column & 63).bit_count() for column in range(0, 49, 7)}
            wins &= reached if turn == side else set()
        return {square for square, bit in cells.bits.items() if bit in wins}
    moves = game.legal_moves(position)
    if name == "move":
        return {move for move in moves if move < 64}
    if name == "mover" and moves and moves[0] >> 12:  # captures hide the other moves
        return {
            s
            for s, a in labels(game, position).items()
            if "their" not in a and steps(game, position, s, a)
        }
    wanted = [move for move in moves if bool(move >> 12) == (name == "jumper")]
    seen = [shown.clicks(position, move)[0] for move in wanted]
    return {63 - square if game.to_move(position) else square for square in seen}  # type: ignore[operator]


def steps(game: Game, position: Any, square: int, atom: str) -> bool:
    """Whether a checkers piece has an empty square to step to."""
    ways = [(-1, -1), (-1, 1)] + ([(1, -1), (1, 1)] if atom == "king" else [])
    ends = [cells_of(game).neighbour(square, way) for way in ways]
    return any(end is not None and end not in labels(game, position) for end in ends)


def labels(game: Game, position: Any) -> dict[int, str]:
    board = extra(game, Board)
    assert board is not None
    return cells_of(game).shown(board, position, game.to_move(position))


#: A way on a board that is turned or mirrored; the first leaves it as it is.
TURNS: list[Any] = [
    lambda r, c: (r, c), lambda r, c: (c, -r), lambda r, c: (-r, -c), lambda r, c: (-c, r),
    lambda r, c: (r, -c), lambda r, c: (c, r), lambda r, c: (-r, c), lambda r, c: (-c, -r),
]  # fmt: skip


def twin(game: Game, position: Any, term: CellTerm) -> int:
    """Returns a term's value, square by square over the labels of the game's board."""
    cells = cells_of(game)
    swapped = tuple(int(x) for x in cells.swap(position))

    def count(mine: Any, theirs: Any) -> int:
        board = labels(game, mine)

        def holds(square: int | None, atom: str) -> bool:
            if square is None or atom == OFF:
                return square is None and atom == OFF
            if atom == EMPTY:
                return square not in board
            kind = atom.removeprefix("their ")
            if kind in cells.pieces():
                return board.get(square) == atom
            if kind == atom:
                return square in related(game, mine, kind)
            last = cells.rows * cells.columns - 1
            seen = related(game, theirs, kind)
            return (last - square if cells.turned else square) in seen

        return sum(
            holds(square, term.anchor)
            and any(
                all(holds(cells.neighbour(square, turn(*way)), a) for way, a in term.conditions)
                for turn in (TURNS if cells.square else TURNS[:1])
            )
            for square in cells.zones[term.zone]
        )

    return count(position, swapped) - count(swapped, position)


def some_terms(game: Game, count: int, seed: int) -> list[CellTerm]:
    """Returns random terms of up to four conditions, each of another name."""
    cells, chance = cells_of(game), random.Random(seed)
    ways = [
        (row, column)
        for row in range(-cells.reach, cells.reach + 1)
        for column in range(-cells.reach, cells.reach + 1)
        if (row, column) != (0, 0)
        and any(cells.neighbour(square, (row, column)) is not None for square in cells.bits)
    ]
    found: dict[str, CellTerm] = {}
    while len(found) < count:
        zone = chance.choice(["", "", *cells.zones])
        term = CellTerm(chance.choice([*cells.kinds, EMPTY]), zone)
        for way in chance.sample(ways, chance.randint(0, 4)):
            term = term.also(way, chance.choice(atoms(cells)))
        found[term.name(cells)] = term
    return list(found.values())


@pytest.mark.parametrize("name", NAMES)
def test_terms_have_the_values_of_their_twin_over_the_board(name: str) -> None:
    game = games.load(name)
    around = Neighbours(cells_of(game), cells_of(game).words(np.array(positions(name))))
    seen = 0
    for term in some_terms(game, 40, 1):
        found = term.difference(around).tolist()
        assert found == [twin(game, position, term) for position in positions(name)], term
        seen += any(found)
    assert seen > 5  # the others are never there


def test_zones_and_words_of_a_square_whose_turns_are_alike() -> None:
    cells = cells_of(games.load("docs.examples.othello:Othello"))
    squares = {name: sorted(found) for name, found in cells.zones.items()}
    assert squares["corner"] == [0, 7, 56, 63] and len(squares["edge"]) == 28
    assert squares["2nd square of the 2nd line"] == [9, 14, 49, 54]
    assert squares["2nd square of the edge"] == [1, 6, 8, 15, 48, 55, 57, 62]
    beside = CellTerm("disc", "edge").also((0, -1), "disc").also((1, 1), "their disc")
    assert beside.text(cells) == (
        "own disc on the edge with an own disc next to it and an enemy disc next to it diagonally"
    )
    assert len({term.images(cells)[0] for term in beside.images(cells)}) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", [NAMES[0], NAMES[-1]])  # one word a side of 46 and of 64 bits
def test_kernels_of_terms_agree_with_their_data_and_load_from_both_files(
    name: str, tmp_path: Path
) -> None:
    game = games.load(name)
    terms = named(cells_of(game), some_terms(game, 6, 2))
    features = feature_set_of(cells_of(game), terms)
    rows = np.array(positions(name))
    around = Neighbours(cells_of(game), cells_of(game).words(rows))
    expected = np.array([term.difference(around) for term in terms.values()]).T
    assert (features.measure(rows) == expected).all()
    assert [features.values(p) for p in positions(name)] == expected.tolist()
    # the value, of all terms at once, in the file of weights, which holds the terms as data
    given = LinearEvaluator(game, features, np.linspace(-1.0, 2.0, 6))
    given.save(tmp_path / "own.json")
    found = load_evaluator(tmp_path / "own.json", game=games.load(name))
    assert found.features.cell_terms == terms
    want = expected @ given.weights
    assert [found(p) for p in positions(name)] == pytest.approx(want)
    assert [found.plain()(p) for p in positions(name)] == pytest.approx(want)
    # a copy for a worker, and the file for people
    assert pickle.loads(pickle.dumps(found)).features.cell_terms == terms
    (tmp_path / "own.py").write_text(
        term_file(game, cells_of(game), name, given.term_weights(), features), "utf-8"
    )
    again = load_features(tmp_path / "own.py", game)
    assert again.name == "invented" and again.names == features.names and again.together
    assert (again.measure(rows) == expected).all()
    # the file of weights beside a set of the same terms, as with --features
    (tmp_path / "invented.py").write_bytes((tmp_path / "own.py").read_bytes())
    beside = add_features(games.load(name), str(tmp_path / "invented.py"))
    assert load_evaluator(tmp_path / "own.json", game=beside).features.names == features.names


def test_a_file_with_terms_that_are_none_is_refused(tmp_path: Path) -> None:
    game, file = games.load("checkers"), tmp_path / "own.json"
    features = feature_set_of(cells_of(game), named(cells_of(game), [CellTerm("man", "back row")]))
    LinearEvaluator(game, features, [1.0]).save(file)
    good = file.read_text("utf-8")
    for bad in ('"double corner"', '"back row", []', "[1]"):
        file.write_text(good.replace('"back row"', bad), "utf-8")
        with pytest.raises(
            EvaluatorError, match="a term over the cells .* which areas have new names"
        ):
            load_evaluator(file, game=game)
    file.write_text(good.replace('"man_on_back_row": [', '"moon": ['), "utf-8")
    with pytest.raises(EvaluatorError, match=r"expected the names \['man_on_back_row'\]"):
        load_evaluator(file, game=game)


def test_a_term_says_itself_in_words_and_as_a_board() -> None:
    cells = cells_of(games.load("checkers"))
    term = CellTerm("man", "back row").also((0, -2), OFF).also((-1, 1), "their king")
    assert term.text(cells) == (
        "own man on the back row with an enemy king ahead to the right and the board's edge two"
        " to the left"
    )
    assert term.name(cells) == "man_on_back_row_with_their_king_ahead_right_and_edge_two_left"
    assert term.drawing(cells) == [" .  .  .  k", " #  . [M] ."]
    four = cells_of(games.load("connect_four"))
    assert CellTerm(EMPTY, "4th column").also((1, 0), "stone").text(four) == (
        "empty square in the 4th column with an own stone below"
    )


@pytest.mark.parametrize("name", ["sliding8", "sliding24"])
def test_tiles_are_told_apart_by_where_their_homes_lie(name: str) -> None:
    problem = games.load(name)
    cells, width = cells_of(problem), problem.width
    ways = {
        (0, 0): "tile at home", (0, 1): "tile due right", (0, -1): "tile due left",
        (1, 0): "tile due down", (-1, 0): "tile due up",
    }  # fmt: skip
    for seed in range(5):
        position = problem.random_position(seed)
        held = {kind: set[int]() for kind in cells.kinds}
        far = 0
        for square, tile in enumerate(problem.tiles(position)):
            down, right = tile // width - square // width, tile % width - square % width
            way = ways.get((int(np.sign(down)), int(np.sign(right))), "tile astray")
            held[way if tile else "blank"].add(square)
            far += (abs(down) + abs(right)) * (tile > 0)
        steps = "step to go" if "step to go" in held else "two steps to go"
        held[steps] = set(range(min(far // (1 if steps == "step to go" else 2), 52)))
        words = cells.words([position])
        for kind, squares in held.items():
            assert int(words[kind][0, 0]) == sum(1 << square for square in squares), kind
        goal = cells.words([problem.goal()])
        assert all((words[kind][1] == goal[kind][0]).all() for kind in held)
        term = CellTerm("tile due left").also((0, -1), "tile due right")
        marked = Neighbours(cells, words).board_squares(term, 0)
        pairs = {s for s in held["tile due left"] if s % width and s - 1 in held["tile due right"]}
        assert set(marked) == pairs


def test_check_game_compares_cells_with_the_board() -> None:
    cells = cells_of(ConnectFour())

    class Shifted(ConnectFour):
        extras = (*ConnectFour.extras[:1], replace(cells, bits={s: s for s in range(42)}))

    with pytest.raises(ContractError, match="cells hold the pieces that the board shows"):
        check_game(Shifted())

    class Bare(Nim):
        extras = (cells,)

    with pytest.raises(ContractError, match="cells are those of a board"):
        check_game(Bare())
    with pytest.raises(ValueError, match="expected different bits from 0 to 63"):
        replace(cells, bits={0: 1, 1: 64})
    with pytest.raises(ValueError, match="expected names of words, found 'man!'"):
        replace(cells, kinds={"man!": cells.kinds["stone"]})
