"""Games in the browser: none is lost by a click, a reload or another server."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from tests.web_pages import (  # noqa: E402
    CUT,
    PATIENCE,
    browser_tests,
    open_tab,
    open_table,
    square,
    table,
)
from tests.web_server import HUMAN, RANDOM, running  # noqa: E402

pytestmark = browser_tests
expect = playwright.expect
Page = Any
MOVES = ".moves .move-text"


def play(page: Page, source: int, target: int) -> None:
    square(page, source).click()
    square(page, target).click()


def new_game(page: Page) -> Any:
    page.locator("[data-tool='plus']").click()
    return page.get_by_role("dialog")


@pytest.mark.whole_run
def test_play_and_the_logo_go_back_to_the_running_game(page: Page, base: str) -> None:
    open_table(page, base)
    play(page, 11, 15)
    expect(page.locator(MOVES)).to_have_text(["11-15"])
    first = page.url
    for link in (page.get_by_role("link", name="Play"), page.locator(".brand")):
        link.click()
        expect(page).to_have_url(first)
        expect(page.locator(MOVES)).to_have_text(["11-15"])
        page.get_by_role("link", name="Training").click()
        page.wait_for_selector(".chart")
        link.click()
        expect(page).to_have_url(first)
        expect(page.locator(MOVES)).to_have_text(["11-15"])
    # A new game leaves the old one in the list, which opens it.
    dialog = new_game(page)
    expect(dialog).to_contain_text("stays in the list of games")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page).to_have_url(first)
    new_game(page).get_by_role("button", name="Start").click()
    expect(page).not_to_have_url(first)
    expect(page.locator(MOVES)).to_have_count(0)
    page.get_by_role("link", name="Games").click()
    row = page.locator(".game-list li").filter(has_text="1 move ·").first
    expect(row).to_contain_text("going on")
    row.get_by_role("link").click()
    expect(page).to_have_url(first)
    expect(page.locator(MOVES)).to_have_text(["11-15"])


def test_a_resignation_asks_if_moves_would_be_lost(page: Page, base: str) -> None:
    open_table(page, base)
    play(page, 11, 15)
    page.locator("[data-tool='flag']").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Black wins this game")
    dialog.get_by_role("button", name="Cancel").click()
    assert table(page, base)["outcome"] is None
    page.locator("[data-tool='flag']").click()
    dialog.get_by_role("button", name="Resign").click()
    expect(page.locator(".result")).to_have_text("Black wins: White resigned")


def test_a_server_that_starts_again_and_a_reload_lose_nothing(page: Page, tmp_path: Path) -> None:
    """Nor does another browser, because the games are on the server's disk alone."""
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()
    kept = tmp_path / "kept"
    with running(tmp_path, port=port, kept=kept) as address:
        open_table(page, address, game="backgammon", position="4HPwATDgc/ABMA")
        page.locator("[data-roll]").click()
        expect(page.locator(".die").first).to_be_visible()
        move = table(page, address)["legal"][0]
        page.get_by_role("textbox", name="Type a move").fill(move)
        page.keyboard.press("Enter")
        page.locator("[data-roll]").click()
        expect(page.locator("[data-roll]")).to_have_count(0)
        before = table(page, address)
        assert before["ply"] == 1 and before["roll"]
    expect(page.locator("#banner")).to_contain_text("connection is lost")
    page.evaluate('localStorage.setItem(\'plysmith.game.old\', \'{"id": "old", "moves": [1]}\')')
    with running(tmp_path, port=port, kept=kept):
        page.reload()
        expect(page.locator(MOVES)).to_contain_text([move])
        expect(page.locator("#banner")).to_be_hidden()
        after = table(page, address)
        assert {**after, "version": 0} == {**before, "version": 0}
        assert page.evaluate("Object.keys(localStorage).filter((k) => /game\\./.test(k))") == []
        page.evaluate("localStorage.clear()")
        page.get_by_role("link", name="Games").click()
        page.locator(".game-list a").click()
        expect(page.locator(MOVES)).to_contain_text([move])
    for path in kept.iterdir():
        path.unlink()
    with running(tmp_path, port=port, kept=kept):
        page.reload()
        expect(page.locator(".lonely")).to_contain_text("no longer kept")


