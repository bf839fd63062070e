"""Makes the README's picture of the browser's board: `python -m benchmarks.board docs/board.png`.

Needs the extra `test`, and Chromium as Debian installs it. The game is one of `quantised` against
itself at a fixed number of nodes, and the picture shows its "why" panel.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import games
from search import Engine

PLIES, NODES = 21, 20_000
SIZE = {"width": 1180, "height": 760}
CHOICES = {
    "why.checkers.0": "checkers:classic",
    "why.checkers.1": "shipped:checkers/quantised.safetensors",
}


def moves_of_a_game() -> list[dict[str, str]]:
    """Returns the first moves of a game, in the form that the page takes."""
    game = games.load("checkers")
    engine = Engine(game, "quantised")
    position, moves = game.start(), []
    for _ in range(PLIES):
        move = engine.search(position, nodes=NODES).move
        moves.append({"text": game.move_text(position, move)})
        position = game.play(position, move)
    return moves


def take_picture(address: str, path: Path) -> None:
    """Open a table with the game, turn to "why", and save a picture of the page."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    content = {"game": "checkers", "seats": [{"kind": "human"}, {"kind": "human"}]}
    body = json.dumps({**content, "moves": moves_of_a_game()}).encode()
    request = urllib.request.Request(
        f"{address}/api/tables", body, {"Content-Type": "application/json", "Origin": address}
    )
    with urllib.request.urlopen(request) as answer:
        table = json.load(answer)["id"]
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=next(found), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        page.goto(f"{address}/static/icon.svg")  # to set its storage
        page.evaluate(
            "all => Object.entries(all).forEach(([k, v]) =>"
            " localStorage.setItem(k, JSON.stringify(v)))",
            {f"plysmith.{name}": value for name, value in CHOICES.items()},
        )
        page.goto(f"{address}/#/play/{table}")
        page.wait_for_selector(".board")
        page.click("#tab-why")
        page.wait_for_selector(".parts tbody tr")
        page.wait_for_timeout(500)
        page.screenshot(path=path)
        browser.close()
    with Image.open(path) as picture:  # 256 colours are enough, at a third of the size
        picture.quantize(256).save(path, optimize=True)


def main(arguments: list[str] | None = None) -> int:
    """Serve the page, take the picture; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.board", description=__doc__)
    parser.add_argument("path", type=Path, help="where to write the picture (PNG)")
    options = parser.parse_args(arguments)
    command = [sys.executable, "-m", "play", "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[3].rstrip("/")
            take_picture(address, options.path)
        finally:
            server.terminate()
    print(f"{options.path}: {options.path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
