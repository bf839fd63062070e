"""The memory that a search takes, measured on processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss")]

#: Runs searches in a process each, whose code is compiled before, and prints by how many MiB it
#: grew. Python is started, and imports everything, once.
SCRIPT = """
import os, resource
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

def measure(problem, seed, memory, limit, **options):
    start = problem.start() if seed is None else problem.random_position(seed)
    search.solve(problem, start, nodes=50, memory_mib=1, **options)
    before = peak()
    if limit:
        now = 1024 * int(open('/proc/self/statm').read().split()[0]) * 4
        resource.setrlimit(resource.RLIMIT_AS, (now + (limit << 20),) * 2)
    found = search.solve(problem, start, memory_mib=memory, **options)
    print(peak() - before, found.cost, found.proved, sep="|", flush=True)

far = RoadMap({"a": {"b": 1e5}, "b": {"c": 1e5}, "c": {"d": 1e5}, "d": {}}, "a", "d")
tiles = games.load("sliding24")
for case in (CASES):
    if os.fork() == 0:
        case()
        os._exit(0)
    assert os.wait()[1] == 0
"""
#: Searches with the memory that they may take and whether they find a way. The limit of the
#: process of the last is met long before the memory that it may take.
CASES = [
    ("tiles, 3, 20, 0, weight=1000.0", 20, True),
    ("tiles, 3, 12, 0", 12, False),
    ("tiles, 3, 12, 0, method='beam', width=10**6", 12, False),
    ("far, None, 16, 0", 16, True),
    ("Plane(), None, 16, 0", 16, False),
    ("tiles, 3, 4096, 200", 4096, False),
]


def test_a_search_keeps_within_its_memory() -> None:
    calls = "".join(f"lambda: measure({arguments}), " for arguments, *_ in CASES)
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("CASES", calls)],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    lines = [line.split("|") for line in made.stdout.splitlines()]
    for (case, memory, found), (growth, cost, proved) in zip(CASES, lines, strict=True):
        assert float(growth) <= memory + 2, case
        assert (float(cost) < float("inf")) == found, case
        assert found or proved.startswith("out of memory with "), case
    assert "; any solution costs at least " in proved