@pytest.mark.whole_run
def test_a_game_is_removed_from_the_list_for_good(page: Page, base: str) -> None:
    view = open_table(page, base, seats=[HUMAN, RANDOM])
    play(page, 11, 15)
    expect(page.locator(MOVES)).to_have_count(2)
    page.get_by_role("link", name="Games").click()
    row = page.locator(".game-list li").first
    expect(row).to_contain_text("Random moves")
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(f".game-list a[href$='{view['id']}']")).to_have_count(0)
    page.goto(f"{base}/#/play/{view['id']}")
    expect(page.locator(".lonely")).to_contain_text("no longer kept")
    page.get_by_role("button", name="New table").click()
    expect(page.locator(".board")).to_be_visible()


@pytest.mark.whole_run
def test_a_refused_position_stays_for_mending(page: Page, base: str) -> None:
    open_table(page, base)
    open_tab(page, "Set up")
    page.get_by_role("button", name="Edit on the board").click()
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="White man").click()
    square(page, 2).click()
    problem = page.locator(".problem")
    expect(problem).to_contain_text("Expected a king on 2, where men of White are crowned")
    page.get_by_role("button", name="Play from here").click()
    expect(page.locator("#toast")).to_contain_text("Expected a king on 2")
    expect(page.locator(".men .man:not(.gone)")).to_have_count(1)
    page.get_by_role("tab", name="Game").click()  # another panel does not lose it either
    expect(page.locator(".men .man:not(.gone)")).to_have_count(24)
    page.get_by_role("tab", name="Set up").click()
    expect(page.locator(".men .man:not(.gone)")).to_have_count(1)
    square(page, 2).click()
    expect(problem).to_be_hidden()
    square(page, 18).click()
    page.get_by_role("button", name="Black man").click()
    square(page, 15).click()
    page.get_by_role("button", name="Play from here").click()
    expect(square(page, 15)).to_have_attribute("aria-label", re.compile("black man, can move"))
    assert table(page, base)["position"] == "B:W18:B15"


@pytest.mark.whole_run
def test_a_position_or_a_file_takes_no_moves_away(page: Page, base: str) -> None:
    """The game that was played stays at its table, and the other gets one of its own."""
    first = open_table(page, base, moves=[{"text": "11-15"}])
    open_tab(page, "Set up")
    page.get_by_role("textbox", name="FEN").fill("B:W18:B15")
    page.get_by_role("button", name="Play from here").click()
    expect(page.locator(MOVES)).to_have_count(0)
    assert table(page, base)["start"] == "B:W18:B15"
    page.goto(f"{base}/#/play/{first['id']}")
    expect(page.locator(MOVES)).to_have_text(["11-15"])
    content = b"1. 9-14 22-18 *\n\n1. 9-13 *\n"
    file = {"name": "game.pdn", "mimeType": "text/plain", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(MOVES)).to_have_text(["9-14", "22-18"])
    second = table(page, base)["id"]
    assert second != first["id"]
    page.locator("#panel-game select").select_option("1")  # another of the file, at the same table
    expect(page.locator(MOVES)).to_have_text(["9-13"])
    assert table(page, base)["id"] == second
    damaged = {"name": "x.pdn", "mimeType": "text/plain", "buffer": b"1. 11-12 *"}
    page.goto(f"{base}/#/play/{first['id']}")
    expect(page.locator(MOVES)).to_have_text(["11-15"])
    page.locator("input[type=file]").set_input_files(damaged)
    expect(page.locator("#toast")).to_contain_text("xpected", timeout=PATIENCE)
    expect(page.locator(MOVES)).to_have_text(["11-15"])


@pytest.mark.whole_run
def test_two_computers_pause_and_make_single_moves(page: Page, base: str) -> None:
    open_table(page, base, game="backgammon", seats=[RANDOM, RANDOM])
    expect(page.locator(MOVES).first).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    step = page.locator("[data-advance]")
    expect(step).to_be_visible()
    ply = table(page, base)["ply"]
    for more in (1, 2):
        step.click()
        expect(page.locator(MOVES)).to_have_count(ply + more)
    page.keyboard.press("s")
    expect(page.locator(MOVES)).to_have_count(ply + 3)
    page.locator("[data-tool='undo']").click()
    expect(page.locator(MOVES)).to_have_count(ply + 2)
    page.wait_for_timeout(1500)  # two moves would have been made by now
    assert table(page, base)["ply"] == ply + 2
    page.keyboard.press("p")
    expect(step).to_have_count(0)
    expect(page.locator(MOVES).nth(ply + 3)).to_be_visible()


