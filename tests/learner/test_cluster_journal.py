"""The journal of a run on a cluster: what was played stays, and nobody else's file is read."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
from learner.dice_play import starts_of
from learner.frame import Progress
from learner.journal import Journal
from learner.multiplayer_play import late_starts
from learner.rounds.batch import BatchFit
from learner.self_play import SelfPlay, Task
from play.workers.transport import pack
from search import as_evaluator


class Hands:
    """A cluster whose last tasks are done first, and which ends after some results."""

    backend, jobs, cluster = "dask", 2, object()

    def __init__(self, most: int = 10**9) -> None:
        self.most, self.played = most, 0

    def map(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, arrived: Any = None
    ) -> Iterator[Any]:
        tasks = list(tasks)
        results = [function(task) for task in tasks]
        self.played += len(tasks)
        for first in reversed(range(0, len(tasks), 3)):
            arrived(first, results[first : first + 3])
        for result in results:
            self.most -= 1
            if self.most < 0:
                raise KeyboardInterrupt
            yield result


def made(folder: Path, hands: Any) -> BatchFit:
    learner = BatchFit(
        "checkers", games=40, round_games=20, games_per_report=4, depth=1, K=1.0, seed=3,
        workers=hands, store=folder / "store",
    )  # fmt: skip
    learner.keep_journal(folder / "journal")
    return learner


@pytest.mark.parametrize("stopped", [6, 26])
def test_games_that_were_played_are_not_played_again(tmp_path: Path, stopped: int) -> None:
    whole = BatchFit(
        "checkers", games=40, round_games=20, games_per_report=4, depth=1, K=1.0, seed=3
    )
    whole.fit()
    state: list[Any] = []

    def watch(progress: Progress) -> None:
        state[:] = [first.checkpoint()]

    first = made(tmp_path, Hands(stopped))
    with pytest.raises(KeyboardInterrupt):
        first.fit(watch=watch)
    assert state[0]["games_played"] == stopped // 4 * 4
    again = Hands()
    second = made(tmp_path, again)
    second.fit(resume=state[0])
    assert again.played == 20 - stopped // 20 * 20  # only rounds that had not begun
    assert second.evaluator_.weights.tolist() == whole.evaluator_.weights.tolist()
    assert not (tmp_path / "journal").exists()


@pytest.mark.plain
def test_only_whole_results_of_this_round_are_read(tmp_path: Path) -> None:
    path, nim = tmp_path / "journal", games.load("nim")
    journal = Journal(path)
    assert journal.begin(nim, "one") == {}
    journal.add([4, 5], ["a", {"b": [1.5, (None, True)], 2: nim}])
    journal.add([6, 7], [object(), np.arange(6, dtype=np.int16).reshape(2, 3)])  # 6 is not kept
    whole = path.read_bytes()
    again = Journal(path).begin(nim, "one")
    assert list(again) == [4, 5, 7] and again[4] == "a"
    assert again[5] == {"b": [1.5, (None, True)], 2: nim}
    assert again[7].dtype == np.int16 and again[7].tolist() == [[0, 1, 2], [3, 4, 5]]
    for damaged in (whole[:-1], whole[:-9] + b"x" + whole[-8:]):  # cut short by a kill; or changed
        path.write_bytes(damaged)
        assert list(Journal(path).begin(nim, "one")) == [4, 5]
        assert whole.startswith(path.read_bytes())
    path.write_bytes(whole)
    assert Journal(path).begin(nim, "two") == {}  # other weights
    assert path.read_bytes() == b""


@pytest.mark.parametrize("name", ["checkers", "backgammon", "chinese_checkers", "tic_tac_toe"])
def test_games_of_every_kind_are_kept_whole(tmp_path: Path, name: str) -> None:
    game = games.load(name)
    task = Task(game, as_evaluator(game, next(iter(game.evaluators))), None, 1, None, 40, True)
    starts = late_starts(1, 9) if game.players > 2 else starts_of(game, plies=2, seed=1)
    lessons = [SelfPlay(task)(start) for start in islice(starts, 2)]
    journal = Journal(tmp_path / "journal")
    journal.begin(game, "one")
    journal.add([0, 1], lessons)
    again = Journal(tmp_path / "journal").begin(game, "one")
    for lesson, kept in zip(lessons, again.values(), strict=True):
        assert type(kept.played) is type(lesson.played) and kept.played.game is game
        for part, value in vars(lesson.played).items():
            np.testing.assert_array_equal(getattr(kept.played, part), value)


@pytest.mark.plain
def test_no_journal_runs_code(tmp_path: Path) -> None:
    """Pickles as earlier versions wrote them with an empty key, and forged lines of this one."""

    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "evil"),)

    path, nim = tmp_path / "journal", games.load("nim")
    content = b"[1]\n" + pack([(True, Evil())])
    signature = hmac.digest(b"", b"one\n" + content, hashlib.sha256)
    files = [signature + len(content).to_bytes(8, "little") + content]
    forged = ['{"Path": ["x"]}', '{"array": ["O", [1], "AAAAAAAAAAA="]}', "[1, 2, 3]", "{}"]
    forged += ['{"array": ["<f8", [-1], "AAAA"]}', '{"Lesson": [1, 2, 3, 4, 5]}', "[" * 10**5]
    for plain in forged:
        text = f"[1, {plain}]\n".encode()
        files.append(hashlib.sha256(b"one\n" + text).hexdigest().encode() + b" " + text)
    for data in files:
        path.write_bytes(data)
        assert Journal(path).begin(nim, "one") == {}, data[:200]
        assert path.read_bytes() == b""
    assert not (tmp_path / "evil").exists()
