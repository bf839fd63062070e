"""Measures how long a person waits for a board: `python -m benchmarks.waits [CASE ...]`.

`web:GAME` starts `play web` and does what the page does, `terminal:GAME` starts `play terminal` at
a pseudo terminal. Each case runs with an empty cache of compiled functions and then with a full
one. A line has the seconds from the start until a legal move could be made, and from the move to
the first reply; in brackets the CPU seconds of the program. `python` runs README's example. Without
cases: all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import games

ROOT = Path(__file__).resolve().parent.parent
OWN = "hexapawn:Hexapawn"
GAMES = (*games.names(), OWN)
CASES = ("python", *(f"{kind}:{name}" for kind in ("web", "terminal") for name in GAMES))
#: With this seed of the dice the person begins in the page.
SEED = 3
LIMIT = 600.0


def main() -> int:
    """Measure the cases that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"CASE: expected some of {', '.join(CASES)}, found {', '.join(unknown)}")
    print("case | cache | legal move, s (CPU s) | reply, s (CPU s)")
    for case in options.cases or CASES:
        kind, _, game = case.partition(":")
        with TemporaryDirectory() as folder:
            for cache in ("empty", "full"):
                moments = [
                    *{"web": page, "terminal": screen, "python": example}[kind](game, folder)
                ]
                times = [
                    f"{after[0] - before[0]:.1f} ({after[1] - before[1]:.1f})"
                    for before, after in zip(moments, moments[1:], strict=False)
                ]
                print(case, cache, *times, sep=" | ", flush=True)
    return 0


def example(game: str, folder: str) -> Iterator[tuple[float, float]]:
    """Yields the moments at which README's example of Python begins and ends."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    yield time.monotonic(), 0.0
    words = [sys.executable, "-c", code]
    process = subprocess.Popen(
        words, env=environment(folder), stdout=subprocess.DEVNULL, cwd=folder
    )
    _, _, used = os.wait4(process.pid, 0)
    yield time.monotonic(), used.ru_utime + used.ru_stime


def page(game: str, folder: str) -> Iterator[tuple[float, float]]:
    """Yields the moments of the start, of the first legal move and of the reply, in the page."""
    words = f"-m plysmith play web --port 0 --runs {folder} --kept {folder}".split()
    words += ["--game", game] * (game == OWN)
    began = time.monotonic(), 0.0
    server = subprocess.Popen(
        [sys.executable, *words], env=environment(folder), stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield began
        [address] = re.findall(r"http://[\d.:]+", server.stdout.readline())
        list_of_all = asked(f"{address}/api/catalogue")
        name = "hexapawn" if game == OWN else game
        sides = next(one["sides"] for one in list_of_all["games"] if one["name"] == name)
        other = list_of_all["defaults"][name]
        opponent = {"kind": "evaluator", "evaluator": other} if other else {"kind": "random"}
        seats = [{"kind": "human"}, *[opponent] * (len(sides) - 1)]
        view = asked(f"{address}/api/tables", {"game": name, "seats": seats, "seed": SEED})
        table = f"{address}/api/tables/{view['id']}"
        listen = threading.Thread(target=urllib.request.urlopen, args=(f"{table}/events",))
        listen.daemon = True
        listen.start()
        while not (view["legal"] and view["waiting"] == "human"):
            time.sleep(0.02)
            view = asked(table)
        yield moment(server.pid)
        asked(f"{table}/move", {"text": view["legal"][0]})
        ply = view["ply"] + 1
        while asked(table)["ply"] == ply:
            time.sleep(0.02)
        yield moment(server.pid)
        while asked(f"{address}/api/compiling")["text"]:  # to the end, so that the cache is full
            time.sleep(0.5)
    finally:
        server.kill()
        server.wait()


def screen(game: str, folder: str) -> Iterator[tuple[float, float]]:
    """Yields the moments of the start, of the first prompt and of the reply, at a terminal."""
    opponent = [] if game not in ("nim",) else ["random"]
    words = ["-m", "plysmith", "play", "terminal", game, *opponent]
    yield time.monotonic(), 0.0
    process, terminal = pty.fork()
    if process == 0:
        os.execve(sys.executable, [sys.executable, *words], environment(folder))
    subprocess.run(["stty", "cols", "120", "rows", "40"], stdin=terminal, check=False)
    try:
        until(terminal, r"(?m)^\S.*> $")
        yield moment(process)
        os.write(terminal, b"moves\n")
        text = until(terminal, r"(?m)^(?!.*moves$)(\S.*)\n(?:.*\n)*\S.*> $")
        os.write(terminal, text.split(",")[0].encode() + b"\n")
        until(terminal, r"(?m)^\S.*\(.+\): .*\S.*\n|: \S+\n")
        yield moment(process)
        if not opponent:
            os.write(terminal, b"hint\n")  # waits until all is compiled, so that the cache is full
            until(terminal, r"at depth \d+:|decide now")
    finally:
        os.close(terminal)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def until(terminal: int, pattern: str) -> str:
    """Read until a pattern appears; returns its last group."""
    shown, began = "", time.monotonic()
    while not (match := re.search(pattern, re.sub(r"\x1b\[[\d?;]*[A-Za-z]|\r", "", shown))):
        if time.monotonic() - began > LIMIT:
            raise TimeoutError(shown[-2000:])
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
    return match[1] if match.re.groups else ""


def moment(process: int) -> tuple[float, float]:
    """Returns the time, and the CPU seconds that a process and its children have used."""
    used, waiting = 0, [process]
    for number in waiting:
        used += sum(
            map(int, Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:15])
        )
        for task in Path(f"/proc/{number}/task").iterdir():
            with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
                waiting += map(int, (task / "children").read_text().split())
    return time.monotonic(), used / os.sysconf("SC_CLK_TCK")


def environment(folder: str) -> dict[str, str]:
    """Returns the environment of a program whose caches are in a folder."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "docs" / "examples")])
    caches = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"), f"{folder}/cache")
    usual = {**os.environ, **caches, "PYTHONPATH": paths, "TERM": "xterm"}
    usual.pop("PYTHONDONTWRITEBYTECODE", None)
    return usual


def asked(address: str, content: object = None) -> dict[str, Any]:
    """Returns the answer of the server."""
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        return dict(json.load(answer))


if __name__ == "__main__":
    sys.exit(main())
