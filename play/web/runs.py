"""Runs of training on disk: learning curves and weights over time, also of live runs."""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from play.web.files import SUFFIXES, children, inside

__all__ = [
    "FIRST",
    "FIRST_PLACES",
    "POINTS_A_GAME",
    "Runs",
    "hours_of",
    "is_run",
    "matches_of",
    "report_of",
    "stamp_of",
    "strength_of",
    "weights_of",
]

#: A run counts as live if its log has grown within this number of seconds.
LIVE = 90.0
POINTS = 240  # maximum number of points of a curve of the log
TERMS = 60  # maximum number of weights sent: those that are largest at the end
SNAPSHOTS = 400
DEEPEST_FOLDER = 4
MOST_RUNS = 200
MOST_BYTES = 8 << 20  # largest file of a run that is read
#: Units of strength in charts.
SCORE, POINTS_A_GAME, FIRST = "% of the points", "points a game", "% first places"
#: The unit of a result for more than two players, as runs write it.
FIRST_PLACES = "share of first places"
#: The curve of the length of games, and its maximum number of points, each a mean over games.
PLIES, MEANS = "plies a game", 40
#: Curves of columns that only some lines have, those after which something was fitted.
LOSSES = ("loss", "held out")
#: Figures in notes that only count on.
NUMBERS = ("round", "program")
#: The files that mark a folder as that of a run.
MARKS = ("log.csv", "options.json")


class Runs:
    """The runs in some folders, by id. An id is never opened as a path.

    folders: folders by source, "run" or "shipped".
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders

    def list(self) -> list[dict[str, Any]]:
        """Returns all runs, the last changed first."""
        summaries = [_summary(id, path) for id, path in self._find()]
        return sorted(summaries, key=lambda run: -run["changed"])

    def stamp(self, id: Any) -> str:
        """Returns a text that changes with the run. Raises ValueError if the run is unknown."""
        return stamp_of(self._path(id))

    def read(self, id: Any) -> dict[str, Any]:
        """Everything that the page shows of a run. Raises ValueError for an unknown run."""
        path = self._path(id)
        source, _, name = str(id).partition(":")
        return {
            **_summary(str(id), path),
            "folder": f"{self.folders[source].name}/{name}",
            "stamp": self.stamp(id),
            "options": _json(path / "options.json"),
            "strength": strength_of(path),
            "log": (log := _log(path)),
            "left": _left(path, log["games"]),
            "weights": weights_of(path),
            "matches": matches_of(path),
            "lines": _lines(path),
            "players": _players(str(id), path),
        }

    def _path(self, id: Any) -> Path:
        for found, path in self._find():
            if found == id:
                return path
        raise ValueError(f"run: expected one of the list, found {str(id)[:60]!r}")

    def _find(self) -> Iterator[tuple[str, Path]]:
        count = 0
        for source, folder in self.folders.items():
            waiting = [(folder, 0)]
            while waiting:
                here, depth = waiting.pop()
                if is_run(here):
                    count += 1
                    if count > MOST_RUNS:
                        return
                    yield f"{source}:{here.relative_to(folder).as_posix()}", here
                    continue
                if depth < DEEPEST_FOLDER:
                    below = [one for one in children(folder, here) if one.is_dir()]
                    waiting += [(one, depth + 1) for one in below[::-1] if not one.is_symlink()]


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run."""
    return all((folder / name).is_file() for name in MARKS)


