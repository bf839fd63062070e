"""Endgame databases of checkers: ground truth, a slow twin, the search, and damaged files."""

from __future__ import annotations

import ctypes
import errno
import functools
import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import cut, flipped
from errors import errors_of
from marks import compiled_only, plain

from benchmarks.endgame_proof import check, tally
from games import kernels
from games.checkers import Checkers
from games.checkers.endgame import (
    Endgame,
    EndgameError,
    EndgameMissing,
    build,
    building,
    database,
    endgame,
    probe,
    results,
)
from games.checkers.endgame.__main__ import main
from games.checkers.endgame.database import HEADER, empty, path_of, read, record
from games.checkers.endgame.numbering import (
    Material,
    number_of,
    pairs,
    position_of,
    positions_of,
    slices,
)
from games.checkers.endgame.retrograde import place_of
from games.checkers.rules import BLACK, FIRST_ROW, LAST_ROW, START, WHITE, jumpers, turn
from games.record import GameRecord
from games.tic_tac_toe import TicTacToe
from play.players.parse import parse_player
from programs.lock import LockedError, alone
from programs.whole_files import write_atomically
from search import PROVEN, WIN, Engine
from search.line import QUIET_PLIES
from search.lookups.database import DatabaseLookup

GAME = Checkers()
#: Number of pieces of the databases whose positions are all compared one by one.
FEW = 3 if kernels.compiled else 2


@functools.cache
def built(pieces: int) -> Endgame:
    """Returns a database built in memory."""
    made = empty(pieces)
    for materials in building.solve(made, 0, threads=2):
        for material in materials:
            record(made, material)
    return made


def of_pieces(pieces: int) -> list[Material]:
    return [material for material in slices(pieces) if sum(material) == pieces]


def position(text: str) -> Any:
    return GAME.parse_position(text)


# --- numbers of positions --------------------------------------------------------------------


@functools.cache
def placements(pieces: int) -> dict[Material, set[Any]]:
    """Returns all positions with Black to move, by material; both sides have a piece."""
    squares = [1 << bit for bit in range(35) if bit not in (8, 17, 26)]
    found: dict[Material, set[Any]] = {material: set() for material in of_pieces(pieces)}
    for chosen in itertools.combinations(squares, pieces):
        for kinds in itertools.product("mkMK", repeat=pieces):
            board = dict(zip(chosen, kinds, strict=True))
            of = {kind: sum(s for s, k in board.items() if k == kind) for kind in "mkMK"}
            if of["m"] & LAST_ROW or of["M"] & FIRST_ROW:
                continue
            own, opponent = of["m"] | of["k"], of["M"] | of["K"]
            if own and opponent:
                material = tuple(kinds.count(kind) for kind in "mkMK")
                found[material].add((own, opponent, of["k"] | of["K"], BLACK))  # type: ignore[index]
    return found


@plain
def test_numbers_are_those_of_all_positions_and_none_is_left_out() -> None:
    for material, expected in placements(2).items():
        assert positions_of(material) == len(expected)
        numbered = {position_of(number, *material) for number in range(len(expected))}
        assert numbered == expected
        for at in expected:
            assert position_of(number_of(*at[:3]), *material) == at


