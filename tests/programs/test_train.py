"""train.py: runs that survive everything, and messages for every mistake."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import itertools
import json
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from errors import errors_of
from processes import wait_until_gone

import plysmith
import train
from games import kernels
from games.checkers import Checkers
from games.kernels import fingerprint
from learner.arena import Arena, Strength
from learner.frame import Progress
from learner.online.rote import Rote
from learner.online.samuel1959 import Samuel1959
from learner.reports.plots import plot_weights
from learner.rounds.samuel import Samuel
from learner.run import progress_bar
from learner.run.command_line import new_folder
from learner.run.folder import RunError
from learner.run.measured_run import MeasuredRun
from learner.run.memory_run import MemoryRun
from learner.run.progress_bar import Bar
from learner.run.provenance import code_mark
from learner.run.request import parser, settings_of
from learner.run.settings import RunSettings, write_settings
from play.matches.openings import Openings
from programs.lock import alone
from search import Engine, as_evaluator, load_evaluator

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

ROOT = Path(__file__).resolve().parents[2]
CHECKERS = Checkers()
#: A run that takes seconds, with the smallest possible matches.
TINY = [
    *("--depth", "2", "--seed", "3", "--snapshots", "2", "--quiet", "--opponents", "material"),
    *("--snapshot-games", "2", "--final-games", "2", "--match-games", "2"),
]
BYTES = ("log.csv", "games.pdn", "last.json", "best.json", "snapshots.csv", "report.json")


def tiny(learner: str, games: int, folder: Path) -> list[object]:
    arguments = ["checkers", "--learner", learner, "--games", games, "--run", folder]
    return [*arguments, *TINY, *(["--set", "capacity=5000"] if learner == "rote" else [])]


#: The program with a checkpoint after each game.
EVERY_GAME = """
import os, signal, sys, threading, train
from learner.run import folder
from learner.run.progress_bar import Bar

folder.CHECKPOINT_SECONDS, folder.MOST_SHARE = 0.0, 1e9
"""
RUN = "train.main(sys.argv[1:])\n"
#: What kills it in the game after game `last`.
KILLED = """
shown, last = Bar.__call__, int(sys.argv.pop(1))

def show(self, progress, measured):
    shown(self, progress, measured)
    if progress.game == last:
        threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGKILL)).start()

Bar.__call__ = show
"""


def start(arguments: list[object], *program: str) -> subprocess.Popen[str]:
    """Start the program in its own process group, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, *(program or [str(ROOT / "train.py")]), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip


def succeeds(*arguments: object) -> None:
    assert train.main([str(argument) for argument in arguments]) == 0


def killed(arguments: list[object], last: int) -> int:
    """Kill a run after some of its games; returns how many its checkpoint has."""
    process = start([last, *arguments], "-c", EVERY_GAME + KILLED + RUN)
    out, err = process.communicate(timeout=180)
    assert process.returncode == -signal.SIGKILL, out + err
    # measuring processes end with the one that started them
    assert wait_until_gone(process.pid) == []
    folder = Path(str(arguments[arguments.index("--run") + 1]))
    content = json.loads((folder / "checkpoint.json").read_text())
    return int(content["learner"]["games_played"])


def wait_for_checkpoint(process: subprocess.Popen[str], folder: Path) -> int:
    """Returns the number of games in the first checkpoint that appears."""
    for _ in range(60_000):
        assert process.poll() is None, process.communicate()
        if (folder / "checkpoint.json").exists():
            content = json.loads((folder / "checkpoint.json").read_text())
            if content["learner"]["games_played"]:  # the first is written before any game
                return int(content["learner"]["games_played"])
        time.sleep(0.002)
    raise AssertionError("no checkpoint")


@functools.cache
def whole() -> tempfile.TemporaryDirectory[str]:
    """Returns a folder with a run by Samuel's rules from beginning to end."""
    folder = tempfile.TemporaryDirectory()
    succeeds(*tiny("samuel1959", 12, Path(folder.name) / "run"))
    return folder


