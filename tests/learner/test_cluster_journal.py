"""The journal of a run on a cluster: what was played stays, and nobody else's file is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from learner import journal as journal_module
from learner.frame import Progress
from learner.journal import Journal
from learner.rounds.batch import BatchFit
from play.workers.transport import pack


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
            part = [(True, result) for result in results[first : first + 3]]
            arrived(first, len(part), pack(part))
        for result in results:
            self.most -= 1
            if self.most < 0:
                raise KeyboardInterrupt
            yield result


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "user_cache_dir", lambda *a, **o: str(tmp_path / "cache"))


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
def test_only_results_of_this_round_and_user_are_read(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "evil"),)

    path = tmp_path / "journal"
    journal = Journal(path)
    assert journal.begin("one") == {}
    journal.add([4, 5], pack([(True, "a"), (False, ValueError())]))
    journal.add([7], pack([(True, "b")]))
    whole = path.read_bytes()
    assert Journal(path).begin("one") == {4: "a", 7: "b"}
    path.write_bytes(whole[:-1])  # cut short by a kill
    assert Journal(path).begin("one") == {4: "a"}
    path.write_bytes(whole)
    assert Journal(path).begin("two") == {}  # other weights
    assert path.read_bytes() == b""

    key = tmp_path / "cache" / "journal.key"
    assert key.stat().st_mode & 0o077 == 0
    key.write_bytes(os.urandom(32))  # somebody else's
    journal = Journal(path)
    journal.begin("one")
    journal.add([1], pack([(True, Evil())]))
    key.write_bytes(os.urandom(32))
    assert Journal(path).begin("one") == {}
    assert not (tmp_path / "evil").exists()
    key.chmod(0o644)
    with pytest.raises(PermissionError, match="only user .* can read, found one of .* mode 644"):
        Journal(path)