def stamp_of(run: Path) -> str:
    """Returns a text that changes when the run in a folder logs or measures more."""
    names = ("log.csv", "snapshots.csv", "checkpoint.json", "report.json")
    return "-".join(str(_changed(run / name)) for name in names)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _text(path: Path) -> str:
    """Returns a file of a run as text; empty if it is missing, too large, a link or a pipe."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return ""
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def report_of(path: Path) -> dict[str, Any]:
    """Returns the report of a run; {} if it cannot be read."""
    return _json(path / "report.json")


def hours_of(path: Path) -> dict[int, float]:
    """Returns the hours of processor time after numbers of games; {} if they cannot be read."""
    hours = {}
    for row in _rows(_text(path / "hours.csv")):
        game, spent = _number(row.get("game")), _number(row.get("hours"))
        if game is not None and spent is not None and spent >= 0:
            hours[int(game)] = spent
    return hours


def _rows(text: str) -> Iterator[dict[str, str]]:
    """The complete rows of a CSV text."""
    reader = csv.DictReader(text.splitlines())
    try:
        for row in reader:
            if None not in row and None not in row.values():
                yield row
    except csv.Error:
        return


def _summary(id: str, path: Path) -> dict[str, Any]:
    options = _json(path / "options.json")
    changed = max(_changed(path / "log.csv"), _changed(path / "snapshots.csv")) / 1e9
    age = time.time() - changed
    finished = (path / "report.json").is_file()
    return {
        "id": id,
        "name": id.partition(":")[2],
        "game": str(options.get("game", "?"))[:40],
        "learner": str(options.get("learner", "?"))[:40],
        "games": options.get("games") if isinstance(options.get("games"), int) else None,
        "changed": changed,
        "age": max(0.0, age),
        "state": "finished" if finished else "going on" if age < LIVE else "stopped",
    }


def _left(path: Path, done: float) -> float | None:
    """Returns the seconds until a run has played its games, at the rate since its last snapshot.

    None if the run does not say how many games it plays, or took no snapshot yet.
    """
    games = _number(_json(path / "options.json").get("games"))
    taken = [(_number(file.stem), file) for file in sorted((path / "snapshots").glob("*"))]
    before = [(game, _changed(file)) for game, file in taken if game is not None and game < done]
    if games is None or not before:
        return None
    game, changed = before[-1]
    return max(0.0, games - done) * (_changed(path / "log.csv") - changed) / 1e9 / (done - game)


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if number == number and abs(number) < 1e300 else None


def strength_of(path: Path) -> dict[str, Any]:
    """Returns the strength of the snapshots against each opponent, as [games, score, low, high].

    `unit` names the unit: per cent of the points; with dice, points a game; with more than two
    players, per cent of the games in which it alone came first.
    """
    curves: dict[str, list[list[float]]] = {}
    unit = SCORE
    for row in list(_rows(_text(path / "snapshots.csv")))[:20_000]:
        try:
            numbers = [float(row[name]) for name in ("game", "score", "value", "low", "high")]
        except (KeyError, ValueError):
            continue
        game, score, value, low, high = numbers
        # Elo and its interval are infinite if all games were won.
        if not (abs(game) + abs(score) < 1e15) or any(map(math.isnan, numbers)):
            continue
        if row.get("unit") == FIRST_PLACES:
            unit, curve = FIRST, [game, 100 * value, 100 * low, 100 * high]
        # With dice the score and its interval are in points; without, the interval is in Elo.
        elif abs(score - value) < 1e-3:
            unit, curve = POINTS_A_GAME, [game, value, low, high]
        else:
            curve = [game, 100 * score, 100 * _expected(low), 100 * _expected(high)]
        curves.setdefault(str(row.get("opponent"))[:60], []).append(curve)
    for opponent in curves:
        curves[opponent].sort()
    return {"unit": unit, "curves": curves}


def _expected(elo: float) -> float:
    from play.ratings.statistics import expected_score

    return float(expected_score(max(-4000.0, min(4000.0, elo))))


def _log(path: Path) -> dict[str, Any]:
    """Curves [games, value] from the log: length of games, outcomes, and numbers in the notes.

    Each point is the mean of several lines, so that a curve has a limited number of points.
    """
    games: list[float] = []
    columns: dict[str, list[float | None]] = {}
    for row in _rows(_text(path / "log.csv")):
        game = _number(row.get("game"))
        if game is None:
            continue
        games.append(game)
        values = {PLIES: _number(row.get("plies"))}
        for name in LOSSES:
            if (number := _number(row.get(name.replace(" ", "_")))) is not None:
                values[name] = number
        words = str(row.get("note", "")).split()
        for name, text in zip(words, words[1:], strict=False):
            number = _number(text.rstrip(",;%"))
            if number is not None and name[:1].isalpha() and name not in NUMBERS and len(name) < 30:
                values[name] = number
        for name, value in values.items():
            column = columns.setdefault(name, [None] * (len(games) - 1))
            column += [None] * (len(games) - 1 - len(column))
            column.append(value)
        if len(columns) > 12:
            break
    curves = {}
    for name, column in columns.items():
        seldom = 2 * sum(value is not None for value in column) < len(games)
        if seldom and name not in LOSSES:
            continue  # remarks on single games, which make no curve
        most = MEANS if name == PLIES else POINTS
        step = max(1, -(-len(games) // most))
        points = []
        for start in range(0, len(column), step):
            part = [value for value in column[start : start + step] if value is not None]
            if part:
                end = min(start + step, len(games)) - 1
                points.append([games[end], sum(part) / len(part)])
        if len(points) > 1:
            curves[name] = points
    return {"games": games[-1] if games else 0, "lines": len(games), "curves": curves}


def weights_of(path: Path) -> dict[str, Any]:
    """Returns each term's weight at each snapshot, [games, weight], largest final weight first."""
    rows: list[tuple[float, dict[str, float]]] = []
    folder = path / "snapshots"
    try:
        files = sorted(folder.glob("*.json"))
    except OSError:
        files = []
    for file in files[:SNAPSHOTS]:
        game = _number(file.stem)
        if game is None or inside(path.resolve(), file) is None:
            continue
        weights = _json(file).get("weights")
        if isinstance(weights, dict):
            numbers = {str(name)[:60]: _number(weight) for name, weight in weights.items()}
            rows.append((game, {name: n for name, n in numbers.items() if n is not None}))
    if not rows:
        return {"curves": {}, "left_out": 0}
    rows.sort(key=lambda item: item[0])
    last = rows[-1][1]
    names = sorted(last, key=lambda name: -abs(last[name]))
    shown = names[:TERMS]
    return {
        "curves": {n: [[game, w[n]] for game, w in rows if n in w] for n in shown},
        "left_out": len(names) - len(shown),
    }


