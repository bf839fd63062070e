"""No file makes code run: a test for every way of docs/security.md that could lead there."""

from __future__ import annotations

import grp
import json
import os
import pickle
import pwd
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import safetensors
import safetensors.numpy

import games
import train
from games import kernels
from games.checkers import Checkers
from games.checkers.pdn import read_games
from games.file_form import form_of
from games.kernels import cache
from games.kernels.cache import only_ours
from learner.positions.store import PositionStore, Rows
from learner.run.request import parser, settings_of
from play.__main__ import main as play
from play.workers import transport
from search import load_evaluator
from search.evaluators.files.arrays import load_arrays, save_arrays
from search.evaluators.files.shipped import DATA
from search.lookups.rote import RoteMemory

ROOT = Path(__file__).resolve().parents[2]
RAN = "ran"
EVIL = "evil:Game"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, in which somebody else has put a module that leaves a mark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "evil.py").write_text(marks(tmp_path))
    yield tmp_path
    sys.modules.pop("evil", None)  # where a test names it, and so imports it


def marks(folder: Path) -> str:
    """Returns Python that leaves a file behind when it runs."""
    return f"open({str(folder / RAN)!r}, 'w').close()\n"


def refused(capsys: Any, *arguments: object) -> str:
    """Returns the message with which train.py refuses the arguments."""
    assert train.main([str(argument) for argument in arguments]) == 2
    return str(capsys.readouterr().err)


# --- folders of runs --------------------------------------------------------------------------


def run_of_others(folder: Path, **changes: Any) -> Path:
    """A folder that says that it is a run, with changed settings."""
    settings = asdict(settings_of(parser().parse_args(["checkers", "--learner", "td"])))
    run = folder / "run"
    run.mkdir()
    (run / "options.json").write_text(json.dumps({**settings, **changes}))
    return run


@pytest.mark.plain
def test_a_run_does_not_name_its_features(here: Path, capsys: Any) -> None:
    text = marks(here).encode()
    run = run_of_others(here, features="mine.py")
    for path in (run / "features.py", here / "mine.py"):
        path.write_bytes(text)
    said = refused(capsys, "checkers", "--resume", run)
    assert "a run names no code: expected --features mine.py to be typed as well" in said
    assert not (here / RAN).exists()


@pytest.mark.plain
@pytest.mark.parametrize(
    ("role", "protocol"), [("opponents", "hub"), ("pacemakers", "uci"), ("opponents", "uci[A=1]")]
)
def test_a_run_does_not_name_programs(here: Path, capsys: Any, role: str, protocol: str) -> None:
    run = run_of_others(here, **{role: ["material", f"{protocol}:touch {here / RAN}"]})
    said = refused(capsys, "checkers", "--resume", run)
    assert "a run names no code: expected --opponents" in said
    assert not (here / RAN).exists()
    said = refused(capsys, "checkers", "--resume", run, "--opponents", "material")
    assert "expected --opponents" in said and not (here / RAN).exists()


@pytest.mark.plain
def test_a_run_does_not_name_a_learner_to_import(here: Path, capsys: Any) -> None:
    run = run_of_others(here, learner="evil:Learner")
    said = refused(capsys, "checkers", "--resume", run)
    assert "expected --learner evil:Learner to be typed as well, found none" in said
    said = refused(capsys, "checkers", "--resume", run, "--learner", "td")
    assert "expected --learner evil:Learner to be typed as well, found td" in said
    assert not (here / RAN).exists()
    refused(capsys, "checkers", "--resume", run, "--learner", "evil:Learner")
    assert (here / RAN).exists()


@pytest.mark.plain
def test_a_run_does_not_name_a_game_to_import(here: Path, capsys: Any) -> None:
    run = run_of_others(here, game=EVIL)
    said = refused(capsys, "checkers", "--resume", run)
    assert f"expected game {EVIL} to be typed as well, found checkers" in said
    assert not (here / RAN).exists()


# --- files of one kind each -------------------------------------------------------------------


