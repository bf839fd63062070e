"""Looking ahead over any game and any evaluator: alpha-beta, and expectiminimax with dice."""

from __future__ import annotations

from search.engine import Engine
from search.evaluator import (
    Evaluator,
    KernelEvaluator,
    LinearEvaluator,
    PythonEvaluator,
    as_evaluator,
)
from search.files import EvaluatorError, load_evaluator
from search.line import WIN
from search.lookup import EXACT, LOWER, UPPER, Lookup
from search.move_filters import FILTERS, MoveFilters
from search.result import Depth, Result
from search.techniques import Techniques, as_techniques, parse_techniques

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
