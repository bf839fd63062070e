"""Looking ahead: alpha-beta, expectiminimax with dice, and search for a goal with one agent."""

from __future__ import annotations

from games.extras import companions
from games.values import EXACT, LOWER, PROVEN, UPPER, WIN
from search.alphabeta.search import AlphaBetaOptions
from search.alphabeta.techniques import Techniques, as_techniques, parse_techniques
from search.checking import check_evaluator
from search.engine import Engine
from search.evaluators.evaluator import Evaluator, KernelEvaluator, PythonEvaluator
from search.evaluators.files.header import EvaluatorError
from search.evaluators.linear import LinearEvaluator
from search.evaluators.load import as_evaluator, load_evaluator
from search.expectiminimax.move_filters import FILTERS, MoveFilters
from search.expectiminimax.search import ExpectiminimaxOptions
from search.lookups.lookup import Lookup
from search.multiplayer.search import MultiplayerOptions
from search.result import Depth, Result
from search.single_agent.solve import Unsolvable, solve

__all__ = [
    "EXACT",
    "FILTERS",
    "LOWER",
    "PROVEN",
    "UPPER",
    "WIN",
    "AlphaBetaOptions",
    "Depth",
    "Engine",
    "Evaluator",
    "EvaluatorError",
    "ExpectiminimaxOptions",
    "KernelEvaluator",
    "LinearEvaluator",
    "Lookup",
    "MoveFilters",
    "MultiplayerOptions",
    "PythonEvaluator",
    "Result",
    "Techniques",
    "Unsolvable",
    "as_evaluator",
    "as_techniques",
    "check_evaluator",
    "load_evaluator",
    "parse_techniques",
    "solve",
]

companions(f"{__name__}.extras")
