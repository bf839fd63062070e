"""Files that are damaged, mutated or hostile: a line, never a traceback, and no control character.

The cache of compiled code has its damages in `tests/games/test_kernel.py`.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plysmith
from games import kernels
from search.evaluators.files.shipped import DATA

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled"),
]

ESCAPE = "\x1b]0;title\x07\x1b[2J\x9b2J"
#: Pieces that mutations put into texts.
PIECES = (
    b"",
    b"\0",
    b"\x1b[2J",
    b"nan",
    b"1e400",
    b"-1",
    b'"',
    b"{",
    b"[]",
    b"\xff\xfe",
    b",,",
    b"9" * 400,
)
RUN = (
    "train tic_tac_toe --learner td --games 20 --depth 1 --quiet --snapshots 1 --snapshot-games 2"
    " --final-games 2 --match-games 4 --seed 1 --run"
)
FIT = "--quiet --held-out 0.2 --alpha 1 --output"


def mutated(content: bytes, lots: random.Random) -> bytes:
    """Returns a content with one to three bits, pieces or ends changed."""
    changed = bytearray(content)
    for _ in range(lots.randint(1, 3)):
        at = lots.randrange(len(changed) + 1)
        kind = lots.randrange(4)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << lots.randrange(8)
        elif kind == 1:
            del changed[at:]
        else:
            changed[at : at + lots.choice((0, 1, 9, 99))] = lots.choice(PIECES)
    return bytes(changed)


def ended(capfd: Any, size: int, *arguments: object) -> tuple[int, str]:
    """Runs a command; returns its status and what it said, within the limits of each of them."""
    began = time.thread_time()
    status = plysmith.main([str(one) for one in arguments])
    assert time.thread_time() - began < 2 * max(1, size / 2**20) + 1, arguments
    out, err = capfd.readouterr()
    assert status in (0, 1, 2) and "Traceback" not in err, (arguments, err)
    assert not set(map(chr, (*range(8), 11, 27, 155))) & set(out + err), (arguments, out, err)
    if status == 2:
        assert err.count("\n") <= 2 and err.strip(), (arguments, err)
    return status, out + err


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small run."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert plysmith.main([*RUN.split(), str(folder)]) == 0
    return folder


def table_of(names: list[str]) -> str:
    """Returns a table of traces, of 150 games and two terms."""
    lots = random.Random(1)
    rows = [f"g{at // 2},{lots.randint(0, 1)},{lots.randint(-3, 3)},{at % 4}" for at in range(300)]
    return "\n".join((f"game,result,{','.join(names)}", *rows)) + "\n"


def test_600_mutated_tables_of_traces(tmp_path: Path, capfd: Any) -> None:
    lots, games_of = random.Random(1), np.arange(300) // 2
    (tmp_path / "a.csv").write_text(table_of(["men", "kings"]))
    columns = {"result": games_of % 2, "game": games_of, "men": np.arange(300) % 5 - 2}
    np.savez(tmp_path / "b.npz", **columns)
    np.savez_compressed(tmp_path / "c.npz", **columns)
    whole = [(path.suffix, path.read_bytes()) for path in sorted(tmp_path.iterdir())]
    terms = b"name,weight,fixed,low,high\nmen,1,,0,3\nkings,2,,,\n"
    for number in range(600):
        ending, content = whole[number % 3]
        path, more = tmp_path / f"mutant{ending}", []
        if number % 6 == 0:
            path.write_bytes(content)
            (tmp_path / "terms.csv").write_bytes(mutated(terms, lots))
            more = ["--terms", tmp_path / "terms.csv"]
        else:
            path.write_bytes(mutated(content, lots))
        ended(capfd, len(content), "fit", path, *FIT.split(), tmp_path / "fit", *more)


def test_400_mutated_folders_of_runs(run: Path, tmp_path: Path, capfd: Any) -> None:
    lots = random.Random(2)
    files = [path for path in run.iterdir() if path.is_file()]
    for _ in range(400):
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        shutil.copytree(run, tmp_path / "runs" / "one")
        path = tmp_path / "runs" / "one" / lots.choice(files).name
        path.write_bytes(mutated(path.read_bytes(), lots))
        status, _ = ended(capfd, path.stat().st_size, "runs", tmp_path / "runs")
        assert status in (0, 2)


def digests(folder: Path) -> dict[str, str]:
    """Returns the digests of the evaluators in a folder, and of its log."""
    names = [*folder.glob("*.safetensors"), *folder.glob("*.json"), folder / "log.csv"]
    return {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in names
        if path.name not in ("report.json", "options.json", "checkpoint.json")
    }


def test_100_damages_of_a_checkpoint(run: Path, tmp_path: Path, capfd: Any) -> None:
    lots, whole = random.Random(3), digests(run)
    for number in range(100):
        folder = tmp_path / f"run{number}"
        shutil.copytree(run, folder)
        path = folder / "checkpoint.json"
        path.write_bytes(mutated(path.read_bytes(), lots))
        status, said = ended(
            capfd, path.stat().st_size, "train", "tic_tac_toe", "--resume", folder, "--quiet"
        )
        assert status == 2 and said.count("\n") == 1 or digests(folder) == whole, said
        shutil.rmtree(folder)


def replaced(value: Any, text: str) -> Iterator[Any]:
    """Yields a value of JSON with one of its texts, or names, replaced, for each of them."""
    if isinstance(value, str):
        yield text
    elif isinstance(value, list):
        for at, one in enumerate(value[:40]):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in replaced(one, text))
    elif isinstance(value, dict):
        for name, one in value.items():
            yield {text if other == name else other: part for other, part in value.items()}
            yield from ({**value, name: other} for other in replaced(one, text))


def test_no_text_of_a_file_reaches_the_terminal_as_a_command(
    run: Path, tmp_path: Path, capfd: Any
) -> None:
    shutil.copytree(run, tmp_path / "runs" / "one")
    for path in sorted(run.glob("*.json")):
        copy = tmp_path / "runs" / "one" / path.name
        for content in replaced(json.loads(path.read_text()), ESCAPE):
            copy.write_text(json.dumps(content))
            ended(capfd, 0, "runs", tmp_path / "runs")
            if path.name in ("options.json", "checkpoint.json"):
                ended(capfd, 0, "train", "tic_tac_toe", "--resume", copy.parent, "--quiet")
        shutil.copy(path, copy)
    evaluator = tmp_path / "evaluator.json"
    for content in replaced(json.loads((DATA / "checkers/samuel.json").read_text()), ESCAPE):
        evaluator.write_text(json.dumps(content))
        ended(capfd, 0, "play", "explain", "checkers", "start", evaluator)
    openings = tmp_path / "openings.json"
    source = json.loads((DATA / "checkers/even.openings.json").read_text())
    for content in replaced({**source, "openings": source["openings"][:2]}, ESCAPE):
        openings.write_text(json.dumps(content))
        ended(
            capfd,
            0,
            "play",
            "match",
            "checkers",
            "random",
            "random",
            "--games",
            "2",
            "--openings",
            openings,
            "--quiet",
        )
    for name, text in {
        "a.pdn": '[White "?"]\n[Event "?"]\n1. 11-15 { ? } 22-18 ? *\n',
        "a.mat": " 3 point match\n\n Game 1\n ? : 0   ? : 0\n 1) 31: 8/5 6/5 ?\n",
        "b.pdn": '[FEN "W:W21?:B1"]\n1. ? *\n',
    }.items():
        for at in (at for at, sign in enumerate(text) if sign == "?"):
            path = tmp_path / name
            path.write_text(text[:at] + ESCAPE + text[at + 1 :].replace("?", "x"))
            ended(capfd, 0, "play", "analyse", path, "--depth", "1", "--quiet")
    table = tmp_path / "t.csv"
    lines = "game,result,?\ng1,?,?\n?,1,2\n"
    for at in (at for at, sign in enumerate(lines) if sign == "?"):
        table.write_text(lines[:at] + ESCAPE + lines[at + 1 :].replace("?", "1"))
        ended(capfd, 0, "fit", table, "--quiet", "--output", tmp_path / "fit")
    (tmp_path / "a.csv").write_text(table_of(["men", ESCAPE.replace("]", "")]))
    ended(capfd, 0, "fit", tmp_path / "a.csv", *FIT.split(), tmp_path / "fit")
    for words in (
        "play explain checkers ? classic|play explain ? start classic|play solve sliding8 ?|runs ?"
        "|play match checkers ? random|course check ?|course count ?|course marks ?|?|fit ?|make ?"
        "|export ?|train ?|train nim --learner ?|tune ?|learner ?|endgame ?|play ?"
    ).split("|"):
        command = [ESCAPE if word == "?" else word for word in words.split()]
        try:
            ended(capfd, 0, *command)
        except SystemExit:  # the parser's
            said = capfd.readouterr()
            assert "\x1b" not in said.out + said.err, command
