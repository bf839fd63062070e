"""Files of matches as GNU Backgammon itself reads them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from game_trees import read_game_trees

from games import load
from games.backgammon.match_file import read_matches, write_match
from games.backgammon.record import BackgammonRecord
from games.backgammon.situation import roll_of
from games.contract import starts

GAME: Any = load("backgammon")
# Debian keeps games in a folder that is not on every path.
GNUBG = shutil.which("gnubg") or shutil.which("/usr/games/gnubg")
pytestmark = pytest.mark.skipif(GNUBG is None, reason="GNU Backgammon is not installed")


def played(start: Any, choose: random.Random, **rules: Any) -> BackgammonRecord:
    """Returns a game of random moves in which doubles are offered, taken and dropped."""
    record = BackgammonRecord(GAME, start, **rules)
    while not record.over:
        if record.ply and record.may_double and choose.random() < 0.1 and record.cube < 64:
            record.act("double")
            record.act("drop") if choose.random() < 0.4 else record.act("take")
            continue
        if record.ply > 20 and choose.random() < 0.01:
            record.resign(choose.randrange(2), 1 + choose.randrange(3))
            continue
        dice = choose.randrange(1, 7), choose.randrange(1, 7)
        if not record.ply and dice[0] == dice[1]:
            continue
        roll = roll_of(*dice)
        record.play(choose.choice(GAME.legal_moves(record.position, roll)), roll=roll)
    return record


def a_match(length: int, seed: int) -> list[BackgammonRecord]:
    """Returns the games of a match, or of a session of eight games for money."""
    choose = random.Random(seed)
    records: list[BackgammonRecord] = []
    score, crawford_over = (0, 0), False
    while len(records) < 8 and not (length and max(score) >= length):
        crawford = length > 1 and not crawford_over and max(score) == length - 1
        crawford_over |= crawford
        start = starts(GAME)[choose.randrange(2)]
        rules: dict[str, Any] = {"match_length": length, "score": score, "crawford": crawford}
        records.append(played(start, choose, **rules))
        score = records[-1].final_score() or score
    return records


def through_gnubg(text: str, folder: Path) -> list[Any]:
    """Returns the games of a .mat file as GNU Backgammon reads it and saves it again."""
    (folder / "in.mat").write_text(text)
    (folder / "commands").write_text("import mat in.mat\nsave match out.sgf\n")
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "LANG": "C"}
    command = [str(GNUBG), "-t", "-q", "-c", "commands"]
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=120, check=True)  # fmt: skip
    return [tree.game for tree in read_game_trees((folder / "out.sgf").read_text(), GAME)]


def content(record: Any) -> tuple[Any, ...]:
    """Returns what a game is: its score, its rolls, moves, actions of the cube, and its result."""
    played = tuple(zip(record.rolls, record.moves, strict=True))
    actions = tuple((one.ply, one.side, one.kind) for one in record.actions)
    return record.match_length, record.score, played, actions, record.outcome()


@pytest.mark.parametrize("length", [1, 3, 7, 0])
@pytest.mark.parametrize("seed", range(3))
def test_gnu_backgammon_reads_the_same_games(length: int, seed: int, tmp_path: Path) -> None:
    records = a_match(length, seed)
    text = write_match(records, ("Ann", "Bob"))
    expected = [content(record) for record in records]
    (match,) = read_matches(text, GAME)
    assert [content(one.record) for one in match.games] == expected
    read = through_gnubg(text, tmp_path)
    assert [one.problems for one in read] == [[]] * len(records), text
    assert [content(one.record) for one in read] == expected, text
