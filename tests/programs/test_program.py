"""How programs end: a one-line message after a mistake, Ctrl-C, and a reader that has gone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from games.program import exit_status


def raising(error: BaseException) -> int:
    raise error


@pytest.mark.plain
@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (ValueError("depth: expected 1, found 0"), 2, "name: depth: expected 1, found 0\n"),
        (
            FileNotFoundError(2, "No such file", "x.json"),
            2,
            "name: [Errno 2] No such file: 'x.json'\n",
        ),
        (KeyboardInterrupt(), 130, "go on with --resume\n"),
    ],
)
def test_what_a_user_causes_is_one_line(
    error: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = exit_status("name", lambda: raising(error), stopped="go on with --resume")
    assert found == status
    assert capsys.readouterr() == ("", said)


def test_a_status_is_handed_on_and_a_defect_is_not_hidden() -> None:
    assert exit_status("name", lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        exit_status("name", lambda: raising(ZeroDivisionError()))


@pytest.mark.plain
@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_has_gone_is_not_a_mistake(lines: int) -> None:
    text = f"""
import sys
from games.program import exit_status

def run():
    sys.stdin.read()
    for _ in range({lines}):
        print("a line of text")
    return 0

sys.exit(exit_status("name", run))
"""
    with subprocess.Popen(
        [sys.executable, "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdin and program.stdout and program.stderr
        program.stdout.close()
        program.stdin.close()
        assert program.stderr.read() == b""
        assert program.wait(30) == 0
