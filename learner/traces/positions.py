"""Traces that we make ourselves: positions of games that we have rules for, and their terms."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from games.contract import Game
from games.features import FeatureSet
from learner.positions.positions import noisy
from learner.regression.logistic import measure
from learner.regression.matrix import Matrix
from learner.traces.reading import join
from learner.traces.traces import TraceError, Traces, table_of
from play.commands.game_file import read_games

__all__ = ["traces_of"]


def traces_of(paths: Sequence[Path], game: Game, features: FeatureSet) -> Traces:
    """Returns the quiet positions of files of games or of positions, with their terms.

    paths: files of games in the form of the game; or `.csv` with columns `position` (as the game
        writes it), `result` (0 to 1 for the side to move) and any of `value`, `game` and `weight`.

    Games without a result are left out. Raises TraceError that names the place of an error.
    """
    parts = []
    for path in paths:
        rows = _positions(path, game) if path.suffix.lower() == ".csv" else _games(path, game)
        entries = list(rows)
        if not entries:
            raise TraceError(f"{path}: expected positions with results, found none")
        positions = np.array([position for position, _ in entries], dtype=np.int64)
        quiet = ~noisy(game, positions)
        matrix = Matrix(len(features), measure(features, positions[quiet]))
        names = list(entries[0][1])
        labels = {name: np.array([one[name] for _, one in entries])[quiet] for name in names}
        parts.append((features.names, matrix, labels))
    return join(parts, [str(path) for path in paths])


def _games(path: Path, game: Game) -> Iterator[tuple[Any, dict[str, Any]]]:
    for number, read in enumerate(read_games(path, game)):
        record = read.record
        if record is None or not record.over:
            continue
        outcomes, side = record.outcomes() or (), game.to_move(record.start)
        for ply, position in enumerate(record.positions[:-1]):
            won = outcomes[(side + ply) % game.players]
            yield position, {"result": (won + 1) / 2, "game": number}


def _positions(path: Path, game: Game) -> Iterator[tuple[Any, dict[str, Any]]]:
    with table_of(path) as (sign, file):
        table = csv.DictReader(file, delimiter=sign)
        names = [name for name in table.fieldnames or () if name != "position"]
        wrong = set(names) - {"result", "value", "game", "weight"}
        if wrong or "position" not in (table.fieldnames or ()):
            shown = ", ".join(sorted(wrong)) or "no column position"
            raise TraceError(
                f"{path}: expected position, result, value, game, weight, found {shown}"
            )
        for row, cells in enumerate(table, 1):
            try:
                numbers = {
                    name: float(cells[name].replace(",", ".") if sign != "," else cells[name])
                    for name in names
                    if name != "game"
                }
            except (AttributeError, TypeError, ValueError):
                given = [cells[name] for name in names if name != "game"]
                raise TraceError(f"{path}, row {row}: expected numbers, found {given}") from None
            labels = {name: numbers.get(name, cells[name]) for name in names}
            try:
                yield game.parse_position(cells["position"]), labels
            except ValueError as error:
                raise TraceError(f"{path}, row {row}, column position: {error}") from None
