"""A page of play.web in a browser, for tests: tables, squares and panels.

Needs Chromium, as Debian installs it, and playwright, which drives it. `PLYSMITH_CHROMIUM` may name
another browser of its kind.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web_server import HUMAN

__all__ = [
    "CHROMIUM",
    "CUT",
    "PATIENCE",
    "browser_tests",
    "click_point",
    "drag",
    "open_tab",
    "open_table",
    "square",
    "table",
]

CHROMIUM = os.environ.get("PLYSMITH_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
#: The marks of a file with tests of the page.
browser_tests = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]
#: Milliseconds that anything may take on a machine that is busy with other work.
PATIENCE = 60_000
Page = Any
#: The texts of chosen elements that are cut off, or that leave their card.
CUT = """(chosen) => [...document.querySelectorAll(chosen)].filter((e) =>
  e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right
    > e.closest('section').getBoundingClientRect().right).map((e) => e.textContent)"""


def open_table(page: Page, base: str, *, shown: str = ".board", **content: Any) -> dict[str, Any]:
    """Create a table by a request, and open the page that shows it; returns the table."""
    content = {"game": "checkers", "seats": [HUMAN, HUMAN], **content}
    answer = page.request.post(f"{base}/api/tables", data=content)
    assert answer.status == 201, answer.text()
    view = answer.json()
    page.goto("about:blank")  # else the board of the previous table would be found
    page.goto(f"{base}/#/play/{view['id']}")
    page.wait_for_selector(shown)
    return dict(view)


def table(page: Page, base: str) -> dict[str, Any]:
    id = page.url.rpartition("/")[2]
    return dict(page.request.get(f"{base}/api/tables/{id}").json())


def square(page: Page, number: int) -> Any:
    return page.locator(f"[data-square='{number}']")


def open_tab(page: Page, name: str) -> None:
    """Open one of the panels, and wait for its content."""
    page.get_by_role("tab", name=name).click()
    shown = {"Game": ".walk", "Analysis": ".legal", "Why": ".column", "Set up": "[data-set]"}
    expect(page.locator(shown[name]).first).to_be_visible()


def click_point(page: Page, name: str) -> None:
    box = page.locator(f"[data-place='{name}'] .ring").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def drag(page: Page, source: dict[str, float], target: dict[str, float]) -> None:
    page.mouse.move(source["x"] + source["width"] / 2, source["y"] + source["height"] / 2)
    page.mouse.down()
    page.mouse.move(target["x"] + target["width"] / 2, target["y"] + 9, steps=4)
    page.mouse.move(target["x"] + target["width"] / 2, target["y"] + target["height"] / 2)
    page.mouse.up()
