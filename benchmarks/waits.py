"""Measures waits: `python -m benchmarks.waits [CASE ...]`, one after the other.

Each case is a command that starts at a pseudo terminal with an empty cache of compiled functions.
Everything that it writes is recorded with its time. A line says how long the whole took, and the
longest time in which nothing on the screen changed. `web:GAME` and `terminal:GAME` end with the
first move that an evaluator makes; for `web:GAME` what the page asks for counts. Without cases: all
of them.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GAMES = (
    "checkers backgammon connect_four tic_tac_toe nim chinese_checkers chinese_checkers2"
    " chinese_checkers6"
).split()
#: Those with an evaluator of their own, and what is learned.
FIRST = tuple(name for name in GAMES if name != "nim")
LEARNED = (*GAMES, "sliding8", "sliding15", "pancakes10", "hexapawn:Hexapawn")
#: Commands by case; of a long one, a part.
CASES = {
    **{f"train:{name}": f"train {name} --run {{}}/run" for name in LEARNED},
    **{f"terminal:{name}": f"play terminal {name} --play second" for name in FIRST},
    **{f"web:{name}": "play web --port 0 --runs {} --kept {}" for name in FIRST},
    "match": "play match checkers classic material --games 200 --depth 6",
    "match:backgammon": "play match backgammon wide hand --games 200",
    "match:chinese_checkers": "play match chinese_checkers hand random random --games 30",
    "ladder": "play ladder checkers classic material random --games 60 --depth 6",
    "judge": "play judge backgammon hand --referee wide --games 20",
    "judge:truth": "play judge connect_four hand@4 --referee truth --positions 300",
    "openings": "play openings checkers {}/even --plies 3 --judge classic --nodes 20000",
    "rollout": "play rollout backgammon start wide --roll 31 --games 648",
    "explain": "play explain checkers start checkers/quantised",
    "solve": "play solve sliding15",
    "patterns": "play patterns sliding15 {}/tiles.safetensors --sum 5-5-5",
    "calibrate": "learner calibrate checkers classic --games 100",
    "endgame": "endgame build --pieces 4 --directory {}",
    "tune": "tune checkers classic men=1:0.5:2 --run {}/tune --iterations 40 --games 100",
    "export": "export checkers/quantised {}/c",
    "count": "course count tic_tac_toe",
}


def main() -> int:
    """Measure the cases that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--command", help="a case of your own: what follows plysmith, {} a folder")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of a case")
    parser.add_argument("--log", type=Path, help="keeps all output with its times")
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"CASE: expected some of {', '.join(CASES)}, found {', '.join(unknown)}")
    cases = {name: CASES[name] for name in options.cases or ([] if options.command else CASES)}
    if options.command:
        cases["own"] = options.command
    print("case | seconds | longest silence")
    for name, command in cases.items():
        with TemporaryDirectory() as folder:
            print(measured(name, command.format(*[folder] * 2), folder, options), flush=True)
    return 0


def measured(name: str, command: str, folder: str, options: argparse.Namespace) -> str:
    """Returns the line of a case."""
    kind, _, game = name.partition(":")
    began = time.monotonic()
    shown: list[tuple[float, str]] = [(0.0, "")]
    status = "over the limit"
    watch = page(command, folder, game) if kind == "web" else screen(command, folder, kind)
    for text in watch:
        now = time.monotonic() - began
        if text.startswith("ended: "):
            status = text.removeprefix("ended: ")
            break
        if text:
            shown.append((now, text))
        if now > options.limit:
            break
    watch.close()
    whole = time.monotonic() - began
    if options.log:
        with options.log.open("a") as log:
            log.write(f"\n== {name}: {command}\n")
            log.writelines(f"{when:8.2f} {text!r}\n" for when, text in shown)
    times = [when for when, _ in shown] + [whole]
    gaps = [(b - a, a) for a, b in zip(times, times[1:], strict=False)]
    longest, since = max(gaps)
    silence = f"{longest:.1f} s after {since:.1f} s"
    return f"{name} | {whole:.1f} | {silence}{'' if status == '0' else f' ({status})'}"


def environment(folder: str) -> dict[str, str]:
    """Returns the environment of a command with an empty cache."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "docs" / "examples")])
    cache = f"{folder}/cache"
    return {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": paths, "TERM": "xterm"}


def screen(command: str, folder: str, kind: str) -> Generator[str]:
    """Yields what a command writes at a terminal, and "" where nothing came in a moment."""
    process, terminal = pty.fork()
    if process == 0:
        words = [sys.executable, "-m", "plysmith", *shlex.split(command)]
        os.execve(sys.executable, words, environment(folder))
    subprocess.run(["stty", "cols", "120", "rows", "40"], stdin=terminal, check=False)
    last = ""
    try:
        while True:
            if not select.select([terminal], [], [], 0.1)[0]:
                yield ""
                continue
            try:
                text = os.read(terminal, 65536).decode("utf-8", "replace")
            except OSError:  # it has ended
                text = ""
            if not text:
                _, status = os.waitpid(process, 0)
                process = 0
                yield f"ended: {os.waitstatus_to_exitcode(status)}"
                return
            yield text
            last = (last + text)[-200:]  # a prompt may come a letter at a time
            if kind == "terminal" and re.search(r"(?m)^\S.*> $|: $|\? $", last):
                yield "ended: 0"
                return
    finally:
        os.close(terminal)
        if process:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def page(command: str, folder: str, game: str) -> Generator[str]:
    """Yields what the page in the browser shows until the first move of an evaluator."""
    words = [sys.executable, "-m", "plysmith", *shlex.split(command)]
    server = subprocess.Popen(
        words, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdout is not None
    try:
        address = ""
        while not address:
            address = "".join(re.findall(r"http://[\d.:]+", server.stdout.readline()))
        done = threading.Event()
        thread = threading.Thread(target=first_move, args=(address, game, done), daemon=True)
        thread.start()
        while not done.wait(0.25):
            yield str(asked(f"{address}/api/compiling").get("text", ""))
        yield "ended: 0"
    finally:
        server.kill()
        server.wait()


def first_move(address: str, game: str, done: threading.Event) -> None:
    """Ask for a table, and wait for the first move of its evaluators."""
    found = asked(f"{address}/api/catalogue")
    seat = {"kind": "evaluator", "evaluator": found["defaults"][game], "seconds": 1}
    view = next(one for one in found["games"] if one["name"] == game)
    seats = [seat] * len(view["sides"])
    table = asked(f"{address}/api/tables", {"game": game, "seats": seats})
    table_address = f"{address}/api/tables/{table['id']}"
    with urllib.request.urlopen(f"{table_address}/events", timeout=600):  # else nobody watches
        while asked(table_address)["ply"] == 0:
            time.sleep(0.1)
    done.set()


def asked(address: str, content: object = None) -> dict[str, Any]:
    """Returns the answer of the server."""
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return dict(json.load(answer))


if __name__ == "__main__":
    sys.exit(main())
