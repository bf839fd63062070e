"""Fixtures of the tests of play: a browser, a server for it, and a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yields a browser that opens pages without a window."""
    from playwright.sync_api import expect, sync_playwright

    from tests.web_pages import CHROMIUM, PATIENCE

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        # Containers have no sandbox of their own to offer, and little shared memory.
        options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        started = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yields the address of a server with a run of training."""
    from tests.web_server import running

    run = tmp_path_factory.mktemp("runs") / "demo"
    run.mkdir()
    (run / "options.json").write_text('{"game": "checkers", "learner": "samuel", "games": 9}')
    (run / "log.csv").write_text("game,plies,note\n1,40,error 0.5\n2,50,error 0.4\n")
    (run / "snapshots.csv").write_text(
        "game,opponent,score,value,low,high\n1,random,0.5,0.0,-50,50\n2,random,0.75,190.0,100,300\n"
    )
    with running(run.parent, seed=lambda: 1) as address:
        yield address


@pytest.fixture
def page(browser: Any, base: str) -> Iterator[Any]:
    """Yields a page; the test fails if the page has thrown or logged an error."""
    from tests.web_pages import PATIENCE

    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    made = context.new_page()
    made.set_default_timeout(PATIENCE)
    problems: list[str] = []
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on(
        "console",
        lambda message: (
            problems.append(message.text)
            # The browser itself logs refused requests, which tests provoke.
            if message.type == "error" and "Failed to load resource" not in message.text
            else None
        ),
    )
    yield made
    context.close()
    assert problems == []