@pytest.fixture(scope="module")
def finished() -> Path:
    return Path(whole().name) / "run"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Returns the message with which the program refuses the arguments."""
    try:
        status = train.main([str(argument) for argument in arguments])
    except SystemExit as left:  # argparse
        status = int(left.code or 0)
    err = capsys.readouterr().err
    assert status == 2, err
    assert "Traceback" not in err
    return err


def resumed(folder: Path, *options: object, change: Any = None, game: str = "checkers") -> None:
    """Raises what is said of a finished run that does not go on, after a change of its files."""
    run = Path(shutil.copytree(Path(whole().name) / "run", folder / "run"))
    if change is not None:
        change(run)
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert train.main([game, *map(str, options), "--resume", str(run)]) == 2
    (said,) = err.getvalue().splitlines()
    raise ValueError(said)


def file(name: str, content: bytes) -> Any:
    return lambda run: (run / name).write_bytes(content)


def fields(name: str, **values: Any) -> Any:
    """Returns a change of fields of a JSON file."""
    return lambda run: (run / name).write_text(
        json.dumps(json.loads((run / name).read_text()) | values)
    )


def alpha(run: Path) -> None:
    state = json.loads((run / "checkpoint.json").read_text())["learner"]
    fields("checkpoint.json", learner={**state, "alpha": [1.0]})(run)


def part(share: float) -> Any:
    """Returns a change that cuts off the end of the checkpoint."""

    def change(run: Path) -> None:
        text = (run / "checkpoint.json").read_text()
        (run / "checkpoint.json").write_text(text[: int(share * len(text))])

    return change


# --- a run -----------------------------------------------------------------------------------


def test_what_a_run_leaves(finished: Path) -> None:
    names = {path.name for path in finished.iterdir()}
    assert names == {
        *BYTES, "checkpoint.json", "hours.csv", "options.json", "provenance.json", "snapshots",
        "strength.png", "weights.png"
    }  # fmt: skip
    assert sorted(p.name for p in (finished / "snapshots").iterdir()) == [
        "000006.json", "000012.json"
    ]  # fmt: skip
    log = (finished / "log.csv").read_text().splitlines()
    assert log[0] == "game,updates,alpha_side,outcome,plies,loss,held_out,note"
    assert [line.split(",")[0] for line in log[1:]] == [str(i) for i in range(1, 13)]
    assert (finished / "games.pdn").read_text().count("[Event ") == 12
    (match,) = json.loads((finished / "report.json").read_text())["matches"]
    assert (match["opponent"], match["games"]) == ("material", 2)
    best = load_evaluator(finished / "best.json")
    assert best.term_weights()["PIECES"] == 2.0**20
    assert best.provenance["games"] in (6, 12)
    assert Engine(best.game, best).search(best.game.start(), depth=4).move is not None


def test_plots_of_many_terms_and_of_none(tmp_path: Path) -> None:
    many = {f"T{i}": [[game, i * game - 40.0] for game in (5, 10)] for i in range(30)}
    plot_weights(tmp_path / "many.png", many)
    plot_weights(tmp_path / "none.png", {"T": [[5, 1.0], [10, 1.0]]})
    assert (tmp_path / "many.png").stat().st_size > (tmp_path / "none.png").stat().st_size > 5000


def test_plots_are_pictures_of_a_sensible_size(finished: Path) -> None:
    for name in ("strength.png", "weights.png"):
        head = (finished / name).read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", head[16:24]) == (1080, 624)
        assert (finished / name).stat().st_size > 10_000


@pytest.mark.parametrize("quiet", [False, True])
def test_without_a_terminal_or_a_bar_progress_is_a_line_each_minute_or_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    now = [30.0]
    assert (progress_bar.QUIET, progress_bar.PAUSE) == (60.0, 10.0)
    monkeypatch.setattr(progress_bar, "PAUSE", 60.0)
    monkeypatch.setattr("learner.run.progress_bar.time.monotonic", lambda: now[0])
    monkeypatch.setattr("learner.run.progress_bar.compiling_text", lambda: "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: quiet, raising=False)
    bar = Bar(quiet)
    now[0] = 99.0
    bar.look()
    for seconds, game in ((100.0, 1), (101.0, 2), (161.0, 4), (162.0, 5), (221.0, 8)):
        now[0] = seconds
        bar(Progress(game, 9, None, 10 * game, {"round": 1, "positions": 7}), {})
        bar.look()
    bar.say("learned")
    now[0] = 290.0
    bar.look()
    assert capsys.readouterr().err.splitlines() == [
        "nothing learned yet, after 69 s",
        "4 of 9 games, 0.0492 a second; learned from 40; note round 1, positions 7",
        "8 of 9 games, 0.0579 a second; learned from 80; note round 1, positions 7",
        "for 69 s",
    ]


@pytest.mark.whole_run
def test_a_killed_run_resumes_to_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert 6 <= killed(tiny("samuel1959", 12, folder), 7) < 12  # the snapshot is being measured
    assert not (folder / "best.json").exists()
    with open(folder / "log.csv", "a") as log:
        log.write("7,what was written after the checkpoint")
    # a program with a process that measures leaves what a run in threads does
    process = start(["checkers", "--resume", folder, "--quiet"])
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0 and "Traceback" not in err, out + err
    for name in BYTES:
        assert (folder / name).read_bytes() == (finished / name).read_bytes(), name
    for path in (finished / "snapshots").iterdir():
        assert (folder / "snapshots" / path.name).read_bytes() == path.read_bytes()
    assert sorted(os.listdir(folder)) == sorted(os.listdir(finished))
    checkpoints = [
        json.loads((path / "checkpoint.json").read_text()) for path in (folder, finished)
    ]
    for path in (folder, finished):  # the time that it took is another, and none is counted twice
        lines = (path / "hours.csv").read_text().splitlines()
        hours = [float(line.partition(",")[2]) for line in lines[1:]]
        assert lines[0] == "game,hours" and 0 < hours[0] < hours[-1] and hours == sorted(hours)
    assert checkpoints[0] == checkpoints[1]


class Killed(BaseException):
    """Ends a run as a kill does: nothing is written at the end."""


def linear_run(folder: Path, learner: Any) -> MeasuredRun:
    settings = RunSettings(
        game="checkers", learner="samuel", games=learner.games, depth=1, snapshots=2,
        snapshot_games=2, final_games=2, match_games=400, opponents=("material",),
        pacemakers=("material",),
    )  # fmt: skip
    return MeasuredRun(learner, folder, game=CHECKERS, settings=settings)


def test_the_last_weights_are_the_result_of_a_learner_that_settles(tmp_path: Path) -> None:
    said: list[str] = []
    learner = Samuel(CHECKERS, games=8, depth=1, round_games=4, games_per_report=4, seed=1)
    best = linear_run(tmp_path / "run", learner).train(say=said.append)
    assert best.name == "samuel-8"
    assert best.term_weights() == learner.evaluator_.term_weights()
    assert load_evaluator(tmp_path / "run/best.json").name == "samuel-8"
    assert not any("choosing" in line for line in said)


def test_runs_of_two_seeds_play_their_last_matches_on_different_openings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[set[Any]] = []

    def submit(self: Arena, *players: Any, games: int, seed: int, plies: int) -> Future[Strength]:
        openings = Openings(CHECKERS, plies=plies, seed=seed)
        played.append(set(itertools.islice(openings, games // 2)))
        done: Future[Strength] = Future()
        done.set_result(Strength("material", games, games, 0, 0, 1.0, 0.0, 0.0, 0.0))
        return done

    monkeypatch.setattr(Arena, "submit", submit)
    for seed in (0, 1):
        session = linear_run(tmp_path / str(seed), Samuel(CHECKERS, seed=seed))
        session.folder.path.mkdir()
        list(session.report(as_evaluator(CHECKERS, "classic")))
    first, second = played
    # by chance two draws of 200 among 805 positions share 50
    assert len(first) == len(second) == 200 and len(first & second) < 90


def test_a_finished_run_may_be_prolonged(run: Path) -> None:
    succeeds("checkers", "--resume", run, "--quiet", "--games", 15)
    assert len((run / "log.csv").read_text().splitlines()) == 16
    assert {p.name for p in (run / "snapshots").iterdir()} >= {"000006.json", "000015.json"}
    assert json.loads((run / "options.json").read_text())["games"] == 15


def test_a_finished_run_is_not_measured_again(
    run: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (match,) = json.loads((run / "report.json").read_text())["matches"]
    files = {path: path.read_bytes() for path in run.iterdir() if path.is_file()}

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("expected no match")

    monkeypatch.setattr(Arena, "submit", refuse)
    succeeds("checkers", "--resume", run, "--quiet")
    out = capsys.readouterr().out
    assert Strength.of(match).text() in out
    assert f"{run} was finished before" in out
    assert {path: path.read_bytes() for path in run.iterdir() if path.is_file()} == files


def test_a_finished_rote_run_is_not_measured_again(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["checkers", "--learner", "rote"]
    succeeds(*arguments, "--games", 3, "--run", tmp_path / "run", *TINY)
    out = capsys.readouterr().out
    assert "openings of 4 plies or more; those of learning were shorter" in out
    said = [line for line in out.splitlines() if "against" in line]
    monkeypatch.delattr("learner.run.memory_run.measure")
    succeeds(*arguments, "--resume", tmp_path / "run", "--quiet")
    assert [line for line in capsys.readouterr().out.splitlines() if "against" in line] == said
    with alone(tmp_path / "run/run.lock", "the run"):  # as another process does
        for last in (["--resume", tmp_path / "run"], ["--run", tmp_path / "run"]):
            assert "expected no other process to write it" in fails(capsys, *arguments, *last)


# --- one process, one code -------------------------------------------------------------------


@pytest.mark.whole_run
def test_two_processes_do_not_write_one_run(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "run"
    process = start(tiny("samuel1959", 5000, folder), "-c", EVERY_GAME + RUN)
    try:
        wait_for_checkpoint(process, folder)
        process.send_signal(signal.SIGSTOP)  # it has shown enough, and takes a core
        holder = json.loads((folder / "run.lock").read_text())
        log = (folder / "log.csv").stat().st_size
        arguments = ["checkers", "--resume", folder, "--quiet"]
        found = fails(capsys, *arguments)
        assert "expected no other process to write it, found process" in found
        assert f"process {process.pid} on {platform.node()}, since {holder['since']}" in found
        again = tiny("samuel1959", 5000, folder)
        assert "expected no other process to write it" in fails(capsys, *again)
        assert (folder / "log.csv").stat().st_size >= log
    finally:
        process.kill()  # its lock stays behind, and holds nothing
        process.communicate()
    assert (folder / "run.lock").exists()
    games = json.loads((folder / "checkpoint.json").read_text())["learner"]["games_played"]
    succeeds(*arguments, "--games", games + 1)
    assert not (folder / "run.lock").exists()


def test_two_runs_that_begin_at_once_have_a_folder_each(tmp_path: Path) -> None:
    with new_folder(tmp_path / "runs", "game") as first:
        with new_folder(tmp_path / "runs", "game") as second:
            (second / "log.csv").touch()
        assert (first.name, second.name) == ("game", "game-2")
    # one that left nothing, as it was refused, leaves no folder
    assert not first.exists() and second.exists()


def test_changed_code_is_said_and_asked_for(run: Path, capsys: Any) -> None:
    record = run / "provenance.json"
    (session,) = json.loads(record.read_text())
    assert session["version"] == plysmith.__version__
    assert set(session["machine"]) == {"host", "system", "processor", "cores"}
    assert session["packages"]["numpy"] == np.__version__
    assert {"learner.online.samuel1959", "search.alphabeta.negamax"} <= session["learner"].keys()
    assert session["terms"]["ADV"] == fingerprint(CHECKERS.features["samuel"].terms["ADV"])[:16]
    session["learner"]["learner.online.samuel1959"] = "0" * 16
    session["terms"]["ADV"] = "0" * 16
    session["packages"]["numba"] = "0.1"
    session["commit"] = "abc"
    record.write_text(json.dumps([session]))
    checkpoint = (run / "checkpoint.json").read_bytes()
    more = ["checkers", "--resume", run, "--quiet", "--games", 14]
    found = fails(capsys, *more)
    assert "module learner.online.samuel1959 changed; term ADV changed" in found
    assert f"numba {numba.__version__} (was 0.1)" in found and "(was abc)" in found
    assert "--changed" in found
    assert (run / "checkpoint.json").read_bytes() == checkpoint
    succeeds(*more, "--changed")
    sessions = json.loads(record.read_text())
    assert len(sessions) == 2 and "term ADV changed" in sessions[1]["changed"]
    succeeds(*more[:-1], 15)  # the code is the same again
    record.unlink()
    assert "no record of the code that it began with" in fails(capsys, *more[:-1], 16)
    assert "--changed: expected --resume" in fails(capsys, "checkers", "--changed")


def test_another_machine_or_commit_is_no_change(run: Path, capsys: Any) -> None:
    record = run / "provenance.json"
    (session,) = json.loads(record.read_text())
    session["machine"]["host"], session["commit"] = "elsewhere", "abc"
    record.write_text(json.dumps([session]))
    succeeds("checkers", "--resume", run, "--quiet", "--games", 14)
    assert "resumed on another machine" in capsys.readouterr().out


def test_code_is_neither_comments_nor_docstrings() -> None:
    plain = "def f(x):\n    return x + 1\n"
    written = '"""A module."""\n\n# a comment\ndef f(x):\n    return x + 1  # more\n'
    documented = 'def f(x):\n    """Says what it does."""\n    return x + 1\n'
    other = plain.replace("1", "2")
    marks = [code_mark(text) for text in (plain, written, other, documented)]
    assert marks[0] == marks[1] == marks[3] != marks[2]


# --- folders and disks -----------------------------------------------------------------------


def test_a_full_disk_costs_nothing_learned(tmp_path: Path, monkeypatch: Any) -> None:
    def learner() -> Samuel1959:
        return Samuel1959(CHECKERS, games=4, depth=1, seed=1, fixed={"PIECES": 2.0**20})

    linear_run(tmp_path / "whole", learner()).train()
    sync = os.fsync

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def fill(progress: Any) -> None:
        if progress.game == 2:  # a checkpoint has just been written
            monkeypatch.setattr(os, "fsync", full)

    folder = tmp_path / "run"
    with pytest.raises(OSError, match="No space left on device"):
        linear_run(folder, learner()).train(watch=fill)
    kept = json.loads((folder / "checkpoint.json").read_text())
    assert kept["learner"]["games_played"] == 2
    monkeypatch.setattr(os, "fsync", sync)
    linear_run(folder, learner()).train(resume=True)
    for name in ("log.csv", "games.pdn", "last.json", "best.json", "checkpoint.json"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.parametrize("name", ["log.csv", "checkpoint.json", "memory-000002.safetensors"])
def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: Any, name: str) -> None:
    learner = Rote(CHECKERS, games=2, depth=1, seed=1, capacity=100)
    run = MemoryRun(learner, tmp_path / "run")
    sync = os.fsync

    def full(descriptor: int) -> None:
        if Path(os.readlink(f"/proc/self/fd/{descriptor}")).name.lstrip(".").startswith(name):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    def fill(progress: Any) -> None:
        if progress.game == 2:
            monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError if name.startswith("memory") else RunError, match=name):
        run.train("classic", watch=fill)


def test_folders_that_cannot_be_used(run: Path, tmp_path: Path, capsys: Any) -> None:
    arguments = ["checkers", "--games", 2, *TINY, "--run"]
    assert f"{run}: expected a new folder, found a run: resume it" in fails(capsys, *arguments, run)
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "run", "/proc/no/run"):
        assert f"{place}: expected a folder to write to, found" in fails(capsys, *arguments, place)


@pytest.mark.parametrize("learner", ["samuel1959", "rote"])
def test_nothing_to_resume(tmp_path: Path, capsys: Any, learner: str) -> None:
    arguments = ["checkers", "--learner", learner, "--resume"]
    found = fails(capsys, *arguments, tmp_path)
    assert f"{tmp_path}: expected a run, found none" in found
    settings = settings_of(parser().parse_args(arguments[:3]))
    write_settings(tmp_path, settings)
    assert "expected a run with a checkpoint.json, found none" in fails(
        capsys, *arguments, tmp_path
    )


@pytest.mark.parametrize("name", ["log.csv", "games.pdn", "snapshots/000006.json", "snapshots"])
def test_a_deleted_file_is_named_before_any_training(run: Path, capsys: Any, name: str) -> None:
    before = (run / "checkpoint.json").read_bytes()
    if (run / name).is_dir():
        shutil.rmtree(run / name)
        name = "snapshots/000006.json"
    else:
        (run / name).unlink()
    found = fails(capsys, "checkers", "--resume", run, "--games", 500)
    assert name in found and "checkpoint" not in found
    assert "put" in found and "back, or begin a new run" in found
    assert (run / "checkpoint.json").read_bytes() == before


# --- a user's own features --------------------------------------------------------------------

FEATURES = """
from games.kernels import popcount
from games.kernels import kernel


