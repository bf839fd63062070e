"""axe-core finds nothing in any view of the page, light or dark, on a screen or a phone."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

from tests.web_pages import PATIENCE, browser_tests, open_tab, open_table, square  # noqa: E402
from tests.web_server import CLASSIC, HAND, HUMAN, RANDOM  # noqa: E402

pytestmark = browser_tests
expect = playwright.expect
Page = Any


ONLY_VIOLATIONS = {"resultTypes": ["violations"]}
STILL = "() => document.getAnimations().every((one) => one.playState !== 'running')"


def violations(page: Page, **options: Any) -> list[str]:
    """What axe-core finds, one line for each rule: its name, and the first elements."""
    page.wait_for_function(STILL)  # colours fade
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe.Axe().axe_script)
    found = page.evaluate("(options) => axe.run(options)", ONLY_VIOLATIONS | options)["violations"]
    return [
        f"{one['id']}: " + "; ".join(str(node["html"])[:120] for node in one["nodes"][:4])
        for one in found
    ]


@pytest.mark.whole_run
def test_axe_finds_nothing(browser: Any, base: str) -> None:
    """All rules in the light on a screen, and those of colours in the dark on a phone."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    problems: dict[str, list[str]] = {}

    def look(view: str) -> None:
        found = violations(page)
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 390, "height": 800})
        found += violations(page, runOnly=["color-contrast"])
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 800})
        if found:
            problems[view] = found

    seats = {"checkers": [HUMAN, CLASSIC], "backgammon": [HUMAN, HAND]}
    for game in ("checkers", "backgammon", "connect_four", "nim"):
        shown = ".plain-board" if game == "nim" else ".board"
        open_table(page, base, game=game, shown=shown, seats=seats.get(game, [HUMAN, RANDOM]))
        look(game)
        for tab in ("Game", "Analysis", "Why", "Set up") if game in seats else ():
            open_tab(page, tab)
            look(f"{game}, {tab}")
            if (game, tab) == ("backgammon", "Analysis"):
                page.locator("[data-roll-out]").click()
                expect(page.locator(".rollout li").first).to_be_visible()
                look("a rollout")
                page.locator("[data-roll-out]").click()
    star = open_table(page, base, game="chinese_checkers", seats=[HUMAN, HUMAN, RANDOM])
    page.request.post(f"{base}/api/tables/{star['id']}/move", data={"text": "6-14"})
    expect(page.locator(".moves .chip")).to_have_count(1)
    for tab in ("Game", "Analysis", "Set up"):
        open_tab(page, tab)
        look(f"three players, {tab}")
    cube = open_table(page, base, game="backgammon", play={"length": 5})
    page.request.post(f"{base}/api/tables/{cube['id']}/move", data={"text": cube["legal"][0]})
    page.get_by_role("button", name="Double to 2").click()
    expect(page.get_by_role("button", name="Take", exact=True)).to_be_visible()
    page.locator("[data-tool='bulb']").click()
    expect(page.locator(".advice")).to_be_visible()
    look("a double with a hint")
    page.get_by_role("button", name="Drop").click()
    expect(page.get_by_role("button", name="Next game")).to_be_visible()
    look("a game of a match that is over")
    page.get_by_role("tab", name="Set up").click()
    page.locator("[data-tool='plus']").click()
    look("the dialog for a new game")
    page.get_by_role("combobox", name="Played by").last.click()
    look("an open list of evaluators")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    open_table(page, base, position="B:W18:B15", moves=[])
    page.get_by_role("tab", name="Set up").click()
    page.get_by_role("button", name="Edit on the board").click()
    page.get_by_role("textbox", name="FEN").fill("B:W1:B2")
    expect(page.locator(".problem")).to_be_visible()
    look("editing a position that is refused")
    page.get_by_role("button", name="Stop editing").click()
    page.get_by_role("tab", name="Game").click()
    square(page, 15).click()
    square(page, 22).click()
    expect(page.locator(".result")).to_be_visible()
    look("the end of a game")
    page.keyboard.press("?")
    look("the keys")
    page.keyboard.press("Escape")
    for name, shown in (
        ("games", ".game-list a"),
        ("training", ".chart"),
        ("puzzle", ".puzzle .stage"),
    ):
        page.goto(f"{base}/#/{name}")
        expect(page.locator(shown).first).to_be_visible()
        look(name)
    for name, shown in (("sliding8/1%202%200%203%204%205%206%207%208", ".part-bar"),
                        ("pancakes10", ".block"), ("road_map", ".roads .town")):  # fmt: skip
        page.goto("about:blank")
        page.goto(f"{base}/#/puzzle/{name}")
        expect(page.locator(shown).first).to_be_visible()
        look(name)
    page.get_by_label("Step by step").check()
    page.locator("[data-solve]").click()
    expect(page.locator("ol.frontier li").first).to_be_visible()
    look("a frontier")
    page.goto(f"{base}/#/play/nowhere")
    expect(page.locator(".lonely")).to_contain_text("no longer kept")
    look("a game that is gone")
    context.close()
    assert problems == {}