def arrays_of_evil(source: Path, target: Path) -> None:
    """A copy of a safetensors file of ours whose header names a game to import."""
    with safetensors.safe_open(source, framework="numpy") as file:
        header = json.loads(file.metadata()["plysmith"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}
    text = json.dumps({**header, "game": EVIL})
    target.write_bytes(safetensors.numpy.save(arrays, {"plysmith": text}))


def linear(path: Path) -> None:
    content = json.loads((DATA / "checkers/samuel.json").read_text())
    path.write_text(json.dumps({**content, "game": EVIL}))
    load_evaluator(path)


def network(path: Path) -> None:
    arrays_of_evil(DATA / "checkers/quantised.safetensors", path)
    load_evaluator(path)


def rote(path: Path) -> None:
    RoteMemory(Checkers(), capacity=10).save(path)
    header, columns = load_arrays(path)
    save_arrays(path, {**header, "game": EVIL}, columns)
    RoteMemory.load(Checkers(), path)


class Trap:
    """An object that leaves a mark when it is unpickled."""

    def __reduce__(self) -> Any:
        return exec, (marks(Path.cwd()),)


def store(path: Path) -> None:
    game = Checkers()
    positions = PositionStore(path, game)
    positions.extend(Rows.of([game.start()]))
    positions.flush()
    (shard,) = path.glob("positions-*")
    shard.write_bytes(pickle.dumps(Trap()))
    PositionStore(path, game).load()


def text_of_a_game(path: Path) -> None:
    game = games.known("connect_four")
    text = f'[Game "{EVIL}"]\n[First "{EVIL}"]\n\n4\n*\n'
    (read,) = form_of(game).read(text, game)
    raise ValueError(f"expected {EVIL} to be ignored, found {read.problems}")


def pdn(path: Path) -> None:
    (read,) = read_games(f'[GameType "{EVIL}"]\n[White "{EVIL}"]\n1. 11-15 *', Checkers())
    raise ValueError(f"expected {EVIL} to be ignored, found {read.problems}")


def kept_game(path: Path) -> None:
    client = pytest.importorskip("starlette.testclient")
    from play.web.server import create_app

    seats = [{"kind": "human"}, {"kind": "evaluator", "evaluator": EVIL}]
    for id, game in (("a", EVIL), ("b", "checkers")):
        content = {"format": "plysmith-table-1", "id": id, "game": game, "seats": seats}
        path.mkdir(exist_ok=True)
        (path / f"{id}.json").write_text(json.dumps(content))
    app = create_app(data=DATA, runs=path / "runs", kept=path)
    with client.TestClient(app, base_url="http://127.0.0.1:8000") as page:
        found = [page.get(f"/api/tables/{id}") for id in ("a", "b")]
    assert found[0].status_code == 400
    assert found[1].status_code == 400 or EVIL not in str(found[1].json()["seats"])
    raise ValueError(f"expected {EVIL} to be refused")


def message(path: Path) -> None:
    """A game in a message of another process is one that this process knows."""
    transport._game(EVIL)


@pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
@pytest.mark.parametrize(
    "load", [linear, network, rote, store, text_of_a_game, pdn, kept_game, message]
)
def test_a_file_does_not_name_a_game_to_import(here: Path, load: Callable[[Path], None]) -> None:
    with pytest.raises(ValueError, match="expected"):
        load(here / "file")
    assert not (here / RAN).exists()
    # what a person types is imported, so the trap works
    with pytest.raises(ValueError, match="expected a class"):
        games.load(EVIL)
    assert (here / RAN).exists()


# --- texts for a terminal ---------------------------------------------------------------------


def test_a_file_sends_no_commands_to_the_terminal(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "game.pdn"
    tags = '[White "\x1b]0;title\x07"]\n[Black "B\x9b2J"]\n'
    path.write_text(f"{tags}1. 11-15 22-18 *\n{tags}1. \x1bc 22-99 *\n")
    assert play(["analyse", str(path), "--depth", "1", "--quiet"]) == 1
    said = "".join(capsys.readouterr())
    assert "White ?]0;title?" in said and "game 2: " in said
    assert all(sign.isprintable() or sign == "\n" for sign in said)
    path = tmp_path / "evaluator.json"
    content = json.loads((DATA / "checkers/samuel.json").read_text())
    path.write_text(json.dumps({**content, "name": "\x1b]0;title\x07"}))
    with pytest.raises(ValueError, match="expected field 'name' of printable characters, found"):
        load_evaluator(path)


@pytest.mark.thorough
def test_a_configuration_of_plots_names_no_module(here: Path) -> None:
    (here / "matplotlibrc").write_text("backend: module://evil\n")
    source = "from learner.reports.plots import plot_weights as p; p('x.png', {'T': [[5, 1.0]]})"
    run = python(here, source)
    assert run.returncode == 0 and (here / "x.png").exists(), run.stderr
    assert not (here / RAN).exists()


# --- compiled code on disk --------------------------------------------------------------------

KERNELS = """
from games.kernels import kernel

@kernel
def double(number):
    return 2 * number

@kernel(signature="int64(int64)")
def factorial(number):
    return 1 if number < 2 else number * factorial(number - 1)
"""
USE = "import mine; print(mine.double(21), mine.factorial(5))"


def python(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder whose modules it can import."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.skipif(not kernels.compiled or os.name != "posix", reason="nothing is cached")
def test_compiled_code_that_others_can_write_is_not_read(here: Path) -> None:
    (here / "mine.py").write_text(KERNELS)
    folder = here / "__pycache__"
    first = python(here, USE)
    assert first.stdout == "42 120\n" and "expected a folder" not in first.stderr, first.stderr
    for open_to_others in ("files", "folder"):
        cached = [*folder.glob("*.nbi"), *folder.glob("*.nbc")]
        assert len(cached) == 4  # an index and a specialisation of each kernel
        for path in cached:
            path.write_bytes(pickle.dumps(Trap()))
            path.chmod(0o666)
        if open_to_others == "folder":
            folder.chmod(0o777)
        again = python(here, USE)
        assert again.stdout == "42 120\n" and not (here / RAN).exists()
        warned = "expected a folder that only you can write to" in again.stderr
        assert warned == (open_to_others == "folder")


@pytest.mark.plain
@pytest.mark.skipif(os.name != "posix", reason="other systems keep folders of users apart")
def test_whose_compiled_code_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "code.nbc"
    assert not only_ours(path)
    path.write_bytes(b"")
    for mode, expected in ((0o600, True), (0o644, True), (0o646, False), (0o666, False)):
        path.chmod(mode)
        assert only_ours(path) is expected, oct(mode)
    path.chmod(0o664)  # a group counts as its only member
    mine = grp.struct_group(("me", "x", path.stat().st_gid, []))
    monkeypatch.setattr(pwd, "getpwuid", lambda number: SimpleNamespace(pw_name="me"))
    for group, expected in (
        (mine, True),
        (grp.struct_group(("me", "x", 1, ["me", "you"])), False),
        (grp.struct_group(("staff", "x", 1, [])), False),
    ):
        cache._is_private.cache_clear()
        monkeypatch.setattr(grp, "getgrgid", lambda number, group=group: group)
        assert only_ours(path) is expected, group
    cache._is_private.cache_clear()
    path.chmod(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert only_ours(path) is (path.stat().st_uid == 0)


@pytest.mark.thorough
@pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")
def test_a_configuration_of_numba_names_no_module(here: Path) -> None:
    pytest.importorskip("yaml")
    (here / "mine.py").write_text(KERNELS)
    (here / ".numba_config.yaml").write_text(
        f"cache_locator_classes: evil.Locator\ncache_dir: {here / 'cache'}\n"
    )
    run = python(here, USE)
    assert run.stdout == "42 120\n", run.stderr
    assert not (here / RAN).exists() and not (here / "cache").exists()


# --- processes --------------------------------------------------------------------------------

PROCESSES = """
from learner.arena import Arena
from games.tic_tac_toe import TicTacToe
from play.players.limits import Limits
from play.workers import Workers
from search import as_evaluator

if __name__ == "__main__":
    with Workers("loky", 1) as workers:
        print(*workers.map(len, ["abc"]))
    game = TicTacToe()
    arena = Arena(game, limits=Limits(depth=1))
    print(arena.submit(as_evaluator(game, None), "random", games=2, seed=0).result().games)
    arena.close()
"""


@pytest.mark.thorough
def test_processes_import_nothing_from_the_current_folder(here: Path, tmp_path: Path) -> None:
    for name in ("joblib", "multiprocessing", "struct"):
        (here / f"{name}.py").write_text(marks(here))
    program = tmp_path / "elsewhere/program.py"
    program.parent.mkdir()
    program.write_text(PROCESSES)
    run = subprocess.run(
        [sys.executable, program], cwd=here, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert not (here / RAN).exists()
    assert run.stdout == "3\n2\n", run.stderr