@plain
def test_numbers_of_larger_slices_go_there_and_back() -> None:
    random = np.random.default_rng(0)
    for material in slices(6):
        size = positions_of(material)
        numbers = [0, 1, size // 2, size - 1, *random.integers(0, size, 10).tolist()]
        seen = set()
        for number in numbers:
            own, opponent, kings, side = position_of(number, *material)
            seen.add((own, opponent, kings))
            assert side == BLACK
            assert own & opponent == 0
            assert (own & ~kings) & LAST_ROW == (opponent & ~kings) & FIRST_ROW == 0
            counts = [own & ~kings, own & kings, opponent & ~kings, opponent & kings]
            assert tuple(board.bit_count() for board in counts) == material
            assert number_of(own, opponent, kings) == number
        assert len(seen) == len(set(numbers))


@plain
@pytest.mark.parametrize(
    ("pieces", "positions"),
    [(2, 6_976), (3, 392_064), (4, 12_418_632), (5, 278_901_616), (6, 4_852_171_352)],
)
def test_slices_hold_as_many_positions_as_there_are(pieces: int, positions: int) -> None:
    # all placements except those of one side alone, for both sides to move
    assert 2 * sum(map(positions_of, of_pieces(pieces))) == positions


@plain
def test_slices_come_after_those_that_their_moves_lead_to() -> None:
    order = {material: i for i, pair in enumerate(pairs(6)) for material in pair}
    assert list(order) == slices(6)
    for (own_men, own_kings, his_men, his_kings), place in order.items():
        if own_men:
            assert order[his_men, his_kings, own_men - 1, own_kings + 1] < place
        for taken in ((1, 0), (0, 1)):
            left = (his_men - taken[0], his_kings - taken[1])
            if min(left) >= 0 and left != (0, 0):
                assert order[*left, own_men, own_kings] < place
        assert order[his_men, his_kings, own_men, own_kings] == place
    assert slices(6)[: len(slices(5))] == slices(5)


# --- values ----------------------------------------------------------------------------------


@compiled_only
@pytest.mark.parametrize(
    ("pieces", "wins", "losses", "draws", "longest"),
    [
        (2, 1_432, 804, 4_740, (13, 12)),
        (3, 200_500, 174_610, 16_954, (61, 62)),
        (4, 5_148_608, 3_834_180, 3_435_844, (109, 108)),
    ],
)
def test_counts_are_those_of_ground_truth(
    pieces: int, wins: int, losses: int, draws: int, longest: tuple[int, int]
) -> None:
    found = tally(built(4), *of_pieces(pieces))
    assert (2 * found.wins, 2 * found.losses, 2 * found.draws) == (wins, losses, draws)
    assert (found.longest_win, found.longest_loss) == longest


@plain
@pytest.mark.thorough
def test_every_value_follows_from_those_of_the_moves() -> None:
    seen: list[int] = []
    made = built(4 if kernels.compiled else 2)
    check(made, threads=2, progress=seen.append)
    assert sum(seen) == sum(map(positions_of, slices(made.pieces)))


@plain
@pytest.mark.parametrize("change", [1, -1])
def test_a_value_that_is_wrong_is_found(change: int) -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        made = built(2)
        wrong = Endgame(2, made.starts, made.values.copy())
        material = slices(2)[int(random.integers(len(slices(2))))]
        number = int(random.integers(positions_of(material)))
        wrong.slice_values(material)[number] += change
        with pytest.raises(EndgameError, match="expected the value that its moves give"):
            check(wrong)


@plain
def test_colours_are_alike_and_other_positions_are_not_found() -> None:
    tables = built(2).tables
    assert probe(tables, position("B:WK32:BK1")) == probe(tables, position("W:WK32:BK1"))
    assert probe(tables, position("B:WK22:BK18"))[:2] == (True, WIN - 1)
    assert probe(tables, position("W:WK22:BK18"))[:2] == (True, WIN - 1)
    for at in (START, position("B:WK32:BK1,K2"), position("B:WK32:B"), position("B:W:BK1")):
        assert probe(tables, at) == (False, 0.0, 0)
        assert place_of(tables[0], at) == -1


@plain
def test_a_win_that_is_too_long_for_a_byte_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "FARTHEST", 5)
    with pytest.raises(
        EndgameError, match="expected wins in at most 9 plies, because a value is a byte"
    ):
        list(building.solve(empty(2), 0, threads=1))


# --- in the search ---------------------------------------------------------------------------


def lookup_in(folder: Path, pieces: int, monkeypatch: pytest.MonkeyPatch) -> DatabaseLookup:
    """Returns the lookup of a database in a folder."""
    monkeypatch.setattr(database, "user_cache_dir", lambda *_, **__: str(folder))
    return DatabaseLookup(GAME, f"endgame{pieces}")


@compiled_only
def test_the_lookup_answers_natively_as_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = lookup_in(tmp_path, 3, monkeypatch)
    again = pickle.loads(pickle.dumps(lookup))
    assert len(pickle.dumps(lookup)) < 1000
    python = again.plain()
    address, data, keep = lookup.native(GAME)
    ask = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)
    answer = np.zeros(2, dtype=np.int64)
    random = np.random.default_rng(2)
    asked = [START]
    for material in slices(3):
        for number in random.integers(0, positions_of(material), 10).tolist():
            own, opponent, kings, _ = at = position_of(number, *material)
            asked += [at, (turn(own), turn(opponent), turn(kings), WHITE)]
    for at in asked:
        row = np.array(at, dtype=np.int64)
        found = ask(data, row.ctypes.data, answer.ctypes.data)
        expected = python(at)
        assert found == expected[0] == (at != START)
        if found:
            assert (answer.view(np.float64)[0], *answer[1:]) == expected[1:]
    del keep


