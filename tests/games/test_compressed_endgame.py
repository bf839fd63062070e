"""Compressed endgame databases: every position against the database, files and the search."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

from games import kernels
from games.checkers import Checkers
from games.checkers.endgame import (
    Compressed,
    Endgame,
    EndgameError,
    build,
    compress,
    database,
    read_compressed,
    runs,
)
from games.checkers.endgame.__main__ import main
from games.checkers.endgame.compressed import compare, compressed_path
from games.checkers.endgame.database import path_of, read
from games.checkers.endgame.numbering import position_of, positions_of, slices
from games.checkers.rules import WHITE, noisy, turn
from games.values import EXACT, LOWER, UNKNOWN_PLIES, UPPER, WIN
from search import PROVEN, Engine
from search.lookups.database import DatabaseLookup
from search.lookups.lookup import Lookup

plain = pytest.mark.plain
compiled_only = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

GAME = Checkers()
FEW = 3 if kernels.compiled else 2
CHECKED = 4 if kernels.compiled else 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the databases of two and three pieces, and their compressed ones."""
    path = tmp_path_factory.mktemp("endgames")
    for pieces in range(2, FEW + 1):
        build(pieces, path, threads=1)
        compress(pieces, path)
    return path


@pytest.fixture(scope="module")
def larger(folder: Path) -> Path:
    """The same folder with those of four pieces, for thorough tests."""
    build(CHECKED, folder, threads=1)
    compress(CHECKED, folder)
    return folder


def both(folder: Path, pieces: int) -> tuple[Compressed, Endgame]:
    return read_compressed(pieces, folder), read(path_of(pieces, folder), pieces)


@plain
def test_every_quiet_position_has_its_result(folder: Path) -> None:
    found, source = both(folder, FEW)
    kinds = {1: (WIN - UNKNOWN_PLIES, LOWER), -1: (UNKNOWN_PLIES - WIN, UPPER), 0: (0.0, EXACT)}
    seen = {False: 0, True: 0}
    for material in slices(FEW):
        for number, value in enumerate(np.sign(source.slice_values(material)).tolist()):
            own, opponent, crowned, _ = at = position_of(number, *material)
            waits = noisy(at)
            seen[waits] += 1
            for same in (at, (turn(own), turn(opponent), turn(crowned), WHITE)):
                known, result, depth, bound = runs.probe(found.tables, same)
                assert known is not waits
                if known:
                    assert (result, bound) == kinds[value]
                    assert depth == 127
    assert min(seen.values()) > 100


@plain
@pytest.mark.thorough
def test_every_quiet_position_of_four_pieces_is_compared(larger: Path) -> None:
    found, source = both(larger, CHECKED)
    counted: list[int] = []
    compare(found, source, progress=counted.append)
    assert sum(counted) == sum(map(positions_of, slices(CHECKED)))


@plain
def test_a_wrong_result_is_found(folder: Path) -> None:
    found, source = both(folder, 2)
    for place in range(0, len(source.values), 97):
        values = source.values.copy()
        values[place] = -values[place] or 1
        wrong = Endgame(2, source.starts, values)
        if any(
            not np.array_equal(wrong.slice_values(m), source.slice_values(m)) for m in slices(2)
        ):
            with pytest.raises(EndgameError, match="expected the (counts|result)"):
                compare(found, wrong)


