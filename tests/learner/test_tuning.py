"""`plysmith tune`: the path, players with numbers to set, whole tunes, and engines that fail."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
import play.matches.openings
import play.players.talk
from games.errors import MoveError
from games.record import GameRecord
from learner.tuning import command, tunable
from learner.tuning.spsa import Parameter, Spsa, parse_parameter
from learner.tuning.tunable import Tunable
from learner.tuning.tune import Tune
from play.matches.driver import play_match
from play.matches.journal import MatchJournal
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.talk import Talk

CHECKERS = games.load("checkers")
PILE = games.load("tests.toys:HighPile")
#: An engine of piles that leaves a multiple of 4 and `Aim` more: with Aim 0 it plays perfectly.
ENGINE = """
import os, sys
say = lambda *words: print(*words, flush=True)
log = open({log!r}, "a")
def thrice():
    # true three times, in whichever processes it is asked
    for number in range(3):
        try:
            os.mkdir(log.name + str(number))
        except FileExistsError:
            continue
        return True
aim = asked = 0
for line in sys.stdin:
    print(line, end="", file=log, flush=True)
    words = line.split()
    if words[0] == "uci":
        say("id name x"); say("option name Aim type spin default 0 min 0 max 3")
        say("option name Book File type string default <empty>"); say("uciok")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "setoption" and words[2] == "Aim":
        aim = int(words[4])
    elif words[0] == "position":
        sticks = int(words[2]) if words[1] == "fen" else 41
        sticks -= sum(map(int, words[words.index("moves") + 1 :])) if "moves" in words else 0
    elif words[0] == "go":
        asked += 1
        FAIL
        take = (sticks - aim) % 4
        say("info depth 3 seldepth 9 score cp -125 pv 1 2")
        say("bestmove", take if 0 < take <= min(3, sticks) else 1, "ponder 1")
    elif words[0] == "quit":
        break
"""


def engine(folder: Path, fail: str = "pass", options: str = "") -> str:
    """Returns the text of a player that speaks UCI; `fail` is done before each move."""
    path = folder / "engine.py"
    path.write_text(ENGINE.replace("{log!r}", repr(str(folder / "log"))).replace("FAIL", fail))
    return f"uci{options}:{shlex.join([sys.executable, str(path)])}"


# --- UCI --------------------------------------------------------------------------------------


def test_what_an_engine_that_speaks_uci_is_told(tmp_path: Path) -> None:
    player = parse_player(PILE, engine(tmp_path, options="[Book File=a b;Aim=1]"))
    seat = player.seat(PILE, Limits(depth=4, nodes=900, seconds=0.5))
    for start, taken in ((None, [3, 2]), (7, [])):
        record = GameRecord(PILE, start)
        for move in taken:
            record.play(move)
        seat.begin(0)
        seat.move(record)
        # 36 - 1 and 7 - 1 are 3 and 2 above a multiple of 4
        assert record.moves == [*taken, 3 if taken else 2]
        assert (record.annotations[-1].value, record.annotations[-1].depth) == (-1.25, 3)
    game = ["ucinewgame", "isready"]
    go = "go depth 4 nodes 900 movetime 500"
    assert (tmp_path / "log").read_text().splitlines() == [
        *("uci", "setoption name Book File value a b", "setoption name Aim value 1", *game, *game),
        *("position startpos moves 3 2", go, *game, "position fen 7", go),
    ]
    assert str(player.program) == player.name


def impatient(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Give engines so many seconds for a move, and five minutes more for anything else."""
    usual = Talk.hear

    def hear(talk: Talk, name: str, longest: float = 0.0, *told: Any, **named: Any) -> str:
        return usual(talk, name, longest + 300.0 * (name != "bestmove"), *told, **named)

    monkeypatch.setattr(play.players.talk, "PATIENCE", seconds)
    monkeypatch.setattr(Talk, "hear", hear)


@pytest.mark.parametrize(
    ("fail", "options", "expected"),
    [
        ("say('bestmove 9'); continue", "", "41: expected one of 1, 2, 3, found '9'"),
        ("say('bestmove'); continue", "", "41: expected one of 1, 2, 3, found ''"),
        ("sys.exit('tired')", "", "speaks UCI, found that it ended .* last words: tired"),
        ("pass", "[Hash=3]", "expected options among Aim, Book File, found Hash"),
        ("continue", "", "expected 'bestmove' within 2.5 s, found none"),
    ],
)
def test_engines_that_misbehave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: str, options: str, expected: str
) -> None:
    players = [parse_player(PILE, text) for text in (engine(tmp_path, fail, options), "random")]
    if "within" in expected:
        impatient(monkeypatch, 2.0)
    with pytest.raises((MoveError, ChildProcessError), match=expected):
        play_match(
            PILE, *players, limits=Limits(seconds=0.5), games=2, threads=1,
            openings=[()],
        )  # fmt: skip


