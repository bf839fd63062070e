"""Programs for people before anything is compiled: moves are legal and answered at once."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

import games
from games import kernels
from games.kernels.patience import Meanwhile
from play.players.limits import Limits
from play.players.parse import seated
from play.players.player import Player
from play.terminal import Session, run_session
from search import Engine
from tests.web_client import act, acted, client_of, new_table, wait_for
from tests.web_server import HUMAN

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="nothing is compiled")

#: A game of each kind, with the evaluator that people meet, its limits, and its first roll.
KINDS = [
    ("checkers", "quantised", Limits(depth=3), None),
    ("connect_four", "solved+solver", Limits(depth=3), None),
    ("backgammon", "wide", Limits(depth=0), 5),
    ("chinese_checkers6", "hand", Limits(depth=2), None),
]


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Lets this process hurry; yields the event after which compilations end."""
    go, run = threading.Event(), Meanwhile._run

    def held(self: Meanwhile) -> None:
        go.wait()
        run(self)

    monkeypatch.setattr(Meanwhile, "_run", held)
    monkeypatch.setattr("search.engine.PATIENCE", 0.0)
    kernels.hurry()
    yield go
    go.set()
    kernels.hurry(False)


@kernels.kernel
def _far(board: Any, places: Any) -> Any:
    """Uses bits beyond 63, which Python has and native code has not."""
    return kernels.shift_left(board, places) ^ 0x2F0D


def test_a_kernel_runs_uncompiled_until_a_thread_has_compiled_it(compiler: threading.Event) -> None:
    for _ in range(2):
        assert _far(3, 62) == kernels.word(3 << 62 ^ 0x2F0D)
    assert not _far.overloads  # type: ignore[attr-defined]
    [job] = _far.jobs.values()  # type: ignore[attr-defined]
    compiler.set()
    assert job.ready(60.0)
    assert _far(3, 62) == kernels.word(3 << 62 ^ 0x2F0D)
    assert len(_far.overloads) == 1  # type: ignore[attr-defined]


def test_an_error_of_a_compilation_is_raised_at_the_next_call(compiler: threading.Event) -> None:
    @kernels.kernel
    def broken(number: Any) -> Any:
        return number + "one" if number > 1 else number

    assert broken(1) == 1
    [job] = broken.jobs.values()  # type: ignore[attr-defined]
    compiler.set()
    assert job.ready(60.0)
    with pytest.raises(Exception, match="No implementation"):
        broken(1)


@pytest.mark.parametrize(("name", "evaluator", "limits", "roll"), KINDS)
def test_an_engine_answers_uncompiled_and_then_natively(
    name: str, evaluator: str, limits: Limits, roll: int | None, compiler: threading.Event
) -> None:
    game: Any = games.load(name)
    seat = seated(game, evaluator, limits)
    uncompiled = seat.think(game.start(), roll=roll)
    assert uncompiled.compiling and not seat.engine.native
    assert uncompiled.move in game.legal_moves(game.start(), *[roll] * (roll is not None))
    compiler.set()
    with kernels.patiently():
        result = seat.think(game.start(), roll=roll)
    assert seat.engine.native and not result.compiling
    if "+" not in evaluator:  # else the lookup answers, which an uncompiled search does without
        assert (result.move, result.value) == (uncompiled.move, pytest.approx(uncompiled.value))


def test_a_reply_does_not_wait_for_a_database(compiler: threading.Event) -> None:
    game = games.load("checkers")
    seat = seated(game, "quantised", Limits(depth=1))
    drawn = seat.think(game.parse_position("B:WK32:BK1"))  # whose value is 0
    assert drawn.compiling and "tables" not in vars(seat.lookup)
    compiler.set()
    with kernels.patiently():
        assert seat.think(drawn.position).value_text == "drawn"


def test_an_uncompiled_search_ends_in_time(
    compiler: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.engine.UNCOMPILED", 0.05)
    game = games.load("checkers")
    result = Engine(game, "classic").search(game.start(), depth=60)
    assert 0 < result.depth < 60 and result.compiling


def test_the_terminal_says_what_is_not_compiled_yet(compiler: threading.Event) -> None:
    session = Session(games.load("checkers"), seated(games.load("checkers"), "classic", Limits(2)))
    shown = [*session.advance(), *session.answer("11-15"), *session.advance()]
    assert any("at depth 2 (not compiled yet)" in text for text in shown)
    compiler.set()
    hint = [*session.answer("hint")]  # waits
    assert len(hint) > 2 and session.thinker.engine.native


def test_ctrl_c_ends_the_wait_for_a_hint_and_not_the_game(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(games.load("nim"), Player("random").seat(games.load("nim"), Limits(1)))
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nposition\nquit\n"))

    def interrupted(rest: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(session.commands, "hint", interrupted)
    assert run_session(session) == 0
    shown = capsys.readouterr().out
    assert shown.index("Ctrl-C once more") < shown.index("> position") < shown.index("> quit")


def test_the_page_is_played_before_anything_is_compiled(
    compiler: threading.Event, runs: Path
) -> None:
    with client_of(runs) as client:
        seat = {"kind": "evaluator", "evaluator": "checkers:classic", "seconds": 0.1}
        view = new_table(client, seats=[HUMAN, seat])
        answers: list[Any] = []
        ask = {"evaluators": ["checkers:classic"], "move": view["legal"][0], "ply": 0}
        why = threading.Thread(target=lambda: answers.append(act(client, view, "why", **ask)))
        why.start()
        acted(client, view, "move", text=view["legal"][0])
        wait_for(client, view, 2)
        [sitting] = client.app.app.state.host.sittings.values()
        assert sitting.news["thought"][1]["compiling"].startswith("compiling")
        compiler.set()
        why.join()
        assert answers[0].status_code == 200