@kernel
def pieces(position):
    return popcount(position[0])


@kernel
def odd_pieces(position):
    return popcount(position[0]) & 1
"""


def with_features(folder: Path, learner: str, *, games: int = 8) -> list[object]:
    (folder / "mine.py").write_text(FEATURES)
    return ["checkers", "--learner", learner, "--games", games, *TINY,
            "--features", folder / "mine.py", "--run"]  # fmt: skip


@pytest.mark.whole_run
def test_a_run_with_features_says_what_they_are_worth(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "run"
    succeeds(*with_features(tmp_path, "rootstrap"), folder)
    out = capsys.readouterr().out
    assert f"now the same without pieces, odd_pieces, in {folder / 'without'}" in out
    for text in ("pieces and odd_pieces: 2 games do not decide", "without odd_pieces: ", "speed: "):
        assert text in out
    assert (folder / "features.py").read_text() == FEATURES
    found = json.loads((folder / "report.json").read_text())
    assert [match["terms"] for match in found["worth"]["matches"]] == [
        ["pieces", "odd_pieces"], ["pieces"], ["odd_pieces"]
    ]  # fmt: skip
    assert set(found["worth"]["nodes_per_second"]) == {"with", "without"}
    # the run without the features is like any other, and may be resumed by itself
    bare = load_evaluator(folder / "without/best.json")
    assert "pieces" not in bare.term_weights()
    succeeds("checkers", "--learner", "rootstrap", "--resume", folder / "without", "--quiet")
    # if the user names the file, learning continues from the weights learned so far
    best = folder / "best.json"
    with pytest.raises(ValueError, match="expected inputs= for a set of your own"):
        load_evaluator(best)
    succeeds(*with_features(tmp_path, "rootstrap", games=2), tmp_path / "more", "--from", best)


@pytest.mark.whole_run
def test_a_run_with_features_resumes_to_the_same_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    arguments = ["--set", "games_per_update=2", *with_features(tmp_path, "rootstrap")]
    resume = ["checkers", "--learner", "rootstrap", "--quiet", "--features", tmp_path / "mine.py",
              "--resume", tmp_path / "killed"]  # fmt: skip
    succeeds(*arguments, tmp_path / "whole")
    shown = Bar.__call__
    for run in ("first", "second"):  # in the run itself, and in the one without the features

        def kill(self: Any, progress: Any, measured: Any, run: str = run) -> None:
            shown(self, progress, measured)
            without = (tmp_path / "killed" / "without").exists()
            if progress.game == 4 and without == (run == "second"):
                raise Killed

        monkeypatch.setattr(Bar, "__call__", kill)
        with pytest.raises(Killed):
            if run == "first":
                train.main([str(a) for a in (*arguments, tmp_path / "killed")])
            else:
                train.main([str(a) for a in resume])
    assert not (tmp_path / "killed/without/best.json").exists()
    monkeypatch.setattr(Bar, "__call__", shown)
    succeeds(*resume)
    for name in (*BYTES, "features.py"):
        for folder in ("", "without") if name not in ("features.py", "report.json") else ("",):
            one, other = (tmp_path / run / folder / name for run in ("whole", "killed"))
            if name != "report.json":
                assert one.read_bytes() == other.read_bytes(), f"{folder}/{name}"
                continue
            reports = [json.loads(path.read_text()) for path in (one, other)]
            for report in reports:
                report["worth"].pop("nodes_per_second")  # measured
            assert reports[0] == reports[1]


OWN_LEARNER = "docs.examples.online_td:OnlineTD"


def test_a_learner_of_ones_own_is_trained_by_its_name(tmp_path: Path, capsys: Any) -> None:
    run = tmp_path / "run"
    options = [*TINY, "--opponents", "random", "--set", "rate=0.05"]
    succeeds("tic_tac_toe", "--learner", OWN_LEARNER, "--games", 6, "--run", run, *options)
    assert load_evaluator(run / "best.json").provenance["learner"]["rate"] == 0.05
    assert f"expected --learner {OWN_LEARNER} to be typed as well" in fails(
        capsys, "tic_tac_toe", "--resume", run
    )
    more = ["--resume", run, "--quiet", "--games", 8]
    succeeds("tic_tac_toe", "--learner", OWN_LEARNER, *more)
    assert (run / "log.csv").read_text().splitlines()[-1].startswith("8,")
    for name, message in (
        (
            "docs.examples.online_td:Nobody",
            "expected a class 'Nobody' in module docs.examples.",
        ),
        ("docs.examples.hexapawn:Hexapawn", "expected a subclass of learner.Learner, found"),
    ):
        assert message in fails(capsys, "tic_tac_toe", "--learner", name, "--run", tmp_path / "x")


def test_features_that_are_refused(tmp_path: Path, capsys: Any) -> None:
    arguments = with_features(tmp_path, "rootstrap")
    (tmp_path / "mine.py").write_text(FEATURES.replace("def pieces", "def men"))
    found = fails(capsys, *arguments, tmp_path / "run")
    assert "mine.py: expected names that no term of classic has, found men" in found
    (tmp_path / "mine.py").write_text("x = (\n")
    assert "mine.py, line 1: expected Python" in fails(capsys, *arguments, tmp_path / "run")
    (tmp_path / "mine.py").write_text(FEATURES)
    for learner, message in (
        ("network", "reads the encoding piece_squares of a position and no terms"),
        ("rote", "--features: expected none for rote, which learns no weights over terms; found"),
    ):
        again = with_features(tmp_path, learner)
        assert message in fails(capsys, *again, tmp_path / "run")
    (tmp_path / "mine.py").unlink()
    assert "mine.py: expected a file with features, found" in fails(
        capsys, *arguments, tmp_path / "run"
    )
    assert not (tmp_path / "run").exists()


KAYLES = """
from games import Game


