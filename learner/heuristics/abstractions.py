"""A first heuristic that nobody wrote: costs of the problem with only one or two pieces told apart.

Such small pattern databases are built in a moment by search backwards from the goal. For sliding
tiles their sum is at least the Manhattan distance, which is the same with one tile at a time.

Source: Culberson and Schaeffer 1998; that relaxed problems give heuristics: Pearl 1984, Prieditis
1993.
"""

from __future__ import annotations

from games.problem import KernelProblem
from search.evaluators.pattern_database import PatternDatabase
from search.single_agent.patterns import build_patterns

__all__ = ["small_patterns"]


def small_patterns(problem: KernelProblem, *, each: int = 2) -> PatternDatabase:
    """Returns patterns of `each` pieces: their sum where costs may be added, else the largest.

    The pieces are those of the problem's usual patterns. Raises ValueError if it has none.
    """
    usual = next(iter(problem.patterns.values()), ())
    pieces = sorted({piece for part in usual for piece in part})
    if not pieces:
        raise ValueError(f"{problem.name}: expected a problem with patterns, found none")
    parts = [tuple(pieces[first : first + each]) for first in range(0, len(pieces), each)]
    try:
        problem.pattern(parts[0], additive=True)
    except ValueError:
        return build_patterns(problem, [[part] for part in parts])
    return build_patterns(problem, [parts])
