"""Whole engines as C: each searches the same tree as Plysmith, and answers wrong lines with one."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import games
from games.record import GameRecord
from play.commands.export import main
from play.players.engine_player import as_engine
from play.players.limits import Limits
from search import Engine
from search.evaluators.load import as_evaluator
from search.evaluators.samples import sample_positions
from search.line import MOST_EARLIER, QUIET_PLIES

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
FLAGS = [*WARNINGS, "-O3", "-march=native"]
HEXAPAWN = "docs.examples.hexapawn:Hexapawn"
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


def built(game: str, evaluator: str, folder: Path, *more: str, flags: Sequence[str] = FLAGS) -> str:
    assert main([evaluator, str(folder), "--game", game, "--name", "net", "--engine", *more]) == 0
    assert [path.name for path in folder.iterdir()] == ["net.c"]
    subprocess.run(["cc", *flags, "net.c", "-o", "net", "-lm"], cwd=folder, check=True)
    return str(folder / "net")


def said(program: str, *lines: str) -> list[str]:
    result = subprocess.run(
        [program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


def words(position: Any) -> str:
    return " ".join(map(str, position))


def answer(result: Any) -> str:
    move = "none" if result.move is None else result.move
    return f"move {move} value {result.value:.17g} depth {result.depth} nodes {result.nodes}"


@pytest.mark.thorough
@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("game", "evaluator", "techniques", "depth"),
    [
        ("checkers", "classic", "exact", 7),
        ("checkers", "quantised", "selective", 7),
        pytest.param(
            "connect_four", "solved", "late_moves=0.8,singular=4", 5, marks=pytest.mark.whole_run
        ),
        ("chinese_checkers2", "hand", "exact,-null_window,-aspiration", 2),
        (HEXAPAWN, "hand", "exact", 9),
        pytest.param(
            "docs.examples.othello:Othello", "hand", "selective", 5, marks=pytest.mark.whole_run
        ),
    ],
)
def test_the_engine_searches_the_same_tree(
    game: str, evaluator: str, techniques: str, depth: int, count: int, tmp_path: Path
) -> None:
    """At a fixed depth and at fixed nodes, also with the table that earlier searches filled."""
    flags = FLAGS if count > 40 else [*WARNINGS, "-O1"]
    program = built(game, evaluator, tmp_path, "--techniques", techniques, flags=flags)
    rules = games.load(game)
    engine = Engine(rules, as_evaluator(rules, evaluator), techniques=techniques)
    lines, expected = [], []
    for number, position in enumerate(sample_positions(rules, count)):
        lines += [f"position {words(position)}", f"go depth {depth}", "go nodes 1000"]
        expected.append(answer(engine.search(position, depth=depth)))
        expected.append(answer(engine.search(position, nodes=1000)))
        if number % 2:
            lines.append("new")
            engine.clear()
    assert said(program, *lines) == expected


@pytest.mark.thorough
def test_the_engine_knows_the_moves_before(tmp_path: Path) -> None:
    """Kings walk, so that positions of the game come again, in more plies than it remembers too."""
    program = built("checkers", "classic", tmp_path, flags=[*WARNINGS, "-O1"])
    for length in (QUIET_PLIES + 4, MOST_EARLIER + 20):
        follow_a_game(program, length)


def follow_a_game(program: str, length: int) -> None:
    game, lots = games.load("checkers"), random.Random(length)
    engine = Engine(game, as_evaluator(game, "classic"))
    kings = 1 | 1 << 34 | 1 << 3 | 1 << 31
    start = (1 | 1 << 34 | 1 << 15, 1 << 3 | 1 << 31, kings, 0)
    position, history, moves = start, [], []
    while len(moves) < length:
        quiet = [
            move
            for move in game.legal_moves(position)
            if game.irreversible(position, move) == (len(moves) == 6)  # a man's, once
            and not game.noisy(game.play(position, move))
        ]
        if not quiet:
            position, history, moves = start, [], []
            continue
        moves.append(lots.choice(quiet))
        history.append(position)
        position = game.play(position, moves[-1])
    lines, expected, differ = [], [], 0
    for played in range(length - 9, length):
        lines += [f"position {words(start)} moves {words(moves[:played])}", "new", "moves"]
        lines.append("go depth 7")
        expected.append(f"moves {words(game.legal_moves(history[played]))}")
        fresh = Engine(game, engine.evaluator).search(history[played], depth=7)
        engine.clear()
        result = engine.search(history[played], depth=7, history=history[7:played])
        expected.append(answer(result))
        differ += result.nodes != fresh.nodes
    assert said(program, *lines) == expected
    assert differ > 0


@pytest.mark.thorough
@pytest.mark.parametrize("evaluator", ["classic", "quantised"])
def test_checkers_is_played_over_hub(evaluator: str, tmp_path: Path) -> None:
    """Our driver sees the move and the value of our search, throughout a game and from its end."""
    program = built("checkers", evaluator, tmp_path)
    game = games.load("checkers")
    engine = Engine(game, as_evaluator(game, evaluator))
    command = as_engine(game, f"hub:{program}")
    assert command is not None
    seat = command(game, Limits(nodes=700))
    record = GameRecord(game)
    seat.begin(0)
    for ply in range(60):
        if record.over:
            break
        expected = engine.search(record.position, nodes=700, history=record.history)
        seat.move(record)
        assert record.moves[-1] == expected.move, ply
    assert ply > 20
    pieces = "".join(["b" * 12, "e" * 8, "w" * 12])
    assert said(program, "hub", "init", "ping", f"pos pos=B{pieces} moves=11-15", "pos pos=B")[
        -2:
    ] == [
        "pong",
        'error message="expected pos= with B or W and 32 of bwBWe"',
    ]
    lines = [f"pos pos=B{pieces}", "level move-time=0.05", "go think", "level depth=3", "go think"]
    timed, deep = (
        line
        for line in said(program, *lines, f'pos pos=B{pieces} moves="11-15 9-13"')
        if "info" in line
    )
    assert int(timed.partition("nodes=")[2].split()[0]) <= 35001
    assert deep.startswith("info depth=3 ")


@pytest.mark.thorough
def test_wrong_lines_and_ended_games(tmp_path: Path) -> None:
    clean = ["-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    program = built("tic_tac_toe", "open_lines", tmp_path, flags=clean)
    game = games.load("tic_tac_toe")
    engine = Engine(game, as_evaluator(game, "open_lines"))
    won = game.start()
    for move in (0, 3, 1, 4, 2):
        won = game.play(won, move)
    help_line = (
        "error tic_tac_toe: position start|3 integers [moves MOVE ...], moves, go depth N,"
        " go nodes N, new, quit"
    )
    lines = {
        "position 1 2": "error expected start or 3 integers",
        "position start moves 0 0": "error expected legal moves",
        "position start moves 0 x": "error expected legal moves",
        "x" * (1 << 17): "error expected a line of at most 65534 characters",
        f"position {words(won)}\ngo depth 3": answer(engine.search(won, depth=3)),
        f"position start{' ' * 3000}\ngo depth 99": answer(engine.search(game.start(), depth=99)),
    }
    for line in ("go depth 0", "go depth", "go", "gone", "", "go nodes -3", "go depth x"):
        lines[line] = help_line
    for line, expected in lines.items():
        assert said(program, line, "quit", "go depth 1") == [expected]


def test_other_games_are_refused(tmp_path: Path, capsys: Any) -> None:
    for game in ("backgammon", "chinese_checkers"):
        assert main(["hand", str(tmp_path / "out"), "--game", game, "--engine"]) == 2
        assert f"expected a game for two without dice, found {game}" in capsys.readouterr().err
    assert main(["checkers/samuel", str(tmp_path / "out"), "--techniques", "exact"]) == 2
    assert "--techniques: expected --engine as well, found none" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
