"""The web server as a program: many sessions at a time, news during a search, its start."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx2")

from tests.web_client import PATIENCE, events  # noqa: E402
from tests.web_server import CLASSIC, HUMAN, ROOT, running  # noqa: E402


async def _reply(client: Any, base: str, seconds: float, ready: asyncio.Barrier) -> float:
    """Returns the seconds from sending a move to the computer's answer.

    Like the page, it also asks for the curve of the values.
    """
    seat = {**CLASSIC, "seconds": seconds, "depth": None}
    content = {"game": "checkers", "seats": [HUMAN, seat]}
    view = (await client.post(f"{base}/api/tables", json=content)).json()
    address = f"{base}/api/tables/{view['id']}"
    began = 0.0
    async for kind, news in events(client, f"{address}/events"):
        if kind == "view" and news["ply"] == 0:
            await ready.wait()
            began = time.monotonic()
            step, curve = {"from": 42, "to": 35}, {"evaluator": "checkers:classic", "depth": 3}
            assert (await client.post(f"{address}/step", json=step)).status_code == 200
            assert (await client.post(f"{address}/curve", json=curve)).status_code == 200
        if kind == "view" and news["ply"] == 2:
            return time.monotonic() - began
    raise AssertionError("the stream ended")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Runs `python -m play web` as a process; yields its address and its process number."""
    runs = tmp_path_factory.mktemp("runs")
    command = [sys.executable, "-m", "play", "web", "--port", "0", "--runs", str(runs)]
    command += ["--kept", str(runs / "kept")]  # not in the folder of whoever tests
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield line.split()[3].rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(300) in (0, 130, -signal.SIGINT)
        finally:
            process.kill()
            process.stdout.close()


def test_it_listens_on_one_address_only(program: tuple[str, int]) -> None:
    port = int(program[0].rsplit(":", 1)[1])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=120)


def test_fifty_sessions_think_side_by_side(program: tuple[str, int]) -> None:
    base, number = program
    seconds = 0.5

    async def play(count: int) -> list[float]:
        limits = httpx.Limits(max_connections=None)
        ready = asyncio.Barrier(count)
        async with httpx.AsyncClient(limits=limits, timeout=300) as client:
            tasks = [
                asyncio.create_task(_reply(client, base, seconds, ready)) for _ in range(count)
            ]
            return list(await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE))

    asyncio.run(play(1))
    (alone,) = asyncio.run(play(1))  # compiled by now
    times = asyncio.run(play(50))
    print(f"\n50 answers: {sorted(times)[25]:.2f} s in the middle, {max(times):.2f} s at the most")
    assert len(times) == 50
    if sys.platform == "linux":
        status = Path(f"/proc/{number}/status").read_text()
        size = int(status.split("VmRSS:")[1].split()[0]) >> 10
        print(f"the server holds {size} MiB")
        assert size < 1000
    assert max(times) < 50 * alone / 5  # they think side by side, not one after another


def test_news_come_while_a_search_goes_on(runs: Path) -> None:
    async def listen(base: str) -> list[dict[str, Any]]:
        async with httpx.AsyncClient(timeout=300) as client:
            seat = {**CLASSIC, "seconds": 0.8, "depth": None}
            content = {"game": "checkers", "seats": [seat, HUMAN]}
            view = (await client.post(f"{base}/api/tables", json=content)).json()
            found = []
            async for kind, news in events(client, f"{base}/api/tables/{view['id']}/events"):
                if kind == "thought":
                    found.append(news)
                if kind == "view" and news["ply"] == 1:
                    return found
            return found

    with running(runs) as base:
        thoughts = asyncio.run(asyncio.wait_for(listen(base), 60))
    depths = [news["depth"] for news in thoughts]
    assert len(depths) >= 2 and depths == sorted(depths)
    assert all(news["pv"] and news["nodes"] > 0 for news in thoughts)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from play.__main__ import main

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else find(name)
    )
    assert main(["web", "--port", "0"]) == 2
    with pytest.raises(ModuleNotFoundError, match=r"needs uvicorn: pip install 'plysmith\[web\]'"):
        from play.commands.web import run_web

        class Options:
            port = 0
            runs = Path(os.devnull)

        run_web(Options())  # type: ignore[arg-type]


def test_a_port_that_is_taken_is_said(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from play.__main__ import main

    with running(runs) as base:
        port = base.rpartition(":")[2]
        assert main(["web", "--port", port, "--runs", str(runs)]) == 2
    assert f"port {port}: expected a free port" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["web", "--port", "99999"])
