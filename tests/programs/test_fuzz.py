"""Every parser, given texts by Hypothesis and by the fuzz benchmark."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import Parser, fuzz, main, mutated, parsers

PARSERS = parsers()
QUICK = settings(
    max_examples=30, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def texts(parser: Parser) -> st.SearchStrategy[str]:
    """Returns noise, words in any order, and valid texts with holes and insertions."""
    words = st.lists(st.sampled_from(parser.words) | st.text(max_size=3), max_size=40)
    samples = st.sampled_from(parser.samples)
    edited = st.tuples(samples, st.integers(0, 400), st.integers(0, 30), st.text(max_size=5)).map(
        lambda edit: edit[0][: edit[1]] + edit[3] + edit[0][edit[1] + edit[2] :]
    )
    return st.text(max_size=80) | words.map("".join) | words.map(" ".join) | samples | edited


@pytest.mark.parametrize("name", PARSERS)
def test_what_hypothesis_makes_up(name: str) -> None:
    parser = PARSERS[name]

    @QUICK
    @given(texts(parser))
    def check(text: str) -> None:
        assert parser.check(text) in (True, False)

    check()


@pytest.mark.parametrize("name", PARSERS)
def test_garbage_and_good_texts(name: str) -> None:
    read, slowest = fuzz(PARSERS[name], 200, seed=1)
    assert 0 < read < 200  # some are good, and garbage is refused
    assert slowest < 1.0


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize(
    "text", ["", "\0", "x" * 100_000, "(" * 100_000, "1" * 100_000, '"' * 9999]
)
def test_long_and_empty_texts(name: str, text: str) -> None:
    PARSERS[name].check(text)


def test_a_separator_that_int_does_not_take_for_space() -> None:
    """Found by the benchmark: a FIBS board with a unit separator before a number."""
    board = next(text for text in PARSERS["GNU socket"].samples)
    assert PARSERS["position ID, XGID, FIBS"].check(board.replace(":0:", ":\x1f0:", 1))


def test_time_grows_with_the_length_and_no_more() -> None:
    for name in ("PDN", ".mat"):
        sample = PARSERS[name].samples[0]
        times = []
        for copies in (5, 5, 40, 40):
            began = time.thread_time()
            PARSERS[name].check(f"{sample}\n" * copies)
            times.append(time.thread_time() - began)
        assert min(times[2:]) < 8 * 3 * min(times[:2]), name  # quadratic time would give 64


def test_faults_are_found_and_shown() -> None:
    def broken(text: str) -> bool:
        if "7" in text:
            raise IndexError("seven")
        return True

    parser = Parser(broken, ("567", "89"), ("1", "2"))
    with pytest.raises(AssertionError, match=r"input \d+: IndexError: seven: .*7"):
        fuzz(parser, 1000, seed=0)
    same = [mutated(parser, random.Random(seed)) for seed in range(50)]
    assert same == [mutated(parser, random.Random(seed)) for seed in range(50)]
    assert len(set(same)) > 20


def test_the_command(capsys: Any, monkeypatch: Any) -> None:
    assert main(["--inputs", "50", "--only", "dice", "FEN", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "dice" in out and "FEN" in out and " 50 inputs: " in out
    assert main(["--only", "nothing"]) == 2
    assert "expected inputs from 1 on and parsers among FEN" in capsys.readouterr().out
    assert main(["--inputs", "0"]) == 2
    monkeypatch.setattr("benchmarks.fuzz.SLOWEST", -1.0)
    assert main(["--inputs", "5", "--only", "dice", "--quiet"]) == 1
    assert "FAILED: input 0: took" in capsys.readouterr().out
