"""Matches that are stopped and go on: bit for bit the result of one that was never stopped."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from marks import compiled_only
from toys import Pile

import games
from games.checkers import Checkers
from games.record import GameRecord
from play.__main__ import main
from play.matches.driver import play_match
from play.matches.journal import MatchJournal, plain_game, replay
from play.matches.ladder import ladder
from play.matches.report import Match
from play.players.limits import Limits
from play.players.parse import parse_player
from play.ratings.sprt import Sprt
from programs.lock import LockedError

ROOT = Path(__file__).resolve().parents[2]
HEAD = {"seed": 0}
CHECKERS = Checkers()


def stop_at(games: int) -> Any:
    def progress(match: Any) -> None:
        if match.games >= games:
            raise KeyboardInterrupt

    return progress


def played(match: Match) -> list[Any]:
    return [
        (pair.games[side].moves, pair.games[side].annotations, pair.games[side].outcome())
        for pair in match.units
        for side in (0, 1)
    ]


@compiled_only
def test_a_stopped_match_goes_on_to_the_same_result(tmp_path: Path) -> None:
    first, second = (parse_player(CHECKERS, text) for text in ("classic", "random"))
    options: dict[str, Any] = {"limits": Limits(depth=2), "games": 12, "sprt": Sprt(-50, 200)}
    whole = play_match(CHECKERS, first, second, **options)
    path = tmp_path / "match.journal"
    for number, stop in enumerate((4, 8, 99)):
        with MatchJournal.open(path, HEAD, resume=number > 0) as journal:
            match = play_match(
                CHECKERS, first, second, journal=journal, progress=stop_at(stop), **options
            )
        assert match.interrupted == (stop < 99)
        assert played(match) == played(whole)[: len(match.units) * 2] and match.units
    assert played(match) == played(whole)
    assert match.figures() == whole.figures()
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + len(whole.units)
    # a line that was cut short by a kill costs its pair alone
    path.write_text("\n".join(lines)[:-40])
    with MatchJournal.open(path, HEAD, resume=True) as journal:
        name = "classic against random"
        assert len(journal.results(name)) == len(whole.units) - 1
        match = play_match(CHECKERS, first, second, journal=journal, **options)
        journal.finish()
    assert played(match) == played(whole)
    assert not list(tmp_path.iterdir())


def test_repeated_pairs_stay_repeated(tmp_path: Path) -> None:
    game = Pile()
    players = [parse_player(game, "random"), parse_player(game, "random")]
    # few openings, some of them near the end
    openings: Any = [(3, 3, 3, 3, 3, first) for first in (1, 2)] * 12
    options: dict[str, Any] = {"limits": Limits(depth=1), "games": 999, "openings": openings}
    whole = play_match(game, *players, **options)
    assert whole.repeated
    for resume, stop in ((False, 6), (True, 999)):
        with MatchJournal.open(tmp_path / "j", HEAD, resume=resume) as journal:
            match = play_match(game, *players, journal=journal, progress=stop_at(stop), **options)
    assert match.figures() == whole.figures()


@compiled_only
@pytest.mark.parametrize(
    ("players", "options"),
    [
        ("hand random", {"games": 140}),  # in native code
        ("hand random", {"games": 8, "limits": Limits(depth=1), "luck": True}),
        ("wide+none wide", {"games": 6, "length": 0, "jacoby": True}),
        ("wide+none wide", {"games": 6, "length": 2}),
    ],
)
def test_a_stopped_match_with_dice_goes_on(
    tmp_path: Path, players: str, options: dict[str, Any]
) -> None:
    game = games.load("backgammon")
    first, second = (parse_player(game, text) for text in players.split())
    options = {**options, "luck": first} if "luck" in options else options

    def play(**more: Any) -> Match:
        return play_match(game, first, second, threads=1, keep_records=True, **options, **more)

    whole = play()
    for resume, stop in ((False, 4), (True, 999)):
        with MatchJournal.open(tmp_path / "j", HEAD, resume=resume) as journal:
            match = play(journal=journal, progress=stop_at(stop))
        assert match.interrupted == (not resume)
    assert match.figures() == whole.figures() and match.units == whole.units
    if "length" not in options:
        return
    actions = [[one.actions for one in unit.games] for unit in match.units]
    assert whole.actions("double")
    assert actions == [[one.actions for one in unit.games] for unit in whole.units]
    with MatchJournal.open(tmp_path / "j", HEAD, resume=True) as journal:
        (kept,) = journal._results.values()
        kept[0]["sittings"][0][0]["moves"][0] = 999
        with pytest.raises(ValueError, match="expected a game of backgammon"):
            play(journal=journal)


@compiled_only
def test_a_stopped_ladder_goes_on(tmp_path: Path) -> None:
    players = [parse_player(CHECKERS, text) for text in ("random", "classic", "rote")]
    options: dict[str, Any] = {"limits": Limits(depth=1), "games": 4}
    whole, _ = ladder(CHECKERS, players, **options)
    assert [one.elo.value for one in whole if one.name == players[0].name] == [0.0]
    seen = 0

    def stop(match: Match) -> None:
        nonlocal seen
        seen += 1
        if seen == 3:  # in the second match
            raise KeyboardInterrupt

    with MatchJournal.open(tmp_path / "j", HEAD, resume=False) as journal:
        _, matches = ladder(CHECKERS, players, journal=journal, progress=stop, **options)
    assert [match.games for match in matches] == [4, 2]
    with MatchJournal.open(tmp_path / "j", HEAD, resume=True) as journal:
        ratings, matches = ladder(CHECKERS, players, journal=journal, **options)
    assert ratings == whole
    assert [match.games for match in matches] == [4, 4, 4]


def test_games_as_plain_values() -> None:
    record = play_match(
        CHECKERS, *(parse_player(CHECKERS, "random") for _ in "ab"), limits=Limits(depth=1), games=2
    ).units[0].games[0]  # fmt: skip
    again = GameRecord(CHECKERS)
    replay(again, json.loads(json.dumps(plain_game(record))))
    assert again == record and again.annotations == record.annotations
    plain = plain_game(record)
    for damage in ({"moves": [999]}, {"moves": None}, {"notes": []}):
        with pytest.raises(ValueError, match="expected a game of checkers, found"):
            replay(GameRecord(CHECKERS), {**plain, **damage})


def test_journals_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"

    def make(head: dict[str, Any], resume: bool | None) -> list[Any]:
        with MatchJournal.open(path, head, resume=resume) as journal:
            before = list(journal.results("a against b"))
            journal.add("a against b", 1)
            with pytest.raises(LockedError, match=f"found process {os.getpid()} on "):
                with MatchJournal.open(path, head, resume=True):
                    raise AssertionError
            return before

    with pytest.raises(
        FileNotFoundError, match=f"expected a stopped match, but {path} does not exist"
    ):
        make(HEAD, True)
    assert make(HEAD, False) == []
    with pytest.raises(FileExistsError, match="continue it with --resume, or delete this file"):
        make(HEAD, False)
    with pytest.raises(ValueError, match=r"found seed 1 \(it began with 0\)"):
        make({"seed": 1}, True)
    assert make(HEAD, True) == [1]
    assert make(HEAD, None) == [1, 1]
    assert make({"seed": 1}, None) == []  # another one begins anew
    for damage in ("", "[]\n", "{\n", '{"seed": 1}\n[1]\n', "[" * 100_000 + "\n"):
        path.write_text(damage)
        with pytest.raises(ValueError, match="expected the journal of a match, found"):
            make(HEAD, True)


# --- the command ------------------------------------------------------------------------------


#: The program, which at its third result prints the size of its file of games and is sent SIGTERM.
STOPPED = """
import os, runpy, signal, sys
from play.matches.journal import MatchJournal

