"""Constraint satisfaction (Russell and Norvig, chapter 6): backtracking, AC-3 and min-conflicts.

A problem has variables, each with a domain of values, and constraints between pairs of variables.
The searches here are written to be read; each can tell its steps to a `trace`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AUSTRALIA",
    "Assignment",
    "Constraints",
    "ac3",
    "backtracking",
    "colouring",
    "min_conflicts",
    "queens",
]

Variable = Hashable
Domains = dict[Variable, list[Any]]
#: Called with one line of text for each step.
Trace = Callable[[str], Any]

#: The states of Australia that have a border in common, each pair once.
AUSTRALIA = (
    ("WA", "NT"), ("WA", "SA"), ("NT", "SA"), ("NT", "Q"), ("SA", "Q"), ("SA", "NSW"),
    ("SA", "V"), ("Q", "NSW"), ("NSW", "V"), ("T", "T"),
)  # fmt: skip


@dataclass(frozen=True)
class Constraints:
    """A problem of constraints between pairs of variables.

    domains: for each variable its values, in the order in which they are tried.
    neighbours: for each variable those that share a constraint with it, in both directions.
    allowed: `allowed(first, value, second, other)` returns whether two neighbours may have these
        values.
    """

    domains: Mapping[Variable, Sequence[Any]]
    neighbours: Mapping[Variable, Sequence[Variable]]
    allowed: Callable[[Variable, Any, Variable, Any], bool]

    def conflicts(self, variable: Variable, value: Any, values: Mapping[Variable, Any]) -> int:
        """Returns the number of neighbours whose values do not allow `value`."""
        return sum(
            not self.allowed(variable, value, one, values[one])
            for one in self.neighbours[variable]
            if one in values
        )


@dataclass(frozen=True)
class Assignment:
    """The result of a search.

    values: a value for each variable; None if no solution was found.
    tried: number of values that were given to a variable.
    backtracks: number of times that a value was taken back.
    """

    values: dict[Variable, Any] | None
    tried: int
    backtracks: int


def colouring(borders: Iterable[tuple[str, str]], colours: Sequence[str]) -> Constraints:
    """Returns the problem of colouring a map so that no two neighbours look alike.

    borders: pairs of neighbours; a country without any is paired with itself.
    """
    near: dict[Variable, list[Variable]] = {}
    for first, second in borders:
        near.setdefault(first, [])
        near.setdefault(second, [])
        if first != second:
            near[first].append(second)
            near[second].append(first)
    return Constraints(dict.fromkeys(near, colours), near, lambda a, one, b, other: one != other)


def queens(size: int) -> Constraints:
    """Returns the problem of `size` queens: the row of the one in each column, from 0 on."""
    columns = range(size)
    return Constraints(
        dict.fromkeys(columns, columns),
        {column: [one for one in columns if one != column] for column in columns},
        lambda a, one, b, other: one != other and abs(one - other) != abs(a - b),  # type: ignore[operator]
    )


def ac3(problem: Constraints, domains: Domains, trace: Trace | None = None,
        arcs: Iterable[tuple[Variable, Variable]] | None = None) -> bool:  # fmt: skip
    """Makes domains arc-consistent in place; returns whether each keeps a value (Mackworth 1977).

    A value goes if a neighbour has no value that allows it.

    arcs: the pairs to begin with, as (the one whose values may go, its neighbour); default: all.
    """
    every = ((one, near) for one in problem.domains for near in problem.neighbours[one])
    queue = deque(every if arcs is None else arcs)
    while queue:
        first, second = queue.popleft()
        allowed = [
            value
            for value in domains[first]
            if any(problem.allowed(first, value, second, other) for other in domains[second])
        ]
        if len(allowed) == len(domains[first]):
            continue
        if trace is not None:
            gone = ", ".join(str(value) for value in domains[first] if value not in allowed)
            trace(f"{first} loses {gone}: no value of {second} allows it")
        domains[first] = allowed
        if not allowed:
            return False
        queue.extend((one, first) for one in problem.neighbours[first] if one != second)
    return True


def backtracking(
    problem: Constraints,
    *,
    least_values_first: bool = False,
    inference: str = "none",
    trace: Trace | None = None,
) -> Assignment:
    """Returns the first solution of depth-first search over the variables, one after the other.

    least_values_first: take the variable with the fewest values left, of equals the one with most
        neighbours (MRV and degree heuristics); else take them in their order.
    inference: what is taken from other domains after each value: "none"; "forward", values of
        neighbours that it forbids; "arcs", all that AC-3 then finds.

    Raises ValueError for an unknown inference.
    """
    if inference not in ("none", "forward", "arcs"):
        raise ValueError(f"inference: expected none, forward or arcs, found {inference!r}")
    values: dict[Variable, Any] = {}
    domains: Domains = {variable: list(domain) for variable, domain in problem.domains.items()}
    tried = backtracks = 0

    def tell(text: str) -> None:
        if trace is not None:
            trace("  " * len(values) + text)

    def left(variable: Variable) -> tuple[int, int]:
        return len(domains[variable]), -len(problem.neighbours[variable])

    def inferred(variable: Variable) -> Domains | None:
        """Returns the domains after a value; None if one of them is empty."""
        after = {**domains, variable: [values[variable]]}
        if inference == "none":
            return after
        for near in problem.neighbours[variable]:
            if near not in values:
                after[near] = [
                    one for one in after[near]
                    if problem.allowed(near, one, variable, values[variable])
                ]  # fmt: skip
        changed = [
            one for one in after if one not in values and len(after[one]) < len(domains[one])
        ]
        if inference == "arcs" and all(after.values()):
            arcs = [(near, one) for one in changed for near in problem.neighbours[one]]
            ac3(problem, after, trace and tell, arcs)
        empty = next((one for one in after if not after[one]), None)
        if empty is not None:
            tell(f"no value is left for {empty}")
            return None
        return after

    def search() -> bool:
        nonlocal domains, tried, backtracks
        free = [variable for variable in problem.domains if variable not in values]
        if not free:
            return True
        variable = min(free, key=left) if least_values_first else free[0]
        before = domains
        for value in before[variable]:
            if problem.conflicts(variable, value, values):
                continue
            tell(f"{variable} = {value}")
            values[variable] = value
            tried += 1
            after = inferred(variable)
            if after is not None:
                domains = after
                if search():
                    return True
                domains = before
            del values[variable]
            backtracks += 1
        return False

    solution = search()
    return Assignment(dict(values) if solution else None, tried, backtracks)


def min_conflicts(
    problem: Constraints, *, steps: int = 10_000, seed: int = 0, trace: Trace | None = None
) -> Assignment:
    """Returns a solution by local search (Minton and others 1992), without proof that none exists.

    All variables begin with random values; each step gives a random one that is in conflict the
    value with the fewest conflicts, of equals a random one.
    """
    chance = random.Random(seed)
    values = {one: chance.choice(list(domain)) for one, domain in problem.domains.items()}
    for step in range(steps):
        wrong = [one for one in values if problem.conflicts(one, values[one], values)]
        if trace is not None:
            trace(
                f"{len(wrong)} in conflict: {', '.join(f'{one} = {values[one]}' for one in wrong)}"
            )
        if not wrong:
            return Assignment(values, step, 0)
        variable = chance.choice(wrong)
        costs = [problem.conflicts(variable, value, values) for value in problem.domains[variable]]
        best = [value for value, cost in zip(problem.domains[variable], costs, strict=True)
                if cost == min(costs)]  # fmt: skip
        values[variable] = chance.choice(best)
    return Assignment(None, steps, 0)
