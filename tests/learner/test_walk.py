"""From train.py to the weights: a reader passes few files on the way to what changes them.

`programs`, the surroundings that all commands share, does not count.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from games import kernels
from learner.frame import Learner

ROOT = Path(__file__).resolve().parents[2]
#: Most files between the command and a change of weights, both counted.
MOST_FILES = 7
FIT = Learner.fit
pytestmark = [
    pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled"),
    pytest.mark.whole_run,
]


class Walk:
    """Notes the files on the stack whenever the weights of a learner change while it learns."""

    def __init__(self) -> None:
        self.learner: Any = None
        self.before = b""
        self.walks: set[tuple[str, ...]] = set()

    def fit(self, learner: Any, *given: Any, **options: Any) -> Any:
        """Stands in for `Learner.fit`, which it calls."""
        self.learner = learner
        sys.setprofile(self)
        try:
            return FIT(learner, *given, **options)
        finally:
            sys.setprofile(None)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        weights = getattr(vars(self.learner).get("evaluator_"), "weights", None)
        if weights is None or (now := weights.tobytes()) == self.before:
            return
        self.before = now
        at: FrameType | None = frame.f_back if event == "call" else frame
        stack = []
        while at is not None:
            stack.append(at)
            at = at.f_back
        learns = [step for step in stack if step.f_code.co_name == "learn"]
        if not any(step.f_locals.get("self") is self.learner for step in learns):
            return  # where learning starts
        names = [step.f_code.co_filename for step in reversed(stack)]
        paths = [Path(name).resolve() for name in names if name.endswith(".py")]
        ours = [path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT)]
        others = (".venv", "tests", "programs")
        self.walks.add(tuple(dict.fromkeys(str(p) for p in ours if p.parts[0] not in others)))


@pytest.mark.parametrize(
    "learner", ["samuel", "samuel1959", "batch", "td", "tdleaf", "rootstrap", "treestrap"]
)
def test_few_files_lie_between_the_command_and_the_weights(
    learner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    words = f"checkers --learner {learner} --games 8 --depth 1 --snapshots 1 --snapshot-games 2"
    words += f" --final-games 2 --match-games 2 --opponents material --quiet --run {tmp_path}/run"
    if learner in ("batch", "samuel"):
        words += " --set round_games=4"
    monkeypatch.setattr(sys, "argv", ["train.py", *words.split()])
    walk = Walk()
    monkeypatch.setattr(Learner, "fit", lambda *given, **options: walk.fit(*given, **options))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "train.py"), run_name="__main__")
    assert ended.value.code == 0 and walk.walks
    assert max(map(len, walk.walks)) <= MOST_FILES, max(walk.walks, key=len)