def samples(pieces: int, least: int, most: int, count: int) -> list[tuple[Any, int]]:
    """Returns positions won in `least` to `most` plies, of all materials, with the plies."""
    random = np.random.default_rng(3)
    found = []
    for material in of_pieces(pieces):
        values = built(4).slice_values(material).astype(int)
        numbers = np.flatnonzero((2 * values - 1 >= least) & (2 * values - 1 <= most))
        for number in random.permutation(numbers)[:count].tolist():
            found.append((position_of(number, *material), 2 * int(values[number]) - 1))
    return found


@compiled_only
@pytest.mark.parametrize("pieces", [2, 3, 4])
def test_searches_announce_the_same_win_with_and_without(
    pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = lookup_in(tmp_path, 3, monkeypatch)
    alone, asking = Engine(GAME, "classic"), Engine(GAME, "classic", lookup=lookup)
    seen = samples(pieces, 3, 9, 4)
    assert len(seen) > 10
    for at, plies in seen:
        assert alone.search(at, depth=plies).value == WIN - plies
        found = asking.search(at, depth=plies if pieces > 3 else 1)
        assert found.value == WIN - plies
        # the database answers long before the search could see the end
        if pieces <= 3:
            assert found.lookup_hits > 0
        value = probe(built(4).tables, GAME.play(at, found.move))[1]
        assert value == plies - 1 - WIN


@compiled_only
def test_long_wins_are_played_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically(path_of(4, tmp_path), built(4).values.data)
    lookup = lookup_in(tmp_path, 4, monkeypatch)
    engine = Engine(GAME, "classic", lookup=lookup)
    for at, plies in [*samples(3, 55, 61, 1), *samples(4, 101, 109, 1)]:
        record = GameRecord(GAME, at)
        while not record.over:
            result = engine.search(record.position, depth=2, history=record.history)
            won = result.value if len(record.moves) % 2 == 0 else -result.value
            left = WIN - probe(built(4).tables, record.position)[1]
            sure = len(record.history) + min(left, 2 * WIN - left) <= QUIET_PLIES
            # with moves of both sides behind, a win that comes after the draw is not announced
            assert won > 0 and (won > PROVEN or not sure), record.position
            record.play(result.move)
        assert record.outcome() == (1 if at[3] == BLACK else -1) and len(record.moves) <= plies


@compiled_only
def test_a_win_that_comes_after_the_draw_by_quiet_moves_is_not_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(GAME, "classic", lookup=lookup_in(tmp_path, 3, monkeypatch))
    kings = next(at for at, _ in samples(3, 21, 21, 9) if at[2] == at[0] | at[1])
    for quiet in range(QUIET_PLIES):
        shallow = engine.search(kings, depth=1, history=[START] * quiet).value
        assert (shallow > PROVEN) == (quiet <= QUIET_PLIES - 21)
    assert engine.search(kings, depth=9, history=[START] * (QUIET_PLIES - 8)).value == 0.0


@compiled_only
def test_players_name_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "user_cache_dir", lambda *_, **__: str(tmp_path))
    write_atomically(path_of(4), built(4).values.data)
    three = parse_player(GAME, "classic+endgame3").lookup
    assert three is not None and three.tables[1] is endgame(3).values
    player = parse_player(GAME, "classic+endgame")
    assert player.name == "classic+endgame" and player.lookup is not None
    assert player.lookup.tables[1] is endgame(4).values
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkers-endgame-3.bin",
        "checkers-endgame-4.bin",
    ]
    with pytest.raises(FileNotFoundError, match=r"expected .* of 5 pieces, which does not exist"):
        parse_player(GAME, "classic+endgame5")
    with pytest.raises(ValueError, match="expected endgame, .*results5; found 'endgame7'"):
        parse_player(GAME, "classic+endgame7")
    with pytest.raises(ValueError, match="lookup of tic_tac_toe: expected no name.*'endgame'"):
        parse_player(TicTacToe(), "open_lines+endgame")


