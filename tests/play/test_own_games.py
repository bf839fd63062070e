"""Connect Four and a user's own game: trained, matched, explained, saved, resumed and played."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from errors import errors_of

import games
import plysmith
from games.errors import MoveError
from games.file_form import form_of
from games.kernels import compiled
from play.web.catalogue import Catalogue
from play.web.grid_face import face_of
from play.web.limits import ServerLimits
from play.web.seat import WebSeat
from play.web.table import Table

ROOT = Path(__file__).resolve().parents[2]
compiled_only = pytest.mark.skipif(not compiled, reason="plays whole games")

PLAIN = '''
from games import DiceGame, Game, Rolls


class Pile(Game):
    """Take 1 to 3 sticks; who takes the last wins."""

    def start(self):
        return 12

    def legal_moves(self, pile):
        return list(range(1, min(3, pile) + 1))

    def play(self, pile, move):
        return pile - move

    def outcome(self, pile):
        return None if pile else -1.0

    def show(self, pile):
        return "|" * pile


class Race(DiceGame):
    """Two runners go as far as the die says; who comes home first wins."""

    dice = Rolls((0.5, 0.5), text=lambda roll: f"die {roll + 1}")
    wins = False

    def start(self):
        return (5, 5)

    def legal_moves(self, runners, roll=None):
        return [roll + 1] if self.outcome(runners) is None else []

    def play(self, runners, move):
        return (runners[1], max(0, runners[0] - move))

    def outcome(self, runners):
        return -1.0 if runners[1] == 0 else None
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with the user's own games and nothing of Plysmith's."""
    shutil.copy(ROOT / "docs/examples/hexapawn.py", tmp_path / "hexa.py")
    (tmp_path / "plain_games.py").write_text(PLAIN)
    return tmp_path


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder as the current one, from which games are imported into this process."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    for name in ("hexa", "plain_games"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def ask(folder: Path, *words: str) -> str:
    """Returns the output of a command in that folder, run by the installed console program."""
    program = "import sys; sys.path.remove(''); import plysmith; sys.exit(plysmith.main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder, input="", capture_output=True, text=True, check=False, timeout=500,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command in this process and returns its output."""

    def run(*words: str) -> str:
        assert plysmith.main([*words]) == 0, capsys.readouterr()
        return capsys.readouterr().out

    return run


