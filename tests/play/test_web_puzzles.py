"""Puzzles in the browser: by clicks, by keys and by search."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from tests.web_pages import PATIENCE, browser_tests, square  # noqa: E402

pytestmark = browser_tests
expect = playwright.expect
Page = Any


def open_puzzle(page: Page, base: str, name: str, position: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{base}/#/puzzle/{name}/{position.replace(' ', '%20').replace('/', '%2F')}")
    page.wait_for_selector(".board, .plain-board")


def solve(page: Page) -> None:
    page.locator("[data-solve]").click()
    page.wait_for_selector("[data-play]")


def test_a_puzzle_is_solved_by_clicks_and_by_keys(page: Page, base: str) -> None:
    open_puzzle(page, base, "sliding8", "1 2 0 3 4 5 6 7 8")
    boxes = [page.locator(one).bounding_box() for one in (".board", ".tools")]
    assert len({box["x"] + box["width"] for box in boxes}) == 1
    square(page, 1).click()
    expect(page.locator(".thinking")).to_contain_text("1 move made")
    page.keyboard.press("u")
    expect(page.locator(".thinking")).to_contain_text("0 moves made")
    square(page, 8).click()  # cannot slide: nothing happens
    page.evaluate("document.querySelector('[data-square=\"1\"]').focus()")
    page.keyboard.press("Enter")
    expect(square(page, 1)).to_have_attribute("aria-label", "row 1, column 2, empty")
    page.get_by_role("textbox", name="Type a move").fill("1")
    page.keyboard.press("Enter")
    expect(page.locator(".thinking h2")).to_have_text("Solved in 2 moves")
    expect(page).to_have_url(re.compile("0%201%202%203%204%205%206%207%208$"))
    page.reload()  # the address holds the position
    expect(page.locator(".thinking")).to_contain_text("Solved")


def test_a_solution_is_found_and_shown_and_hints_lead_to_it(page: Page, base: str) -> None:
    open_puzzle(page, base, "sliding8", "3 1 2 4 0 5 6 7 8")
    page.locator("[data-tool='bulb']").click()
    expect(page.locator(".dot.hint")).to_have_count(1)
    solve(page)
    expect(page.locator(".solution")).to_contain_text("2 moves")
    expect(page.locator(".solution")).to_contain_text("proved to be the cheapest")
    expect(page.locator(".puzzle-card .figures")).to_contain_text("Frontier")
    page.locator("[data-play]").click()
    expect(page.locator(".solution")).to_contain_text("2 of 2")
    expect(page.locator(".thinking h2")).to_have_text("Solved")
    page.get_by_role("button", name="Back one move").click()
    expect(page.locator(".solution")).to_contain_text("1 of 2")
    expect(page.locator(".thinking h2")).to_have_text("Not solved yet")


@pytest.mark.whole_run
def test_why_and_what_is_wrong_are_said(page: Page, base: str) -> None:
    open_puzzle(page, base, "sliding8", "1 2 0 3 4 5 6 7 8")
    why = page.locator(".why")
    expect(why).to_contain_text("2 estimated to go, by manhattan")
    expect(why.locator("tbody th")).to_have_text(["tile 1", "tile 2"])
    text = page.get_by_role("textbox", name="As text")
    for position, problem in (
        ("1 2 0 3 4 5 6 8 7", "No solution: the tiles are 3 swaps from the goal"),
        ("1 1 2 3 4 5 6 7 8", "Expected each tile from 0 to 8 once, found 1 twice and no 0."),
    ):
        text.fill(position)
        page.locator("[data-set]").click()
        expect(page.locator(".problem").last).to_contain_text(problem)
        expect(text).to_have_value(position)  # to be mended, not lost
    page.locator("[data-puzzle]").select_option("pancakes10")
    top = square(page, 0).get_attribute("aria-label").removeprefix("row 1").split(", can")[0]
    square(page, 4).click()
    expect(page.locator(".thinking")).to_contain_text("1 move made")
    expect(square(page, 4)).to_have_attribute("aria-label", re.compile(f"^row 5{top}"))


@pytest.mark.whole_run
def test_moves_of_a_puzzle_without_a_board_are_a_list(page: Page, base: str) -> None:
    open_puzzle(page, base, "road_map")
    page.locator("[data-move='Minneapolis']").click()
    solve(page)
    expect(page.locator(".solution")).to_contain_text("1 move")
    page.locator("[data-move='Wausau']").click()
    expect(page.locator(".thinking h2")).to_have_text("Solved in 2 moves")


def test_the_frontier_of_a_strategy_is_followed_step_by_step(page: Page, base: str) -> None:
    open_puzzle(page, base, "romania")
    page.locator("[data-option='method']").select_option("uniform_cost")
    solve(page)
    frontier = page.locator("ol.frontier li")
    expect(frontier).to_have_text(["Arad 0"])
    page.get_by_role("button", name="Forward one step").click()
    expect(frontier).to_have_text(["Zerind 75", "Timisoara 118", "Sibiu 140"])
    page.keyboard.press("Enter")  # the button keeps the focus
    expect(page.get_by_text("step 3 of 13, 3 waiting")).to_be_visible()
    page.get_by_role("button", name="To the last step").click()
    expect(frontier).to_have_text(["Bucharest 418"])
    page.locator("[data-option='method']").select_option("astar")
    page.get_by_label("Step by step").check()
    solve(page)
    page.get_by_role("button", name="Forward one step").click()
    on_the_map = page.locator(".town.waits .value")
    expect(on_the_map).to_have_text(["140 + 253 = 393", "118 + 329 = 447", "75 + 374 = 449"])
    expect(page.locator(".town.goal")).to_contain_text("Bucharest (goal)")
    page.get_by_role("button", name="To the last step").click()
    expect(frontier.first).to_have_text("Bucharest 418")


@pytest.mark.whole_run
@pytest.mark.parametrize("width", [360, pytest.param(768, marks=pytest.mark.whole_run)])
def test_puzzles_fit_on_a_phone(browser: Any, base: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 760})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    near = "4 1 2 3 5 6 7 0 8 9 10 11 12 13 14 15"
    for name, position in (("sliding15", near), ("pancakes10", ""), ("road_map", "")):
        open_puzzle(page, base, name, position)
        solve(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    context.close()