added, results = MatchJournal.add, []

def add(self, name, result):
    added(self, name, result)
    results.append(name)
    if len(results) == 3:
        print(os.path.getsize(sys.argv[-1]), flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

MatchJournal.add = add
runpy.run_module("play", run_name="__main__", alter_sys=True)
"""


@compiled_only
def test_a_match_stopped_by_sigterm_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two matches that are stopped and go on leave what one leaves that was not."""
    words = "match checkers classic random --depth 3 --games 12 --json --quiet".split()
    assert main([*words, "--save", str(tmp_path / "whole")]) == 0
    whole = capsys.readouterr().out
    file, journal = tmp_path / "games", tmp_path / "games.journal"
    command = [sys.executable, "-c", STOPPED, *words, "--save", str(file)]
    program = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert program.returncode == 143, program.stderr
    said = program.stderr.splitlines()
    assert said == [
        f"the games that ended are in {file}; the same command with --resume continues",
        "stopped",
    ]
    kept = file.read_bytes()
    assert len(kept) >= int(program.stdout.split()[0]) > 0
    assert (tmp_path / "whole").read_bytes().startswith(kept)
    assert journal.exists()
    assert main([*words, "--save", str(file)]) == 2
    assert f"{journal} is the journal of a stopped match" in capsys.readouterr().err
    assert main([*words, "--save", str(file), "--resume", "--seed", "7"]) == 2
    assert "found seed 7 (it began with 0)" in capsys.readouterr().err
    assert main([*words, "--save", str(file), "--resume"]) == 0
    resumed = capsys.readouterr().out
    assert file.read_bytes() == (tmp_path / "whole").read_bytes()
    assert resumed.splitlines()[-1] == whole.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games", "whole"]


class Full:
    """A file on a full disk, which tries once more to write what waits when it is closed."""

    def write(self, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        self.write("")


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    named = f"No space left on device: '{tmp_path / 'j'}'"
    with pytest.raises(OSError, match=named):
        with MatchJournal.open(tmp_path / "j", HEAD, resume=False) as journal:
            journal._file.close()
            journal._file = Full()
            with pytest.raises(OSError, match=named):
                journal.add("a against b", [0] * 10)
    with MatchJournal.open(tmp_path / "j", HEAD, resume=True) as journal:
        assert journal.results("a against b") == []