def _players(id: str, path: Path) -> list[dict[str, Any]]:
    """Returns the evaluators of a run that can be played, the newest snapshot first.

    Each has its `id` in the catalogue, and `game`, the number of games after which it was taken, or
    None for the best and the last one.
    """
    players: list[dict[str, Any]] = []
    for name in ("best", "last"):
        file = next((f for f in sorted(path.glob(f"{name}.*")) if f.suffix in SUFFIXES), None)
        if file is not None:
            players.append({"name": name, "game": None, "id": f"{id}/{file.name}"})
    for file in sorted((path / "snapshots").glob("*"), reverse=True)[:SNAPSHOTS]:
        game = _number(file.stem)
        if game is not None and file.suffix in SUFFIXES:
            inner = f"snapshots/{file.name}"
            players.append(
                {"name": f"after {game:,.0f} games", "game": game, "id": f"{id}/{inner}"}
            )
    return players


def _lines(path: Path) -> list[str]:
    """Returns the lines of the report on a heuristic; empty for other runs."""
    lines = report_of(path).get("lines")
    return [str(line)[:400] for line in (lines if isinstance(lines, list) else [])[:40]]


def matches_of(path: Path) -> list[dict[str, Any]]:
    """Returns the complete matches of the report; numbers that are not finite are None."""
    rows = []
    matches = report_of(path).get("matches")
    for match in (matches if isinstance(matches, list) else [])[:50]:
        if isinstance(match, dict):
            keys = ("opponent", "games", "wins", "draws", "losses")
            entry: dict[str, Any] = {key: match.get(key) for key in keys}
            entry |= {key: _number(match.get(key)) for key in ("score", "value", "low", "high")}
            entry["unit"] = str(match.get("unit", "Elo"))[:40]
            rows.append(entry)
    return rows
