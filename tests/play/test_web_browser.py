"""The page in a real browser: games by clicks, by keys and by dragging, and error messages.

See `tests.web_pages` for what they need; skipped where that is absent.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

import games  # noqa: E402
from games.checkers.notation import move_path  # noqa: E402
from search import Engine  # noqa: E402
from tests.web_pages import (  # noqa: E402
    CUT,
    PATIENCE,
    browser_tests,
    drag,
    open_tab,
    open_table,
    square,
    table,
)
from tests.web_server import CLASSIC, HAND, HUMAN, RANDOM, running  # noqa: E402

pytestmark = browser_tests
expect = playwright.expect
Page = Any

#: Whether the page knows that it is our move, or that the game is over.
WAITING = """() => [...document.querySelectorAll('.strip.active .who')]
  .some((e) => e.textContent.startsWith('You')) || document.querySelector('.result')"""

#: The squares whose numbers a man covers: the end of the number's baseline lies within its circle.
COVERED = """() => [...document.querySelectorAll('.square-number')].filter((number) => {
  const end = number.getEndPositionOfChar(number.textContent.length - 1)
    .matrixTransform(number.getScreenCTM());
  return [...document.querySelectorAll('.man .body')].some((body) => {
    const box = body.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return Math.hypot(end.x - x, end.y - y) < box.width / 2;
  });
}).map((number) => number.textContent)"""
#: Three jumps with one piece, then a few moves to the end of the game.
ENDGAME = "B:W10,18,26,30:BK6,K1,K5,K14"


def pick(field: Any, id: str, words: str = "") -> None:
    """Choose an entry of a picker by words that only it has, by default its id."""
    field.fill(words or id)
    field.press("Enter")
    expect(field).to_have_attribute("data-value", id)


def test_a_whole_game_of_checkers_by_clicks(page: Page, base: str) -> None:
    """Through the dialog for a new game, then an endgame against random moves, to its end."""
    page.goto(base)
    page.wait_for_selector(".board")
    page.locator("[data-tool='plus']").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Checkers", exact=True).click()
    pick(dialog.locator("[data-seat='1']"), "random")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".strip").first).to_contain_text("Random moves")
    page.get_by_role("tab", name="Set up").click()
    page.get_by_role("textbox", name="FEN").fill(ENDGAME)
    page.get_by_role("button", name="Play from here").click()
    expect(page.locator(".man.king")).to_have_count(4)

    game = games.load("checkers")
    engine = Engine(game, "classic")
    jumps = 0
    for turn in range(40):
        page.wait_for_function(WAITING)
        view = table(page, base)
        if view["outcome"] is not None:
            break
        position = game.parse_position(view["position"])
        path = move_path(engine.search(position, depth=9).move)
        square(page, path[0]).click()
        jumps = max(jumps, len(path) - 1)
        for target in path[1:]:
            expect(square(page, target)).to_have_class(re.compile("goal"))
            square(page, target).click()
        expect(page.locator(f".moves .move >> nth={2 * turn}")).to_be_visible()
    assert jumps == 3  # one capture was made jump by jump
    expect(page.locator(".result")).to_contain_text(re.compile("Black wins: White"))
    expect(page.locator(".actions")).to_contain_text("New game")
    assert table(page, base)["outcome"] == 1.0


def test_moves_by_dragging_undo_and_a_look_back(page: Page, base: str) -> None:
    open_table(page, base)
    drag(page, square(page, 11).bounding_box(), square(page, 15).bounding_box())
    expect(page.locator(".moves .move-text")).to_have_text(["11-15"])
    square(page, 22).click()
    square(page, 18).click()
    expect(page.locator(".moves .move-text")).to_have_text(["11-15", "22-18"])
    page.get_by_role("button", name="Black 11-15").click()
    expect(page.get_by_role("button", name="Back to the game")).to_be_visible()
    expect(square(page, 22)).to_have_attribute("aria-label", re.compile("white man"))
    page.get_by_role("button", name="Back to the game").click()
    expect(square(page, 22)).to_have_attribute("aria-label", re.compile("empty"))
    page.locator("[data-tool='undo']").click()
    expect(page.locator(".moves .move-text")).to_have_text(["11-15"])


@pytest.mark.whole_run
def test_a_game_by_keys_alone(page: Page, base: str) -> None:
    """A capture of two jumps and the win, without a pointer; screen readers are told of them."""
    open_table(page, base, position="B:W18,26:B15", seats=[HUMAN, RANDOM])
    page.keyboard.press("Tab")  # to the link that skips to the board
    expect(page.locator(".skip")).to_be_focused()
    square(page, 1).focus()
    page.evaluate("document.querySelector('[data-square=\"1\"]').focus()")
    for _ in range(12):
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        if label.startswith("15,"):
            break
        row = (int(label.split(",")[0]) - 1) // 4
        # Black's side is at the bottom, so up is towards the high numbers.
        page.keyboard.press("ArrowUp" if row < 3 else "ArrowLeft")
    expect(square(page, 15)).to_be_focused()
    expect(square(page, 15)).to_have_attribute("aria-label", "15, black man, can move")
    page.keyboard.press("Enter")
    expect(square(page, 15)).to_have_attribute("aria-selected", "true")
    page.evaluate("document.querySelector('[data-square=\"22\"]').focus()")
    page.keyboard.press("Space")
    expect(square(page, 22)).to_have_class(re.compile("chosen"))
    page.evaluate("document.querySelector('[data-square=\"31\"]').focus()")
    page.keyboard.press("Enter")
    expect(page.locator(".result")).to_have_text("Black wins: White has no piece left")
    expect(page.locator("#live")).to_contain_text("15x22x31")


def test_analysis_why_and_hint(page: Page, base: str) -> None:
    open_table(page, base, position="B:W18,26,29:B15,12,K3")
    page.get_by_role("tab", name="Analysis").click()
    pick(page.get_by_role("combobox", name="Evaluator"), "checkers:classic", "classic")
    expect(page.locator(".legal").first).to_contain_text("15x22x31")
    page.get_by_role("tab", name="Why").click()
    expect(page.locator(".column")).to_have_count(2)
    page.locator("[data-why-move]").select_option("15x22x31")
    expect(page.locator(".column").first).to_contain_text("→")
    expect(page.locator(".column h3").first).to_have_text("quantised")  # who plays
    expect(page.locator(".column").nth(1).locator("tbody th").first).to_contain_text("×")
    entry = page.get_by_label("Type a move")
    entry.focus()
    entry.press("Escape")
    expect(entry).not_to_be_focused()
    page.locator("[data-tool='bulb']").click()
    expect(page.locator(".arrow")).to_have_count(1)


def test_why_tells_invented_terms_in_words_and_marks_their_squares(page: Page, base: str) -> None:
    open_table(page, base, position="W:W32,K20:B1,4,K10")
    open_tab(page, "Why")
    pick(page.locator("[data-why='0']"), "checkers:classic", "classic")
    pick(page.locator("[data-why='1']"), "run:found.json", "found")
    row = page.locator(".column").nth(1).locator("tbody tr").first
    expect(row).to_contain_text("own king with the board's edge two to the right")
    wash = "[data-square='%s'] .wash"
    for moved, marked in ((row.hover, True), (lambda: page.mouse.move(2, 2), False)):
        moved()
        for number, holds in ((20, marked), (10, False), (32, False)):
            style = page.locator(wash % number).get_attribute("style") or ""
            assert ("--heat-good" in style) == holds, (number, style)


@pytest.mark.whole_run
def test_two_tabs_share_a_table_or_have_their_own(browser: Any, base: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    first, second, third = context.new_page(), context.new_page(), context.new_page()
    open_table(first, base)
    second.goto(first.url)
    second.wait_for_selector(".board")
    third.goto(base)  # which goes on with the game played last, unless a new one is asked for
    expect(third).to_have_url(first.url)
    third.locator("[data-tool='plus']").click()
    third.get_by_role("dialog").get_by_role("button", name="Start").click()
    expect(third).not_to_have_url(first.url)
    assert third.url.rpartition("/")[2] != first.url.rpartition("/")[2]
    square(first, 11).click()
    square(first, 15).click()
    expect(second.locator(".moves .move-text")).to_have_text(["11-15"])
    square(second, 22).click()
    square(second, 18).click()
    expect(first.locator(".moves .move-text")).to_have_text(["11-15", "22-18"])
    expect(third.locator(".moves .move")).to_have_count(0)
    context.close()


def test_backgammon_by_dragging_and_by_keys(page: Page, base: str) -> None:
    position = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    open_table(page, base, game="backgammon", position=position)
    boxes = [page.locator(f"[data-place='p{n}'] .ring").bounding_box() for n in (8, 5)]
    drag(page, *boxes)
    expect(page.locator(".die.used")).to_have_count(1)
    drag(page, page.locator("[data-place='p13'] .ring").bounding_box(), boxes[1])
    # O holds the 12 point.
    expect(page.locator("#toast")).to_contain_text("these dice can move, found the 13 point")
    page.evaluate("document.querySelector('[data-place=\"p7\"]').focus()")
    page.keyboard.press("ArrowRight")  # the bar
    page.keyboard.press("ArrowRight")
    place = page.locator("[data-place='p6']")
    expect(place).to_be_focused()
    expect(place).to_have_attribute("aria-label", "Point 6, 5 X, can move")
    page.keyboard.press("Enter")
    expect(place).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(place).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".moves .move")).to_contain_text(["8/5 6/5"])


def test_connect_four_by_clicks_and_by_keys(page: Page, base: str) -> None:
    """A stone falls from any square of its column; a full column accepts no stone."""
    open_table(page, base, game="connect_four")
    square(page, 3).click()  # the top of the middle column
    expect(page.locator(".moves .move-text")).to_have_text(["4"])
    expect(square(page, 38)).to_have_attribute("aria-label", re.compile("row 1, column 4, .*X"))
    expect(page.locator(".men .man")).to_have_count(1)
    page.evaluate("document.querySelector('[data-square=\"38\"]').focus()")
    page.keyboard.press("ArrowLeft")
    expect(square(page, 37)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(square(page, 30)).to_be_focused()
    expect(square(page, 30)).to_have_attribute(
        "aria-label", "row 2, column 3, empty, can be clicked"
    )
    page.keyboard.press("Enter")
    expect(page.locator(".moves .move-text")).to_have_text(["4", "3"])
    expect(square(page, 37)).to_have_attribute("aria-label", re.compile("row 1, column 3, .*O"))
    open_table(page, base, game="connect_four", moves=[{"text": "4"}] * 6)
    expect(square(page, 3)).not_to_have_class(re.compile("can"))
    square(page, 3).click()
    expect(page.locator("#toast")).to_contain_text("one of the marked squares")
    assert table(page, base)["ply"] == 6
    moves = [{"text": text} for text in ("4", "3", "4", "3", "4", "3")]
    open_table(page, base, game="connect_four", moves=moves)
    square(page, 17).click()
    expect(page.locator(".result")).to_contain_text("X wins")
    assert table(page, base)["outcome"] == 1.0


def test_a_game_without_a_board_by_its_list_of_moves(page: Page, base: str) -> None:
    open_table(page, base, game="nim", position="1,2,0 0", shown=".plain-board")
    buttons = page.locator("[data-move]")
    expect(buttons).to_have_text(["1 from 1", "1 from 2", "2 from 2"])
    expect(page.locator(".board-text")).to_contain_text("2: ||")
    page.locator("[data-move='2 from 2']").click()
    expect(page.locator(".moves .move-text")).to_have_text(["2 from 2"])
    expect(buttons).to_have_text(["1 from 1"])
    buttons.first.focus()
    page.keyboard.press("Enter")
    # The player who takes the last stick loses.
    expect(page.locator(".result")).to_contain_text("First wins")
    expect(buttons).to_have_count(0)


@pytest.mark.whole_run
def test_databases_and_programs_are_offered(page: Page, base: str) -> None:
    page.goto(base)
    page.wait_for_selector(".board")
    page.locator("[data-tool='plus']").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Backgammon", exact=True).click()
    pick(dialog.locator("[data-seat='1']"), "backgammon:hand", "set by hand race gammons")
    dialog.locator("[data-lookup='1']").select_option("bearoff")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".strip").first).to_contain_text("hand + bear-off databases")
    assert table(page, base)["seats"][1]["evaluator"] == "backgammon:hand+bearoff"
    page.locator("[data-tool='plus']").click()  # they are still chosen
    expect(dialog.locator("[data-lookup='1']")).to_have_value("bearoff")
    if importlib.util.find_spec("gnubg_nn"):
        pick(dialog.locator("[data-seat='1']"), "gnubg:0", "external 0-ply")
        expect(dialog.locator("[data-lookup='1']")).to_have_count(0)
        dialog.get_by_role("button", name="Start").click()
        expect(page.locator(".strip").first).to_contain_text("GNU Backgammon 0-ply")


def test_what_waits_for_a_compilation_says_so_and_comes_by_itself(page: Page, base: str) -> None:
    text = "compiling for the first time, 8 s"
    waiting: list[Any] = []
    page.route("**/api/compiling", lambda route: route.fulfill(json={"text": text}))
    page.route("**/why", lambda route: waiting.append(route))
    open_table(page, base)
    page.get_by_role("tab", name="Why").click()
    expect(page.locator(".compiling")).to_contain_text(text.capitalize())
    waiting[0].continue_()
    expect(page.locator(".column")).to_have_count(2)


def test_a_page_of_another_package_stands_among_the_others(page: Page, base: str) -> None:
    lists = page.request.get(f"{base}/api/catalogue").json()
    page.route("**/api/catalogue", lambda route: route.fulfill(json={**lists, "pages": ["sticks"]}))
    module = Path(__file__).resolve().parents[1] / "outside/sticks/page.js"
    page.route("**/static/page-sticks.js", lambda route: route.fulfill(path=module))
    page.goto(f"{base}/#/training")
    page.get_by_role("link", name="Sticks").click()
    expect(page.get_by_role("main")).to_have_text(f"Sticks and {len(lists['games'])} games")
    expect(page.get_by_role("link", name="Sticks")).to_have_attribute("aria-current", "page")


@pytest.mark.whole_run
def test_bars_of_an_analysis_are_on_an_absolute_scale(page: Page, base: str) -> None:
    """At the start all moves are near half of the points, the best and the worst alike."""
    open_table(page, base)
    open_tab(page, "Analysis")
    bars = page.locator(".legal .bar > span")
    widths = bars.evaluate_all("all => all.map((bar) => parseFloat(bar.style.width))")
    assert len(widths) == 7 and all(30 < width < 70 for width in widths)


@pytest.mark.whole_run
def test_a_picker_is_searched_and_used_by_keys(page: Page, base: str) -> None:
    page.goto(base)
    page.wait_for_selector(".board")
    page.locator("[data-tool='plus']").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_role("combobox", name="Played by").last
    options = dialog.get_by_role("listbox", name="Played by").get_by_role("option")
    field.click()
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(dialog.get_by_role("group", name="Shipped").get_by_role("option")).to_have_count(6)
    chosen = page.locator(f"#{field.get_attribute('aria-activedescendant')}")
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(chosen).to_contain_text("Level 5 of 10")
    field.fill("by hand")
    expect(options).to_have_count(3)
    field.press("ArrowDown")
    field.press("ArrowDown")
    field.press("ArrowDown")  # stays at the last one
    field.press("Escape")  # closes the list, not the dialog, and changes nothing
    expect(options).to_have_count(0)
    expect(field).to_have_value("level5")
    field.fill("no such thing")
    expect(dialog.get_by_role("status")).to_have_text("Nothing found.")
    field.fill("classic")  # the name goes before texts in which the word occurs
    field.press("Enter")
    expect(dialog).to_be_visible()
    expect(dialog.locator("[data-seat='1']")).to_be_focused()
    expect(dialog.locator("[data-seat='1']")).to_have_value("classic")
    dialog.locator("[data-seat='1']").press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.whole_run
def test_every_key_that_the_page_names(page: Page, base: str) -> None:
    open_table(page, base, game="backgammon", position="4HPwATDgc/ABMA", seats=[HUMAN, HUMAN])
    page.keyboard.press("r")
    expect(page.locator(".die").first).to_be_visible()
    page.keyboard.press("h")
    expect(page.locator(".arrow").first).to_be_attached()
    best = page.locator(".legal .text").first.text_content()
    page.keyboard.press("m")
    expect(page.get_by_role("textbox", name="Type a move")).to_be_focused()
    page.keyboard.type(best)
    page.keyboard.press("Enter")
    page.locator(".board").click(position={"x": 5, "y": 5})
    page.evaluate("document.activeElement.blur()")
    page.get_by_role("tab", name="Game").click()
    expect(page.locator(".moves .move")).to_have_count(1)
    first = page.locator(".strip").first
    expect(first).to_contain_text("O")
    page.keyboard.press("f")
    expect(first).to_contain_text("X")
    page.keyboard.press("[")
    expect(page.get_by_role("button", name="Back to the game")).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_role("button", name="Back to the game")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator(".moves .move")).to_have_count(0)
    expect(page.locator(".die").first).to_be_visible()  # the dice stay visible
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Turn the board round")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(dialog).to_contain_text("New game")


def test_a_game_is_saved_and_loaded_and_its_curve_drawn(page: Page, base: str) -> None:
    moves = [{"text": text} for text in ("11-15", "22-18", "15x22", "25x18")]
    open_table(page, base, moves=moves)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save").click()
    text = Path(saving.value.path()).read_text()
    assert (
        saving.value.suggested_filename.endswith(".pdn") and "1. 11-15 22-18 2. 15x22 25x18" in text
    )
    open_table(page, base)
    file = {"name": "game.pdn", "mimeType": "text/plain", "buffer": f"{text}\n{text}".encode()}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".moves .move")).to_have_count(4)
    expect(page.locator("#panel-game")).to_contain_text("The file holds 2 games")
    expect(page.locator(".curve-box .spot")).to_have_count(5)
    many = {"name": "m.pdn", "mimeType": "text/plain", "buffer": b"1. 11-15 *\n" * 724}
    page.locator("input[type=file]").set_input_files(many)
    expect(page.locator("#panel-game")).to_contain_text("500 of 724 games shown")


@pytest.mark.whole_run
def test_an_analysis_that_ended_while_the_page_was_hidden_is_shown(page: Page, base: str) -> None:
    """The page does not listen while it is hidden; the results found meanwhile are kept for it."""
    view = open_table(page, base)
    page.get_by_role("tab", name="Analysis").click()
    expect(page.locator(".legal")).to_have_count(7)
    page.goto("about:blank")
    asked = {"evaluator": "checkers:classic", "seconds": 5, "depth": 3}
    page.request.post(f"{base}/api/tables/{view['id']}/analyse", data=asked)
    page.goto(f"{base}/#/play/{view['id']}")
    expect(page.locator(".legal")).to_have_count(7)


@pytest.mark.whole_run
def test_on_a_phone_nothing_is_cut_off(browser: Any, base: str) -> None:
    width = 320
    context = browser.new_context(
        viewport={"width": width, "height": 812}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    for game in ("checkers", "backgammon"):
        open_table(page, base, game=game, seats=[HUMAN, CLASSIC if game == "checkers" else HAND])
        for tab in ("Game", "Analysis", "Why", "Set up"):
            open_tab(page, tab)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{game}, {tab}: {wide} pixels"
    open_table(page, base)
    covered = page.evaluate(COVERED)
    assert covered == [], f"men cover the numbers of {covered}"
    for key in ("n", "?"):
        page.keyboard.press(key)
        assert page.get_by_role("dialog").evaluate("(dialog) => dialog.scrollTop") == 0
        expect(page.get_by_role("dialog").get_by_role("heading")).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)  # else the next key goes to it
    open_table(page, base, position="B:WK1,K2,K6:BK32")
    open_tab(page, "Analysis")
    expect(page.locator(".legal .value").first).to_contain_text("plies")
    assert page.evaluate(CUT, ".legal .value") == []
    invented = {**CLASSIC, "evaluator": "shipped:checkers/invented.json"}
    open_table(page, base, position="B:W18,K22:B15", seats=[HUMAN, invented])
    open_tab(page, "Why")  # terms in words
    expect(page.locator(".part-name").first).to_be_visible()
    assert page.evaluate(CUT, ".parts th, .column h3") == []
    open_table(page, base, game="chinese_checkers", seats=[HUMAN, HUMAN, RANDOM])
    expect(page.locator(".strips .turn")).to_be_visible()
    assert page.evaluate(CUT, ".strips .who, .strips .turn") == []
    page.goto(f"{base}/#/training")
    page.wait_for_selector(".chart")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


ON_ONE_LINE = """() => {
  const box = (part) => document.querySelector(`.strip.active ${part}`)?.getBoundingClientRect();
  const [name, turn] = [box("strong"), box(".turn")];
  return name && turn && Math.abs(name.y + name.height / 2 - turn.y - turn.height / 2) < 5;
}"""


def test_three_sit_at_the_star(page: Page, base: str) -> None:
    """From the dialog for a new game to a jump over two pieces, whose way is shown."""
    page.goto(base)
    page.wait_for_selector(".board")
    page.locator("[data-tool='plus']").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Chinese Checkers", exact=True).click()
    pick(dialog.locator("[data-seat='2']"), "chinese_checkers:hand", "hand")
    dialog.locator("[data-method='2']").select_option("max_n")
    pick(dialog.locator("[data-seat='1']"), "random")
    pick(dialog.locator("[data-seat='2']"), "random")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".strips .strip")).to_have_count(3)
    for width in (1280, 340):  # what is said of the side to move stands on one line
        page.set_viewport_size({"width": width, "height": 760})
        page.wait_for_function(ON_ONE_LINE)
    expect(page.locator(".man.seat")).to_have_count(30)
    view = table(page, base)
    holes = view["board"]["holes"]

    def go(source: int, target: int) -> None:
        page.wait_for_function(WAITING)
        square(page, holes[source]).click()
        square(page, holes[target]).hover()
        expect(page.locator(".over .arrow")).to_have_count(1)
        square(page, holes[target]).click()

    go(5, 18)
    expect(page.locator(".moves .move")).to_have_count(3)
    go(0, 16)
    expect(page.locator(".moves .move")).to_have_count(6)
    assert table(page, base)["moves"][3]["text"] == "0-16"
    page.locator("[data-tool='undo']").click()
    expect(page.locator(".moves .move")).to_have_count(3)
    page.locator("[data-tool='flag']").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(page.locator(".result")).to_have_text("Player 1 resigned")


def test_the_training_page_follows_a_run(page: Page, tmp_path: Path) -> None:
    run = tmp_path / "live"
    run.mkdir()
    (run / "options.json").write_text('{"game": "checkers", "learner": "samuel", "games": 9}')
    (run / "log.csv").write_text("game,plies,note\n1,40,\n2,50,\n")
    with running(tmp_path) as address:
        page.goto(f"{address}/#/training")
        expect(page.locator(".run-head")).to_contain_text("live")
        expect(page.locator(".facts")).to_contain_text("2 of 9")
        with (run / "log.csv").open("a") as file:
            file.write("3,60,\n4,44,\n")
        expect(page.locator(".facts")).to_contain_text("4 of 9")


def test_without_chances_the_page_shows_no_percentage(page: Page, base: str) -> None:
    moves = [{"text": "6-14"}, {"text": "111-102"}]
    open_table(page, base, game="chinese_checkers2", moves=moves)
    open_tab(page, "Analysis")
    assert "%" not in page.inner_text("main")
    open_tab(page, "Game")
    expect(
        page.get_by_text("1 decision, without marks because hand knows no chances")
    ).to_have_count(2)
    assert "%" not in page.inner_text("main") and "accuracy" not in page.inner_text("main")
    open_table(page, base, game="chinese_checkers6", seats=[HUMAN] * 6)
    open_tab(page, "Analysis")
    expect(page.get_by_text("Values in steps for Player 1")).to_be_visible()