@pytest.mark.whole_run
@compiled_only
def test_a_game_is_trained_resumed_matched_explained_and_played(
    here: Path, said: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game, move = "hexa:Hexapawn", "b1-b2"
    run = ["train", game, "--learner", "rootstrap", "--quiet"]
    small = "--depth 2 --match-games 4 --snapshots 1 --snapshot-games 4 --final-games 4"
    said(*run, *small.split(), "--games", "6", "--run", "run")
    learned = "run/best.json"
    assert (here / learned).is_file()
    said(*run, "--resume", "run", "--games", "8")
    match = ["play", "match", game, learned, "random", "--games", "4", "--depth", "2"]
    assert "Elo" in said(*match, "--save", "games.txt")
    saved = (here / "games.txt").read_text()
    assert saved.count('[Game "hexapawn"]') == 4
    assert "hand" in said("play", "explain", game, "start", "hand", learned)
    typed = f"moves\n{move}\nhint\nwhy\nposition\nsave mine.txt\nquit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    shown = said("play", "terminal", game, learned, "--depth", "2")
    assert move in shown and "Saved to mine.txt" in shown
    text = (here / "mine.txt").read_text()
    assert f"\n{move}\n" in text and '[First "person"]' in text


def test_games_of_a_folder_are_played_by_the_installed_program(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = ("--games", "2", "--depth", "1")
    assert "Elo" in ask(here, "play", "match", "plain_games:Pile", "random", "random", *match)
    assert plysmith.main(["play", "terminal", "plain_games:Pile"]) == 2
    said = capsys.readouterr().err
    assert "pile has no evaluator of its own: expected the name or file of an evaluator" in said


# --- in the browser ---------------------------------------------------------------------------


def table_of(game: Any) -> Table:
    import random

    return Table(game, (WebSeat(), WebSeat()), chance=random.Random(1), limits=ServerLimits())


@pytest.mark.plain
def test_connect_four_is_clicked_by_its_columns() -> None:
    table = table_of(games.load("connect_four"))
    view = table.view()
    assert (view["kind"], view["board"]["rows"], view["board"]["columns"]) == ("grid", 6, 7)
    assert {step["to"] for step in view["next"]} == set(range(42))
    assert view["board"]["ways"]["4"] == [38]
    table.step(-1, 3)  # the top of the middle column
    assert table.record.moves == [3]
    assert table.view()["board"]["pieces"] == [[38, 0, ""]]
    assert table.view()["board"]["trace"] == [[38]]
    for _ in range(5):
        table.step(-1, 38)
    with pytest.raises(MoveError, match="expected one of the marked squares"):
        table.step(-1, 38)


@pytest.fixture
def hexapawn() -> Any:
    return games.load("docs.examples.hexapawn:Hexapawn")


@pytest.mark.plain
def test_a_pawn_is_clicked_and_then_its_goal(hexapawn: Any) -> None:
    table = table_of(hexapawn)
    assert {(s["from"], s["to"]) for s in table.view()["next"]} == {(-1, 6), (-1, 7), (-1, 8)}
    names = table.view()["board"]["row_names"], table.view()["board"]["column_names"]
    assert names == (["3", "2", "1"], ["a", "b", "c"])  # b1 is below, in the middle
    table.step(-1, 7)
    assert table.view()["taken"] == [(-1, 7)] and table.view()["board"]["clicked"] == [7]
    steps = [(s["from"], s["to"]) for s in table.view()["next"]]
    assert steps == [(7, 4), (-1, 6), (-1, 8)]  # another pawn can be clicked in its place
    table.step_back()
    with pytest.raises(MoveError, match="expected a click to take back"):
        table.step_back()
    table.step(-1, 7)
    table.step(7, 4)
    assert [hexapawn.move_text(hexapawn.start(), m) for m in table.record.moves] == ["b1-b2"]
    assert {(s["from"], s["to"]) for s in table.view()["next"]} == {(-1, 0), (-1, 2)}
    assert table.view()["board"]["trace"] == [[7], [4]]


@pytest.mark.plain
def test_a_game_without_a_grid_is_text_and_a_list_of_moves(here: Path) -> None:
    table = table_of(games.load("plain_games:Pile"))
    view = table.view()
    assert (view["kind"], view["board"]["text"], view["next"]) == ("plain", "|" * 12, [])
    assert view["legal"] == ["1", "2", "3"]
    table.play_text("3")
    assert [move["side"] for move in table.moves()] == [0] and table.view()["side"] == 1
    race = table_of(games.load("plain_games:Race"))
    assert race.waiting == "human"  # the first dice have fallen
    while not race.over:
        if race.waiting == "roll":
            race.roll_dice()
        race.play(race.legal_moves()[0])
    assert race.view()["result"] in ("First wins 1 point", "Second wins 1 point")
    form = form_of(race.game)
    (read,) = form.read(form.write(race.record, ("a", "b"), {}), race.game)
    assert read.problems == [] and read.record is not None
    assert read.record.rolls == race.record.rolls


@pytest.mark.plain
def test_the_page_knows_only_the_games_it_was_started_with(hexapawn: Any, tmp_path: Path) -> None:
    plain = Catalogue(tmp_path, tmp_path)
    with pytest.raises(ValueError, match="expected one of checkers, .* found 'hexapawn'"):
        plain.game("hexapawn")
    catalogue = Catalogue(tmp_path, tmp_path, [hexapawn])
    assert catalogue.game("hexapawn") is hexapawn and face_of(hexapawn).kind == "grid"
    assert catalogue.default(hexapawn) == "hexapawn:hand"
    with pytest.raises(ValueError, match="found 'hexapawn', which is taken"):
        Catalogue(tmp_path, tmp_path, [hexapawn, hexapawn])
    with pytest.raises(ValueError, match="which is taken"):
        Catalogue(tmp_path, tmp_path, [games.load("checkers")])


test_errors = errors_of(globals())


@pytest.mark.thorough
@compiled_only
def test_a_new_game_passes_the_check_and_endless_rules_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plysmith.main(["new", "game", "own_rows"]) == 0
    assert plysmith.main(["check", "own_rows:OwnRows", "--perft", "4", "--games", "5"]) == 0
    assert " 4 plies: 43,680 lines (" in capsys.readouterr().out  # 16 * 15 * 14 * 13
    assert plysmith.main(["new", "game", "own_rows"]) == 2
    assert plysmith.main(["new", "game", "checkers"]) == 2
    refused = capsys.readouterr().err.splitlines()
    assert refused[0] == "plysmith new: expected no file own_rows.py, found one"
    assert "expected the name of a new game, such as my_game, found 'checkers'" in refused[1]
    # 64 squares, emptied by an idiom that never ends once bit 63 is set, with and without moves
    text = Path("own_rows.py").read_text("utf-8").replace("SIZE = 4", "SIZE = 8")
    text = text.replace('"abcd"', '"abcdefgh"').replace('"4321"', '"87654321"')
    text = text.replace("empty ^= bit(moves[count])", "empty &= empty - 1")
    for number, more in enumerate(["", "        count = 0\n"]):
        Path(f"endless{number}.py").write_text(
            text.replace("        count += 1\n", more or "        count += 1\n")
        )
        assert plysmith.main(["check", f"endless{number}:OwnRows"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "legal_moves ends uncompiled; in position (0, 0, 0)" in line
        assert "write `left ^= bit(lowest(left))`), found 'an endless loop'" in line