# --- results without lengths -----------------------------------------------------------------


@kernels.kernel
def differences(tables: Any, whole: Any, material: Any, begin: Any, end: Any) -> Any:
    """Returns the numbers of a slice whose result differs from the database's, and of captures."""
    own_men, own_kings, his_men, his_kings = material
    wrong = captures = 0
    for number in range(begin, end):
        at = position_of(number, own_men, own_kings, his_men, his_kings)
        known, value, _ = results.probe_results(tables, at)
        if jumpers(at):
            captures += 1
            wrong += int(known)
        else:
            expected = probe(whole, at)[1]
            right = (value > 0) == (expected > 0) and (value < 0) == (expected < 0)
            wrong += int(not known or not right)
    return wrong, captures


@plain
def test_packed_results_are_those_of_the_database() -> None:
    whole = built(4 if kernels.compiled else 2)
    fewer = whole if whole.pieces == 2 else built(3)
    tables = (*fewer.tables, *results.unpacked(results.packed(whole), whole.pieces))
    for material in of_pieces(whole.pieces):
        count = positions_of(material)
        wrong, captures = differences(tables, whole.tables, material, 0, count)
        assert wrong == 0 and 0 < captures < count, material
    assert results.probe_results(tables, START) == (False, 0.0, 0)


def result_of(at: Any) -> float:
    """Returns the result of a position of at most five pieces for the side to move."""
    known, value, _ = results.probe_results(results.tables(), at)
    if known or not GAME.legal_moves(at):
        return float(np.sign(value)) if known else -1.0
    return max(-result_of(GAME.play(at, move)) for move in GAME.legal_moves(at))


@compiled_only
def test_shipped_results_follow_from_those_of_the_moves() -> None:
    random = np.random.default_rng(4)
    seen = []
    for material in of_pieces(results.PIECES):
        for number in random.integers(0, positions_of(material), 25).tolist():
            at = position_of(number, *material)
            if not jumpers(at) and GAME.legal_moves(at):
                after = [result_of(GAME.play(at, move)) for move in GAME.legal_moves(at)]
                seen.append(result_of(at))
                assert seen[-1] == -min(after), GAME.position_text(at)
    assert min(seen.count(result) for result in (-1, 0, 1)) > 20


@compiled_only
def test_searches_win_and_draw_by_results_alone() -> None:
    engine = Engine(GAME, "quantised", lookup=DatabaseLookup(GAME, "results5"))
    drawn = position("W:WK26,K22:BK15,K14,13")
    assert engine.search(drawn, nodes=100).value_text == "drawn"
    record = GameRecord(GAME, position("B:WK1,K5,28:BK15,K14"))
    while not record.over:
        record.play(engine.search(record.position, nodes=20_000, history=record.history).move)
    assert record.outcome() == -1


# --- files -----------------------------------------------------------------------------------


@functools.cache
def image(pieces: int) -> bytes:
    return built(pieces).values.tobytes()


@plain
def test_a_database_is_built_at_first_use_and_then_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = endgame(2, tmp_path)
    assert path_of(2, tmp_path).read_bytes() == image(2) == first.values.tobytes()
    monkeypatch.setattr(building, "solve", None)
    assert endgame(2, tmp_path) is first
    assert read(path_of(2, tmp_path), 2).values.tobytes() == image(2)
    assert [path.name for path in tmp_path.iterdir()] == ["checkers-endgame-2.bin"]
    with pytest.raises(EndgameMissing, match="build it with: python -m games.checkers.endgame"):
        endgame(5, tmp_path)


@plain
def test_a_database_does_without_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert endgame(2, tmp_path / "file" / "folder").values.tobytes() == image(2)


@plain
def test_a_file_says_what_it_is(tmp_path: Path) -> None:
    content = build(FEW, tmp_path).read_bytes()
    place = 0
    for material in slices(FEW):
        facts = json.loads(content[place : place + HEADER])
        assert facts["format"] == database.FORMAT
        assert facts["men and kings to move, men and kings of the other"] == list(material)
        assert facts["positions"] == positions_of(material)
        place += HEADER + positions_of(material)
    assert place == len(content)