# --- the path ---------------------------------------------------------------------------------


def textbook(lead: Any, start: list[float], step: list[float], steps: int) -> np.ndarray:
    """Spall's path with gains a / (A + k)^0.602 and c / k^0.101, number by number."""
    theta, signs = list(start), np.random.default_rng
    for k in range(1, steps + 1):
        sign = 2.0 * signs((7, k - 1)).integers(0, 2, len(theta)) - 1.0
        width = [c * steps**0.101 / k**0.101 for c in step]
        found = lead(
            [t + s * w for t, s, w in zip(theta, sign, width, strict=True)],
            [t - s * w for t, s, w in zip(theta, sign, width, strict=True)],
        )
        for i, c in enumerate(step):
            gain = 60.0 / steps * c * c * (1.1 * steps) ** 0.602 / (0.1 * steps + k) ** 0.602
            theta[i] += gain * found / (width[i] * sign[i])
    return np.array(theta)


def lead_of(first: list[float], second: list[float]) -> float:
    one, other = (-((x - 2.0) ** 2) - 3 * (y + 1.0) ** 2 for x, y in (first, second))
    return float(np.tanh(one - other))


@pytest.mark.plain
def test_the_path_is_the_textbooks() -> None:
    parameters = [Parameter("x", 0.0, -50, 50, 0.2), Parameter("y", 1.0, -50, 50, 0.1)]
    whole = Spsa(parameters, 60, 7)
    for _ in range(60):
        first, second = whole.ask()
        whole.tell(lead_of(list(first.values()), list(second.values())))
    expected = textbook(lead_of, [0.0, 1.0], [0.2, 0.1], 60)
    np.testing.assert_allclose(whole.theta, expected, rtol=1e-3)  # settings have five digits
    np.testing.assert_allclose([*whole.tuned().values()], [2.0, -1.0], atol=0.2)


@pytest.mark.plain
def test_settings_stay_within_bounds_and_whole_numbers_whole() -> None:
    parameters = [Parameter("x", 0.9, 0, 1, 0.3), Parameter("n", 4, 4, 12, whole=True)]
    assert parameters[1].step == 1.0 and Parameter("x", 0, 0, 2).step == 0.2
    spsa = Spsa(parameters, 20, 1)
    for _ in range(20):
        for one in spsa.ask():
            assert 0 <= one["x"] <= 1 and one["n"] in range(4, 13)
        spsa.tell(1.0)
        assert (spsa.low <= spsa.theta).all() and (spsa.theta <= spsa.high).all()
    assert parse_parameter("a=b=1:0:2e0:.5") == {
        "name": "a=b", "start": 1.0, "low": 0.0, "high": 2.0, "step": 0.5,
    }  # fmt: skip


# --- players whose numbers can be set ---------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["classic", "classic+endgame@nodes=500,exact,late_moves=2", "classic@2,threads=2"]
)
def test_the_text_of_a_tuned_player_is_the_tuned_player(text: str, tmp_path: Path) -> None:
    wanted = {"singular": 8.0, "late_moves": 0.75, "men": 1.25}
    made = Tunable(CHECKERS, text, [])
    as_it_was = parse_player(CHECKERS, made.written({}, tmp_path / "a, b"))
    assert as_it_was.options == made.player({}).options
    player, written = made.player(wanted), made.written(wanted, tmp_path / "a, b")
    again = parse_player(CHECKERS, written)
    assert again.options == player.options and again.limits == player.limits
    assert (again.lookup is None) == (player.lookup is None)
    assert again.options["techniques"].singular == 8
    assert again.evaluator is not None and made.evaluator_ is not None
    weights = again.evaluator.term_weights()
    assert weights == {**made.evaluator_.term_weights(), "men": 1.25}
    assert made.written({}, tmp_path).startswith(text.partition("@")[0])


# --- whole tunes ------------------------------------------------------------------------------

SHORT = ["--iterations", "12", "--pairs", "2", "--jobs", "1", "--plies", "2", "--depth", "1",
         "--sprt", "0,300", "--seed", "3", "--quiet"]  # fmt: skip
FILES = ["path.csv", "report.json"]


