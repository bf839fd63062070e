"""The memory that a search takes, measured on processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss")]

#: Runs a search, whose code is compiled before, and prints by how many MiB the process grew.
SCRIPT = """
import resource
import games, search
from games.problem import Problem
from games.puzzles.road_map import RoadMap

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

class Plane(Problem):
    name = "plane"
    start = lambda self: (0, 0)
    legal_moves = lambda self, at: [0, 1]
    play = lambda self, at, move: (at[0] + move, at[1] + 1 - move)
    solved = lambda self, at: False
    cost = lambda self, at, move: 1 + (at[0] * 7 + at[1] * 13) % 101 / 101

far = RoadMap({"a": {"b": 1e5}, "b": {"c": 1e5}, "c": {"d": 1e5}, "d": {}}, "a", "d")
problem, seed, options = (PROBLEM)
start = problem.start() if seed is None else problem.random_position(seed)
search.solve(problem, start, nodes=50, memory_mib=1, **options)
before = peak()
LIMIT
found = search.solve(problem, start, memory_mib=MEMORY, **options)
print(peak() - before, found.cost, found.proved, sep="|")
"""


def run(problem: str, memory: int, limit: str = "") -> tuple[float, float, str]:
    """Returns the growth of the process in MiB, the cost, and what was said about it."""
    script = SCRIPT.replace("PROBLEM", problem).replace("MEMORY", str(memory))
    made = subprocess.run(
        [sys.executable, "-c", script.replace("LIMIT", limit)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    growth, cost, proved = made.stdout.split("|")
    return float(growth), float(cost), proved.strip()


@pytest.mark.parametrize(
    ("problem", "memory", "found"),
    [
        ("games.load('sliding24'), 3, {'weight': 1000.0}", 20, True),
        ("games.load('sliding24'), 3, {}", 12, False),
        ("games.load('sliding24'), 3, {'method': 'beam', 'width': 10**6}", 12, False),
        ("far, None, {}", 16, True),
        ("Plane(), None, {}", 16, False),
    ],
)
def test_a_search_keeps_within_its_memory(problem: str, memory: int, found: bool) -> None:
    growth, cost, proved = run(problem, memory)
    assert growth <= memory + 2
    assert (cost < float("inf")) == found
    assert found or proved.startswith("out of memory with ")


def test_a_system_that_gives_less_gets_an_answer_too() -> None:
    """The limit of the process is met long before the memory that was asked for."""
    limit = (
        "now = 1024 * int(open('/proc/self/statm').read().split()[0]) * 4\n"
        "resource.setrlimit(resource.RLIMIT_AS, (now + (200 << 20),) * 2)"
    )
    _, _, proved = run("games.load('sliding24'), 3, {}", 4096, limit)
    assert proved.startswith("out of memory with ") and "; any solution costs at least " in proved