class Kayles(Game):
    def start(self):
        return (5, 6)

    def legal_moves(self, rows):
        return [
            (row, pins, left)
            for row, length in enumerate(rows)
            for pins in (1, 2)
            for left in range(length - pins + 1)
        ]

    def play(self, rows, move):
        row, pins, left = move
        parts = (left, rows[row] - pins - left)
        return tuple(sorted(part for part in (*rows[:row], *rows[row + 1 :], *parts) if part))

    def outcome(self, rows):
        return None if rows else -1.0
"""
ROWS = """
from games.kernels import kernel


@kernel
def odd_rows(position):
    count = 0
    for length in position:
        count += length % 2
    return count
"""


@pytest.mark.whole_run
def test_a_game_and_its_only_features_in_plain_files(tmp_path: Path) -> None:
    (tmp_path / "kayles.py").write_text(KAYLES)
    (tmp_path / "rows.py").write_text(ROWS)
    done = subprocess.run(
        [sys.executable, ROOT / "train.py", "kayles:Kayles", "--learner", "rootstrap",
         "--games", "4", "--features", "rows.py", "--run", "run", *TINY, "--opponents", "random"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing to compare with: kayles has no features of its own" in done.stdout
    assert "odd_rows" in json.loads((tmp_path / "run/best.json").read_text())["weights"]


test_errors = errors_of(globals())
