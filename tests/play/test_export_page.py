"""The page of an exported engine, opened as a file, answers as the same engine does natively."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from play.commands.export import main

pytest.importorskip("ziglang")
pytest.importorskip("playwright")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler"),
]


def test_the_page_plays_without_a_server(browser: Any, tmp_path: Path) -> None:
    assert main(["classic", str(tmp_path), "--game", "checkers", "--engine", "--page"]) == 0
    subprocess.run(["cc", "-O2", "classic.c", "-o", "native", "-lm"], cwd=tmp_path, check=True)
    lines = ["position start moves 841", "go depth 7", "moves", "position 1 2"]
    native = subprocess.run(
        [tmp_path / "native"], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    page = browser.new_page()
    page.goto((tmp_path / "classic.html").as_uri())
    assert page.evaluate("lines => ask(...lines)", lines) == native.stdout.splitlines()
    assert page.locator("#legal button").count() == 7  # the first moves of checkers
    page.locator("#legal button").first.click()
    page.locator("#play").click()
    first, second = page.locator("#moves").inner_text().split()
    assert first != second and page.locator("#legal button").count() > 0
    page.locator("#position").fill("1 2")
    page.locator("#again").click()
    assert "expected start or 4 integers" in page.locator("#said").inner_text()
    page.close()