def test_blocks_of_any_runs_are_read_back() -> None:
    random = np.random.default_rng(0)
    place = runs.BLOCK
    for share in (0.0, 0.003, 0.03, 0.3, 0.9):
        count = int(random.integers(3 * place, 4 * place))
        changes = random.random(count) < share
        results = (np.cumsum(changes * random.integers(1, 3, count)) % 3).astype(np.int8)
        results[random.random(count) < 0.2] = runs.ANY
        blocks = np.zeros(-(-count // place), dtype=np.int64)
        codes = np.zeros(count, dtype=np.uint8)
        runs._encode(results, blocks, codes)
        packed = blocks.astype(np.uint32).view(np.int32)
        got = [runs.result_at(packed, codes.view(np.int8), i) for i in range(count)]
        wrong = (results != np.array(got)) & (results != runs.ANY)
        assert not wrong.any()
        assert set(got) <= {runs.DRAW, runs.WON, runs.LOST}


# --- files -----------------------------------------------------------------------------------


@plain
def test_the_command_says_sizes_and_exact_counts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--pieces", str(FEW), "--directory", str(folder)]
    assert main(["compress", *where, "--quiet"]) == 0
    assert main(["verify", "--compressed", *where, "--quiet"]) == 0
    assert "every quiet position has the result" in capsys.readouterr().out
    assert main(["info", "--compressed", "--slices", *where, "--json"]) == 0
    rows = {row["of"]: row for row in json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]}
    two = rows["2 pieces, 4 of 4 slices"]
    assert [two[name] for name in ("positions", "wins", "losses", "draws")] == [
        6976, 1432, 804, 4740,
    ]  # fmt: skip
    assert rows["1K v 1"]["positions"] == 868
    assert sum(row["bytes"] for of, row in rows.items() if " pieces" in of) < 10_000


def cut_short(pieces: int, folder: Path, after: int) -> None:
    """Compress until `after` slices are written, and stop as Ctrl-C does."""
    told: list[int] = []

    def progress(positions: int) -> None:
        told.append(positions)
        if len(told) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compress(pieces, folder, progress=progress)


@plain
def test_compressing_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    path_of(2, tmp_path).write_bytes(path_of(2, folder).read_bytes())
    whole = compressed_path(2, folder).read_bytes()
    unfinished = compressed_path(2, tmp_path).with_suffix(".unfinished")
    for damage in (b"", b"half a slice"):
        cut_short(2, tmp_path, 2)
        begun = unfinished.read_bytes()
        assert whole.startswith(begun) and len(begun) > 384
        assert not compressed_path(2, tmp_path).exists()
        unfinished.write_bytes(begun + damage)
        assert compress(2, tmp_path).read_bytes() == whole
        assert not unfinished.exists()
        compressed_path(2, tmp_path).unlink()


@plain
def test_slices_that_exist_are_compressed_and_used(folder: Path, tmp_path: Path) -> None:
    # a build of three pieces that was stopped after the slices of two
    begun = path_of(FEW, tmp_path).with_suffix(".unfinished")
    stop = path_of(2, folder).stat().st_size
    begun.write_bytes(path_of(FEW, folder).read_bytes()[: stop + (300 if FEW > 2 else -1)])
    compress(FEW, tmp_path)
    part, whole = read_compressed(FEW, tmp_path), read_compressed(FEW, folder)
    held = {known.material for known in part.slices}
    assert 0 < len(held) < len(slices(FEW))
    for material in slices(FEW):
        for number in range(0, positions_of(material), 53):
            at = position_of(number, *material)
            expected = runs.probe(whole.tables, at) if material in held else (False, 0.0, 0, EXACT)
            assert runs.probe(part.tables, at) == expected
    # the build goes on, and so does compressing, from the slices there are
    path_of(FEW, tmp_path).write_bytes(path_of(FEW, folder).read_bytes())
    assert compress(FEW, tmp_path).read_bytes() == compressed_path(FEW, folder).read_bytes()


@plain
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:400] + bytes([content[400] ^ 1]) + content[401:],
        lambda content: content.replace(b'"wins": ', b'"wins": 1', 1),
        lambda content: content.replace(b"wdl-1", b"wdl-0"),
        lambda content: b"",
        lambda content: b"[" * 1000,
        lambda content: content + content,
    ],
)  # fmt: skip
def test_damaged_files_are_refused_and_replaced(damage: Any, folder: Path, tmp_path: Path) -> None:
    path_of(2, tmp_path).write_bytes(path_of(2, folder).read_bytes())
    whole = compressed_path(2, folder).read_bytes()
    path = compressed_path(2, tmp_path)
    path.write_bytes(damage(whole))
    with pytest.raises(EndgameError, match=r"checkers-wdl-2.bin: expected.*, found "):
        read_compressed(2, tmp_path)
    assert compress(2, tmp_path).read_bytes() == whole


# --- in the search ---------------------------------------------------------------------------


@compiled_only
def test_searches_agree_with_the_database_on_every_kind_of_position(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "user_cache_dir", lambda *_, **__: str(folder))
    lookup = DatabaseLookup(GAME, "wdl3")
    assert len(pickle.dumps(lookup)) < 1000
    engine = Engine(GAME, "classic", lookup=lookup, table_mib=0.1)
    python = lookup.plain()
    source = read(path_of(3, folder), 3)
    random = np.random.default_rng(1)
    seen = {1: 0, 0: 0, -1: 0}
    for material in slices(3):
        values = source.slice_values(material)
        for number in random.integers(0, len(values), 40).tolist():
            at = position_of(number, *material)
            assert python(at) == runs.probe(lookup.tables, at)
            if not GAME.legal_moves(at):
                continue
            # a capture may be pending: the search plays it out before it asks
            value = engine.search(at, depth=1).value
            result = (value > PROVEN) - (value < -PROVEN)
            assert result == np.sign(values[number])
            seen[result] += 1
            engine.clear()
    assert min(seen.values()) > 20


@compiled_only
def test_wins_of_unknown_length_are_won(folder: Path) -> None:
    from benchmarks.endgame import convert, won_positions

    found, source = both(folder, 3)
    engine = Engine(GAME, "classic", lookup=Lookup(runs.probe, found.tables))
    for at, plies in won_positions(source, 31, 61, 4, 0):
        engine.clear()
        value = engine.search(at, depth=1).value
        assert plies <= UNKNOWN_PLIES // 3 <= WIN - value <= UNKNOWN_PLIES + 2
        assert convert(engine, source, at, 20_000) == "won"


test_errors = errors_of(globals())
