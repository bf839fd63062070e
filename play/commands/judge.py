"""The command `judge` of `python -m play`, for games without dice."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tqdm import tqdm

from games.contract import Game
from play.judging.judge import judge, random_positions, referee
from search import as_evaluator
from search.engine import DEEPEST

__all__ = ["run_judge"]


def run_judge(options: argparse.Namespace, game: Game) -> int:
    """`judge`: quality without games."""
    for name in ("games", "played_by"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected a game with dice, found {game.name}"
            )
    defaults = {"referee": "classic", "referee_depth": 9, "depth": 1, "positions": 300}
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    for name in ("depth", "referee_depth"):
        if not 1 <= getattr(options, name) <= DEEPEST:
            raise ValueError(
                f"--{name.replace('_', '-')}: expected 1 to {DEEPEST} plies, found"
                f" {getattr(options, name)}"
            )
    for name, least in (("positions", 2), ("threads", 1)):
        if getattr(options, name) < least:
            raise ValueError(f"--{name}: expected at least {least}, found {getattr(options, name)}")
    evaluators = [(name, as_evaluator(game, name)) for name in options.evaluators]
    deeper = as_evaluator(game, options.referee)
    if options.file is not None:
        positions = _read_positions(options.file, game)
    else:
        positions = random_positions(game, options.positions, seed=options.seed)
    with tqdm(total=len(positions), unit=" positions", disable=None) as bar:
        verdicts = referee(
            game,
            deeper,
            positions,
            depth=options.referee_depth,
            threads=options.threads,
            progress=lambda: bar.update() and None,
        )
    print(
        f"{len(verdicts.positions)} undecided positions; referee: {options.referee} at depth"
        f" {options.referee_depth}; judged at depth {options.depth}; 95 % intervals"
    )
    figures = []
    for name, evaluator in evaluators:
        found = judge(game, evaluator, verdicts, depth=options.depth, name=name)
        figures.append(
            {
                "evaluator": name,
                "positions": found.positions,
                "agreement": found.agreement.plain(),
                "loss": found.loss.plain(),
                "correlation": found.correlation,
                "error": found.error,
            }
        )
        print(
            f"{name}: agrees on {found.agreement.value:.1%}"
            f" [{found.agreement.low:.1%}, {found.agreement.high:.1%}],"
            f" loses {found.loss.value:.3f} [{found.loss.low:.3f}, {found.loss.high:.3f}] a move;"
            f" static values correlate {found.correlation:.3f}, error {found.error:.3f}"
        )
    if options.json:
        print(json.dumps({"judged": figures}))
    return 0


def _read_positions(path: Path, game: Game) -> list[Any]:
    """The positions of a file, one a line; ValueError names the line that holds none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--file: expected a text file, found {path}: {error}") from None
    positions = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                positions.append(game.parse_position(line.strip()))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
    return positions
