"""Looking ahead over any game and any evaluator: alpha-beta, and expectiminimax with dice."""

from __future__ import annotations

from search.alphabeta.line import WIN
from search.alphabeta.techniques import Techniques, as_techniques, parse_techniques
from search.engine import Engine
from search.evaluators.evaluator import (
    Evaluator,
    KernelEvaluator,
    LinearEvaluator,
    PythonEvaluator,
    as_evaluator,
)
from search.evaluators.load import EvaluatorError, load_evaluator
from search.expectiminimax.move_filters import FILTERS, MoveFilters
from search.lookups.lookup import EXACT, LOWER, UPPER, Lookup
from search.result import Depth, Result

__all__ = [
    "EXACT",
    "FILTERS",
    "LOWER",
    "UPPER",
    "WIN",
    "Depth",
    "Engine",
    "Evaluator",
    "EvaluatorError",
    "KernelEvaluator",
    "LinearEvaluator",
    "Lookup",
    "MoveFilters",
    "PythonEvaluator",
    "Result",
    "Techniques",
    "as_evaluator",
    "as_techniques",
    "load_evaluator",
    "parse_techniques",
]