@pytest.mark.whole_run
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.whole_run)])
def test_buttons_for_the_next_step_cover_no_piece(browser: Any, base: str, width: int) -> None:
    """Step back, Done, Roll, and the result, in both games, on a phone and beside panels."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    jumps = "B:W18,26,27:B15,1"
    open_table(page, base, position=jumps)
    play(page, 15, 22)
    check = "() => [document.querySelector('.actions'), document.querySelector('.board')]"
    for shown in ("[data-back]", "[data-roll]", ".result"):
        if shown == "[data-roll]":
            open_table(page, base, game="backgammon", position="4HPwATDgc/ABMA")
        elif shown == ".result":
            open_table(page, base, position="B:W18:B15")
            play(page, 15, 22)
        expect(page.locator(shown)).to_be_visible()
        actions, board = page.evaluate(
            f"({check})().map((e) => e.getBoundingClientRect()).map((b) => [b.top, b.bottom])"
        )
        assert actions[0] >= board[1] - 1, shown
    context.close()


def test_marks_values_and_accuracy_stand_in_the_list(page: Page, base: str) -> None:
    texts = ("11-15", "22-18", "15x22", "25x18", "12-16", "24-20")
    open_table(page, base, moves=[{"text": text} for text in texts])
    page.evaluate("localStorage.setItem('plysmith.judge.checkers', '\"checkers:classic\"')")
    page.reload()
    moves = page.locator(".moves .move")
    expect(moves.nth(5).locator(".mark")).to_have_text(re.compile("[?]"))
    play = "if both search 2,000 positions a move"
    expect(moves.nth(5)).to_have_attribute(
        "title", re.compile(f"better: .* · lost [0-9]+ % of a result, {play}")
    )
    expect(moves.nth(5)).to_have_attribute(
        "aria-label", re.compile("24-20, (blunder|error), value")
    )
    expect(moves.nth(2).locator(".mark")).to_have_count(0)
    expect(moves.nth(2).locator(".move-value")).to_have_text(re.compile("^[+−]?[0-9.]+$"))
    players = page.locator(".players-rated")
    expect(players).to_contain_text(re.compile("Black accuracy [0-9.]+ % in 2 decisions"))
    expect(players).to_contain_text(re.compile("White accuracy [0-9.]+ % in 3 decisions"))
    expect(players.locator("p").first).to_have_attribute(
        "title", re.compile(f"that each move keeps, {play}$")
    )
    marked = [n for n, move in enumerate(moves.all()) if move.locator(".mark").count()]
    current = page.locator(".moves [aria-current]")
    for press in (lambda: page.keyboard.press("e"), page.locator("[data-mistake]").click):
        for n in marked:  # from the end of the game to the first one, and round again
            press()
            expect(moves.nth(n)).to_have_attribute("aria-current", "true")
    expect(current).to_have_count(1)
    with page.expect_download() as saved:
        page.locator("[data-report]").click()
    lines = Path(saved.value.path()).read_text("utf-8").splitlines()
    assert [line.split(",")[0] for line in lines if "better:" in line] == [
        f"Move {n + 1}" for n in marked
    ]
    assert sum("accuracy" in line for line in lines) == 2


def test_moves_of_backgammon_have_chances_and_marks(page: Page, base: str) -> None:
    position = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    open_table(page, base, game="backgammon", position=position)
    open_tab(page, "Analysis")
    best = page.locator(".legal").first
    expect(best.locator(".text")).to_have_text("8/5 6/5")
    shares = best.locator(".chances")
    expect(shares).to_have_text(re.compile(r"^[0-9.]+( · [0-9.]+){2} – [0-9.]+( · [0-9.]+){2}$"))
    win, gammon, backgammon, loss, *_ = map(float, re.findall(r"[0-9.]+", shares.text_content()))
    assert win + loss == pytest.approx(100, abs=0.11)
    assert 50 < win < 60 and win > gammon > backgammon > 0
    page.get_by_role("textbox", name="Type a move").fill("24/20")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Game").click()
    expect(page.locator(".moves .mark")).to_have_text(re.compile("[?]"))
    expect(page.locator(".players-rated")).to_contain_text("points lost")


@pytest.mark.whole_run
def test_doubles_stand_in_the_list_with_marks_and_count(page: Page, base: str) -> None:
    """A double after the first move throws points away, and so does taking it."""
    view = open_table(page, base, game="backgammon", play={"cube": True})
    at = f"{base}/api/tables/{view['id']}"
    page.request.post(f"{at}/move", data={"text": view["legal"][0]})
    said, shown = page.locator(".moves .cube-said span"), []
    for kind in ("double", "drop"):  # each is shown before the next, which changes no position
        page.request.post(f"{at}/cube", data={"kind": kind})
        shown.append(re.compile(rf"^{kind} \?\?"))
        expect(said).to_have_text(shown)
    double = re.compile("^[XO], double, blunder, right: no double, take$")
    expect(said.first).to_have_attribute("aria-label", double)
    expect(said.first).to_have_attribute("title", re.compile("^lost 0[.][0-9]+; right: no double"))
    expect(page.locator(".players-rated")).to_contain_text(re.compile("accuracy [0-9.]+ %"))
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate(CUT, ".moves .move, .moves .cube-said") == []
    tops = page.locator(".row.walk button").evaluate_all("(all) => all.map((one) => one.offsetTop)")
    assert max(tops) - min(tops) < 12, "one row, to Save"


@pytest.mark.whole_run
def test_the_best_moves_are_rolled_out_from_the_analysis(page: Page, base: str) -> None:
    position = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    open_table(page, base, game="backgammon", position=position)
    page.evaluate("localStorage.setItem('plysmith.judge.backgammon', '\"backgammon:hand\"')")
    page.reload()
    open_tab(page, "Analysis")
    button = page.locator("[data-roll-out]")
    button.focus()
    page.keyboard.press("Enter")
    rolled = page.get_by_role("list", name="Rollout, best first").get_by_role("listitem")
    expect(rolled).to_have_count(4)
    expect(rolled.first).to_have_text(re.compile("^1.*[+−][0-9.]+ ± [0-9.]+$"))
    expect(page.locator(".rollout")).to_contain_text("points without the cube, ± 95 %")
    expect(button).to_have_text("Stop")
    page.keyboard.press("Enter")
    expect(button).to_have_text("Roll out")
    expect(rolled).to_have_count(4)  # what was found so far stays
    page.get_by_role("textbox", name="Type a move").fill("8/5 6/5")
    page.keyboard.press("Enter")
    expect(rolled).to_have_count(0)
    expect(button).to_be_visible()
    open_table(page, base)
    open_tab(page, "Analysis")
    expect(button).to_be_hidden()


def test_a_hint_follows_every_jump(page: Page, base: str) -> None:
    """From 15 over 22 to 31: the arrow bends on 22, and the list names it."""
    open_table(page, base, position="B:W18,26,29:B15,12,K3")
    page.locator("[data-tool='bulb']").click()
    expect(page.locator(".legal .text").first).to_have_text("15x22x31")
    arrow = page.locator("path.arrow")
    expect(arrow).to_have_count(1)
    points = re.findall(r"[ML]([0-9.]+) ([0-9.]+)", arrow.get_attribute("d"))
    centres = [
        square(page, n).evaluate(
            "(e) => [e.transform.baseVal[0].matrix.e + 50, e.transform.baseVal[0].matrix.f + 50]"
        )
        for n in (15, 22, 31)
    ]
    assert [[float(x), float(y)] for x, y in points] == centres


@pytest.mark.parametrize(("dice", "move"), [("31", "8/5 6/5"), ("11", "8/7(2) 6/5(2)")])
def test_every_checker_of_a_hint_has_an_arrow_on_a_line_of_its_own(
    page: Page, base: str, dice: str, move: str
) -> None:
    xgid = f"XGID=-b----E-C---eE---c-e----B-:0:0:1:{dice}:0:0:0:0:10"
    open_table(page, base, game="backgammon", position=xgid)
    page.evaluate("localStorage.setItem('plysmith.judge.backgammon', '\"backgammon:hand\"')")
    page.reload()
    open_tab(page, "Analysis")
    page.locator(".legal", has=page.get_by_text(move, exact=True)).hover()
    arrows = page.locator("path.arrow")
    expect(arrows).to_have_count(4 if "(" in move else 2)
    paths = [path.get_attribute("d") for path in arrows.all()]
    assert len({re.search(r"M[0-9.]+ ([0-9.]+)", path)[1] for path in paths}) == len(paths)