@pytest.fixture(scope="module", autouse=True)
def few_tries() -> Iterator[None]:
    """Let a pile, which has few openings, soon have no more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play.matches.openings, "_TRIES", 50)
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a tune whose engine never failed."""
    folder = tmp_path_factory.mktemp("sound")
    assert tune(folder / "run", engine(folder)) == 0
    return folder


def tune(folder: Path, player: str, *options: str) -> int:
    line = ["tests.toys:HighPile", player, "Aim=2:0:3", "--run", str(folder), *SHORT, *options]
    return command.main(line, "tune")


def test_a_tune_finds_perfect_play_and_proves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    player = engine(tmp_path)
    assert tune(tmp_path / "whole", player, "--json") == 0
    first, tuned, verdict, figures = capsys.readouterr().out.splitlines()
    assert first == "Aim: 2 -> 0" and tuned == f"tuned: uci[Aim=0]{player.removeprefix('uci')}"
    assert verdict.startswith("proved: the tuned player is stronger than the start (")
    assert json.loads(figures)["verdict"] == "accept H1"
    assert (tmp_path / "whole" / "path.png").stat().st_size > 1000
    # stopped in the path, and in the test
    stops: list[tuple[Any, str, int]] = [
        (MatchJournal, "add", 5), (Tune, "_draw", 0), (command.GamesBar, "__call__", 3),
    ]  # fmt: skip
    for owner, place, stop in stops:
        usual, calls = getattr(owner, place), iter(range(stop))

        def stopping(*given: Any, usual: Any = usual, calls: Any = calls) -> Any:
            if next(calls, None) is None:
                raise KeyboardInterrupt
            return usual(*given)

        with monkeypatch.context() as patch:
            patch.setattr(owner, place, stopping)
            resumed = ["--resume"] if (tmp_path / "parts").exists() else []
            assert tune(tmp_path / "parts", player, *resumed) == 130
    assert tune(tmp_path / "parts", player, "--resume") == 0
    for name in FILES:
        contents = [(tmp_path / run / name).read_bytes() for run in ("whole", "parts")]
        assert contents[0] == contents[1], name
    # a folder of another tune
    capsys.readouterr()
    assert tune(tmp_path / "whole", player) == 2
    assert "is the journal of a stopped match: continue it with" in capsys.readouterr().err
    assert tune(tmp_path / "whole", player, "--resume", "--pairs", "3") == 2
    error = capsys.readouterr().err
    assert error.endswith("expected the same match, found pairs 3 (it began with 2)\n")
    assert error.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fail", "jobs"),
    [
        ("asked % 40 or sys.exit(1)", "1"),
        ("if asked == 5 and thrice(): say('bestmove 77'); continue", "2"),
        ("if asked == 5 and thrice(): continue", "2"),
    ],
    ids=["dies", "one of two answers rubbish", "hangs"],
)
def test_void_pairs_are_played_again_and_change_nothing(
    fail: str,
    jobs: str,
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if fail.endswith(": continue"):
        impatient(monkeypatch, 1.0)
        monkeypatch.setattr(tunable, "LONGEST", 0.5)
    assert tune(tmp_path / "run", engine(tmp_path, fail), "--jobs", jobs) == 0
    paths = [(folder / "run" / "path.csv").read_bytes() for folder in (sound, tmp_path)]
    assert paths[0] == paths[1]
    assert "a pair failed and is played again: player uci" in capsys.readouterr().err


def test_an_engine_that_always_fails_ends_the_tune(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    player = engine(tmp_path, "sys.exit('tired')")
    assert tune(tmp_path / "run", player) == 2
    *voids, error = capsys.readouterr().err.splitlines()
    assert error.startswith("tune: 10 pairs in a row failed, the last: player uci")
    assert error.endswith("last words: tired") and len(voids) == 9
    assert all(line.startswith("a pair failed and is played again: player") for line in voids)
    assert tune(tmp_path / "run", engine(tmp_path)) == 0


def test_weights_and_techniques_are_tuned_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["checkers", "material", "kings=0:0:3", "late_moves=1:0:2", "--nodes", "60", "--games",
            "4", "--iterations", "4", "--run", str(tmp_path / "run"), "--jobs", "1",
            "--recover"]  # fmt: skip
    assert command.main(line, "tune") == 0
    out = capsys.readouterr().out.splitlines()
    text = out[2].removeprefix("tuned: ")
    player = parse_player(CHECKERS, text)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["player"] == text and report["verdict"] in ("continue", "accept H0")
    assert player.evaluator is not None
    assert player.evaluator.term_weights()["kings"] == report["tuned"]["kings"]
    assert player.options["techniques"].late_moves == report["tuned"]["late_moves"]
    assert out[3].startswith("not proved: ")
