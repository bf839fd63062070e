"""Fixtures of the tests of play: a client of the web server; a browser, its server and a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Returns a folder with two kinds of runs, one with snapshots, and a secret beside them."""
    from tests.web_server import ROOT

    (tmp_path / "secret.json").write_text('{"format": "plysmith-linear-1"}')
    folder = tmp_path / "runs"
    run = folder / "first"
    (run / "snapshots").mkdir(parents=True)
    source = json.loads((ROOT / "data/checkers/rootstrap.json").read_text())
    for games_played, weight in ((10, 1.0), (20, 2.5)):
        source["weights"]["mobility"] = weight
        path = run / "snapshots" / f"{games_played:06d}.json"
        path.write_text(json.dumps(source))
    (run / "options.json").write_text(
        json.dumps({"game": "checkers", "learner": "rootstrap", "games": 20, "seed": 3})
    )
    (run / "log.csv").write_text(
        "game,updates,alpha_side,outcome,plies,loss,held_out,note\n"
        '1,5,0,1.0,40,2.5,,"round 1, error 0.5"\n2,9,1,0.0,60,2.25,,"round 2, error 0.25"\n3,12'
    )
    (run / "snapshots.csv").write_text(
        "game,opponent,games,wins,draws,losses,score,value,low,high\n"
        "10,random,100,90,0,10,0.9,381.7,300.0,480.0\n"
        "20,random,100,95,0,5,0.95,511.5,400.0,700.0\n"
    )
    (folder / "out").symlink_to(tmp_path)
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    return folder


@pytest.fixture
def client(runs: Path) -> Iterator[Any]:
    """Yields a client of a server with these runs."""
    from tests.web_client import client_of

    with client_of(runs) as made:
        yield made


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
    """Yields the address of a server with a run of training, and a file of invented terms."""
    import games
    from games.checkers.cells import CELLS
    from games.features.cell_terms import OFF, CellTerm
    from games.features.term_file import feature_set_of, named
    from search import LinearEvaluator
    from tests.web_server import running

    run = tmp_path_factory.mktemp("runs") / "demo"
    run.mkdir()
    (run / "options.json").write_text('{"game": "checkers", "learner": "samuel", "games": 9}')
    (run / "log.csv").write_text("game,plies,note\n1,40,error 0.5\n2,50,error 0.4\n")
    (run / "snapshots.csv").write_text(
        "game,opponent,score,value,low,high\n1,random,0.5,0.0,-50,50\n2,random,0.75,190.0,100,300\n"
    )
    terms = named(CELLS, [CellTerm("man", "back row"), CellTerm("king").also((0, 2), OFF)])
    invented = LinearEvaluator(games.load("checkers"), feature_set_of(CELLS, terms), [0.5, 2.0])
    invented.save(run.parent / "found.json")
    with running(run.parent, seed=lambda: 1, kept=tmp_path_factory.mktemp("kept")) as address:
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


@pytest.fixture
def server(tmp_path: Path) -> Callable[..., Any]:
    """Returns a function that makes another server with the same folder of games."""
    from starlette.testclient import TestClient

    from play.web.limits import ServerLimits
    from play.web.server import create_app
    from tests.web_client import BASE
    from tests.web_server import ROOT

    def make(**limits: Any) -> Any:
        app = create_app(
            data=ROOT / "data", runs=tmp_path / "runs", kept=tmp_path / "kept",
            limits=ServerLimits(**limits), seed=lambda: 5,
        )  # fmt: skip
        return TestClient(app, base_url=BASE)

    return make
