"""Command lines that are refused: each with the one line that is printed, and nothing is left.

They stand in errors/refused.txt: see `errors`. `{tmp}` is a folder with files that may name a
player, of which most are damaged.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import shlex
import tempfile
from pathlib import Path
from typing import Any

from errors import errors_of

import games
import plysmith
from search import as_evaluator


@functools.cache
def files() -> dict[str, str]:
    """Returns the files of a folder in which commands are tried."""
    made = dict.fromkeys(("empty.txt", "empty.pdn", "empty.mat", "latin.xyz"), "")
    made["evil.txt"] = '[Game "evilmod"]\n\n*\n'
    made["bad.txt"] = "........X O\n\nnothing\n"
    for game, name in (("checkers", "material"), ("tic_tac_toe", "open_lines")):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            as_evaluator(games.load(game), name).save(file.name)
            made[f"{game}.json"] = Path(file.name).read_text("utf-8")
    content = json.loads(made["checkers.json"])
    made["nan.json"] = json.dumps(content | {"weights": {"men": float("nan")}})
    made["cut.json"] = made["checkers.json"][:100]
    return made


def error_of_line(line: str, names: dict[str, Any], folder: Path) -> str:
    """Returns what a command prints as it refuses."""
    for name, text in files().items():
        (folder / name).write_text(text, "latin-1")
    before = sorted(folder.rglob("*"))
    out, err = io.StringIO(), io.StringIO()
    words = shlex.split(line.replace("{tmp}", str(folder)))
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = plysmith.main(words)
        except SystemExit as refusal:  # of the command line
            status = refusal.code
    (last,) = err.getvalue().splitlines()
    assert status == 2 and out.getvalue() == "", line
    assert sorted(folder.rglob("*")) == before, line
    return last.replace(str(folder), "{tmp}")


test_errors = errors_of(globals())