@plain
@pytest.mark.parametrize(
    "damage",
    [
        cut, flipped(0), flipped(20), flipped(HEADER), flipped(2000), flipped(-1),
        lambda content: b"", lambda content: content + b"\0", lambda content: b"{}",
        lambda content: content.replace(b"endgame-1", b"endgame-0"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_and_replaced(damage: Any, tmp_path: Path) -> None:
    path = path_of(2, tmp_path)
    path.write_bytes(damage(image(2)))
    assert path.read_bytes() != image(2)
    for ask in (lambda: read(path, 2), lambda: endgame(2, tmp_path)):
        with pytest.raises(EndgameError, match=r"checkers-endgame-2.bin: .*expected.*, found "):
            ask()
    build(2, tmp_path)
    assert path.read_bytes() == image(2)
    assert tally(read(path, 2), *slices(2)) == tally(built(2), *slices(2))


class Broken(Exception):
    pass


def broken_off(pieces: int, folder: Path, after: int) -> bytes:
    """Returns the file left by a build that is interrupted after `after` slices."""
    known: list[Material] = []

    def progress(materials: list[Material]) -> None:
        known.extend(materials)
        if len(known) >= after:
            raise Broken

    with pytest.raises(Broken):
        build(pieces, folder, threads=1, progress=progress)
    assert not path_of(pieces, folder).exists()
    return path_of(pieces, folder).with_suffix(".unfinished").read_bytes()


@plain
def test_a_build_goes_on_where_it_was_broken_off_to_the_same_bits(tmp_path: Path) -> None:
    left = broken_off(FEW, tmp_path, 2)
    assert left == image(FEW)[: len(left)]
    unfinished = path_of(FEW, tmp_path).with_suffix(".unfinished")
    first = HEADER + positions_of(slices(2)[0])
    for content, known in [
        (left, len(left) > first),  # a single pair
        (left + image(FEW)[len(left) : len(left) + 300], True),  # killed while writing
        (left[: first + 100], True),
        (left[:-1] + b"\7", True),  # the last slice is damaged
        (left[: HEADER // 2], False),
        (b"something else", False),
    ]:
        unfinished.write_bytes(content)
        told: list[list[Material]] = []
        assert build(FEW, tmp_path, threads=2, progress=told.append).read_bytes() == image(FEW)
        assert bool(told[0]) == known
        assert [material for materials in told for material in materials] == slices(FEW)
        assert [path.name for path in tmp_path.iterdir()] == [path_of(FEW).name]
        path_of(FEW, tmp_path).unlink()


@compiled_only
def test_more_pieces_begin_with_what_is_there(tmp_path: Path) -> None:
    build(2, tmp_path)
    told: list[list[Material]] = []
    assert build(3, tmp_path, progress=told.append).read_bytes() == image(3)
    assert told[0] == slices(2)
    assert image(3)[: len(image(2))] == image(2)
    told.clear()
    build(3, tmp_path, progress=told.append)
    assert told == [slices(3)]


@plain
def test_a_full_disk_is_told_and_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        usage = type("Usage", (), {"free": 100})
        patch.setattr(building.shutil, "disk_usage", lambda path: usage)
        with pytest.raises(OSError, match=r"expected \d+ bytes of free space, found 100"):
            build(2, tmp_path)
    calls: list[Material] = []

    def full(made: Endgame, material: Material) -> Any:
        calls.append(material)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return record(made, material)

    with monkeypatch.context() as patch:
        patch.setattr(building.database, "record", full)
        with pytest.raises(OSError, match="No space left on device; the next build continues"):
            build(2, tmp_path)
    told: list[list[Material]] = []
    assert build(2, tmp_path, progress=told.append).read_bytes() == image(2)
    assert told[0]


@plain
def test_one_process_builds_at_a_time(tmp_path: Path) -> None:
    with alone(path_of(2, tmp_path).with_suffix(".lock"), "it"):
        with pytest.raises(
            LockedError, match="expected no other process to write it, found process"
        ):
            build(2, tmp_path)
    build(2, tmp_path)


# --- commands --------------------------------------------------------------------------------


@plain
def test_the_command_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--pieces", "2", "--directory", str(tmp_path)]
    assert main(["build", *where, "--threads", "1", "--quiet"]) == 0
    path = path_of(2, tmp_path)
    assert capsys.readouterr().out.startswith(f"{path}: {path.stat().st_size} bytes, ")
    assert 2 * tally(read(path, 2), *slices(2)).positions == 6976


test_errors = errors_of(globals())
