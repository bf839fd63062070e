"""The opponents that can be chosen on the page: evaluators, lookups and external engines.

Evaluators and rote memories come with a game, from `data` or from runs. A browser names them by ids
from this list and never by a path, so nothing outside the given folders can be read.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import games
from games.contract import Game
from games.file_form import form_of
from games.problem import Problem
from play.players.external import ExternalEngines
from play.players.levels import levels_of
from play.players.limits import Limits
from play.players.opponents import Opponents
from play.players.parse import NONE, TECHNIQUES, methods_of, more_options, parse_player
from play.web.descriptions import cards, hand_crafted, learned, measured
from play.web.files import (
    EVALUATOR,
    LOOKUP,
    MOST_FILES,
    Header,
    described,
    inside,
    playable_files,
)
from play.web.grid_face import face_of
from play.web.runs import is_run, stamp_of
from programs.ending import said
from search import Evaluator, EvaluatorError, Lookup, Techniques, as_evaluator, as_techniques
from search.evaluators.samples import value_scale
from search.lookups.database import DatabaseLookup, Databases
from search.lookups.rote import RoteMemory

__all__ = ["LEVEL", "PROGRAM", "Catalogue", "Entry", "Loaded", "game_view"]

PROGRAM, LEVEL = "program", "level"
MOST_LOADED = 16  # evaluators and lookups kept in memory
MOST_BYTES = 64 << 20  # largest file of an evaluator
FRESH = 2.0  # seconds for which a list of files is used before the folders are read again
_NAME = re.compile(r"[A-Za-z]\w{0,39}", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """An evaluator, a lookup or an external engine that can be chosen.

    id: the name that the browser uses for it.
    game: name of its game.
    name: the name that people see.
    kind: the form that it has, such as "network of outcomes".
    source: "hand-crafted", "shipped", "run", or "named" if it is not a file.
    role: "evaluator", "lookup", "program" for an external engine, or "level".
    path: its file; None if it has none.
    about: what it is, in a sentence; empty if nothing is known.
    strength: how strong it is, with the opponents it was measured against; empty if not known.
    group: where it stands in lists: "shipped", "hand-crafted", "named", or for files of the runs
        "run" (the evaluator that a run ended with), "snapshot" or "file".
    """

    id: str
    game: str
    name: str
    kind: str
    source: str
    role: str = EVALUATOR
    path: Path | None = None
    about: str = ""
    strength: str = ""
    group: str = ""

    def view(self) -> dict[str, Any]:
        """Returns the fields that the browser receives."""
        names = ("id", "game", "name", "kind", "source", "about", "strength", "group")
        return {field: getattr(self, field) for field in names}


@dataclass(frozen=True, eq=False)
class Loaded:
    """An evaluator that is ready to search with.

    entry: its entry in the catalogue.
    evaluator: the evaluator.
    unit: the usual size of its values (`value_scale`), in the game's unit. Values divided by it can
        be compared between evaluators.
    techniques: the search techniques, or None in games with dice or more than two players.
    lookup: consulted before searching, or None.
    limits: limits of a move, in place of the seat's, or None.
    """

    entry: Entry
    evaluator: Evaluator
    unit: float
    techniques: Techniques | None
    lookup: Lookup | None = None
    limits: Limits | None = None


class Catalogue:
    """Everything that can be chosen to play with, and the evaluators that were loaded last.

    Several threads may use it.

    data: folder of the shipped evaluators.
    runs: folder of the runs of training.
    own: games of the user, and games of Plysmith with more features, which replace the usual ones.
        Raises ValueError if one has an unsuitable name or one that is taken.
    """

    def __init__(self, data: Path, runs: Path, own: Sequence[Game] = ()) -> None:
        self.folders = {"shipped": data.resolve(), "run": runs.resolve()}
        #: Games by name: those of Plysmith, then those of the user.
        self.games: dict[str, Game] = {name: games.load(name) for name in games.names()}
        #: Problems by name, in the same order.
        self.problems: dict[str, Problem] = {
            name: cast(Problem, games.load(name)) for name in games.problems()
        }
        for game in own:
            usual = self.games.get(game.name) or self.problems.get(game.name)
            more = type(usual) is type(game) and game.features != getattr(usual, "features", None)
            has_usual = usual is not None and not more
            if _NAME.fullmatch(game.name) is None or has_usual:
                taken = f"{game.name!r}, which is taken" * has_usual
                raise ValueError(
                    f"name of a game: expected letters, digits and _, found"
                    f" {taken or repr(game.name[:60])}"
                )
            if isinstance(game, Problem):
                self.problems[game.name] = game
            else:
                self.games[game.name] = game
        self._listing, self._loading = threading.Lock(), threading.Lock()
        self._headers: dict[tuple[Path, int, int], Header | None] = {}
        #: Whether a folder is that of a run, looked up once for each list.
        self._is_run = cache(is_run)
        self._strengths: dict[Path, tuple[str, dict[str, str]]] = {}
        self._kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._list: tuple[float, dict[str, Entry]] = (0.0, {})

    def game(self, name: Any) -> Game:
        """Returns the game of that name. Raises ValueError if it cannot be played here."""
        if not isinstance(name, str) or name not in self.games:
            raise ValueError(
                f"game: expected one of {', '.join(self.games)}, found {str(name)[:40]!r}"
            )
        return self.games[name]

    def problem(self, name: Any) -> Problem:
        """Returns the problem of that name. Raises ValueError if it is not offered here."""
        if not isinstance(name, str) or name not in self.problems:
            raise ValueError(
                f"puzzle: expected one of {', '.join(self.problems)}, found {str(name)[:40]!r}"
            )
        return self.problems[name]

    def default(self, game: Game) -> str | None:
        """Returns the id of the evaluator proposed as opponent; None if the game has no evaluator.

        It is the shipped evaluator that the terminal uses; otherwise the last of the game's usual
        opponents that is an evaluator; otherwise any evaluator.
        """
        opponents = Opponents.of(game)
        here = [e for e in self.entries().values() if e.game == game.name and e.role == EVALUATOR]
        ids = [entry.id for entry in here]
        shipped = [e.id for e in here if e.source == "shipped" and e.name == opponents.shipped]
        usual = [f"{game.name}:{name}" for name in opponents.usual]
        listed = [id for id in usual if id in ids]
        return next(iter([*shipped, *listed[::-1], *ids]), None)

    def entries(self) -> dict[str, Entry]:
        """Returns all entries by id: hand-crafted evaluators, lookups, engines, files by folder.

        Reads the folders again if the last list is older than `FRESH` seconds.
        """
        with self._listing:
            read, entries = self._list
            if time.monotonic() - read > FRESH or not entries:
                entries = {entry.id: entry for entry in self._find()}
                self._list = time.monotonic(), entries
            return entries

    def find(self, id: Any, game: Game, role: str = EVALUATOR) -> tuple[Entry, Entry | None]:
        """Returns the entry of an id and, for `EVALUATOR+LOOKUP`, the entry of the lookup.

        Raises ValueError if the game has no such entry.
        """
        if isinstance(id, str):
            here = {k: entry for k, entry in self.entries().items() if entry.game == game.name}
            roles = (role, LEVEL) if role == EVALUATOR else (role,)
            if id in here and here[id].role in roles:
                return here[id], None
            for lookup in here.values():
                plain = here.get(id.removesuffix(f"+{lookup.id}"))
                if lookup.role == LOOKUP and plain is not None and plain.role == role == EVALUATOR:
                    return plain, lookup
        raise ValueError(f"{role}: expected one of {game.name} in the list, found {str(id)[:60]!r}")

    def name(self, id: str, game: Game) -> str:
        """Returns the name of an entry for people; the id itself if there is no such entry."""
        entry = self.entries().get(id)
        if entry is not None:
            return entry.name
        try:
            return " + ".join(part.name for part in self.find(id, game) if part is not None)
        except ValueError:
            return id

    def load(self, id: Any, game: Game) -> Loaded:
        """Returns the evaluator of an id. Loading it for the first time may take seconds.

        Raises ValueError as `find` does, and EvaluatorError, a ValueError, if the file holds no
        evaluator of the game.
        """
        entry, other = self.find(id, game)
        with self._loading:
            if entry.role == LEVEL:
                level: Loaded = self._kept_as((entry.id,), lambda: _level(entry, game))
                return level
            loaded: Loaded = self._keep(entry, lambda name: self._rated(entry, game, name))
            lookup: Lookup | None = None
            both = entry
            if other is None:
                lookup = self._usual(game, loaded)
                if lookup is None:
                    return loaded
            else:
                both = replace(entry, id=id, name=self.name(id, game))
                if other.id != NONE:
                    lookup = self._keep(other, lambda name: _lookup(game, name))
            key = (id, loaded, lookup)
            loaded = self._kept_as(key, lambda: replace(loaded, entry=both, lookup=lookup))
            return loaded

    def _usual(self, game: Game, loaded: Loaded) -> Lookup | None:
        """Returns the database that the evaluator consults if none is chosen, if there is one."""
        opponents, entry = Opponents.of(game), loaded.entry
        met = (entry.source, entry.name) == ("shipped", opponents.shipped)
        name = opponents.lookup if met else ""
        name = name or Databases.of(game).usual_for(loaded.evaluator)
        make = partial(DatabaseLookup, game, name)
        return self._kept_as((game.name, name), make) if name else None

    def _rated(self, entry: Entry, game: Game, name: Any) -> Loaded:
        evaluator = as_evaluator(game, name)
        if isinstance(game, Problem):
            return Loaded(entry, evaluator, 1.0, None)
        searched = more_options(game) is TECHNIQUES
        techniques = as_techniques("selective", game) if searched else None
        unit = value_scale(game, evaluator) / evaluator.unit
        return Loaded(entry, evaluator, unit, techniques)

    def _keep(self, entry: Entry, make: Callable[[Any], Any]) -> Any:
        """Returns the result of `make` for an entry's name or file, kept until the file changes."""
        if entry.path is None:
            name = entry.name if entry.role == EVALUATOR else entry.id
            try:
                return self._kept_as((entry.id,), lambda: make(name))
            except OSError as error:  # the database was removed
                raise EvaluatorError(str(error)) from None
        path = inside(self.folders[entry.source], entry.path)
        if path is None or not path.is_file():
            raise EvaluatorError(f"{entry.name}: expected a file, found it gone")
        status = path.stat()
        if status.st_size > MOST_BYTES:
            raise EvaluatorError(
                f"{entry.name}: expected at most {MOST_BYTES} bytes, found {status.st_size}"
            )
        try:
            return self._kept_as((entry.id, status.st_mtime_ns), lambda: make(path))
        except (OSError, ValueError) as error:
            # Messages name the file but not its folder, which the browser must not learn.
            text = said(error).replace(str(path), entry.id)
            raise EvaluatorError(text.replace(f"{path.parent}{os.sep}", "")) from None

    def _kept_as(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_LOADED:
            self._kept.popitem(last=False)
        return self._kept[key]

    # --- listing -----------------------------------------------------------------------------

    def _find(self) -> Iterator[Entry]:
        self._is_run.cache_clear()
        shipped = cards(self.folders["shipped"])
        for name, game in (self.games | self.problems).items():
            titles: set[str] = set()
            entries = [
                Entry(f"{name}:{one}", name, one, "weights written by hand", "hand-crafted",
                      about=hand_crafted(game, one), group="hand-crafted",
                      strength=shipped.get(f"{name}/{one}", ("", ""))[1])
                for one in game.evaluators
            ]  # fmt: skip
            yield from sorted(entries, key=_rank)
            databases = Databases.of(game)
            if databases.usual:
                yield Entry(NONE, name, "no databases", "databases", "named", LOOKUP)
            for id, known in databases.named.items():
                if known.at_hand() and known.title not in titles:
                    titles.add(known.title)
                    yield Entry(id, name, known.title, "databases", "named", LOOKUP)
            levels = levels_of(game)
            for n, (level, player) in enumerate(levels.items(), 1):
                about = f"Level {n} of {len(levels)}: {player}"
                yield Entry(
                    f"{LEVEL}:{name}/{level}", name, level, LEVEL, "named", LEVEL, about=about
                )
            for engine in ExternalEngines.of(game).engines:
                if importlib.util.find_spec(engine.package) is not None:
                    yield Entry(engine.player, name, engine.title, PROGRAM, "named", PROGRAM)
        for source, folder in self.folders.items():
            told = shipped if source == "shipped" else {}
            found = [self._entry(source, folder, path, told) for path in playable_files(folder)]
            yield from sorted(filter(None, found), key=_rank)

    def _entry(
        self, source: str, folder: Path, path: Path, known: dict[str, tuple[str, str]]
    ) -> Entry | None:
        """Returns the entry of a file; None if it cannot be used here.

        known: the cards of the folder.
        """
        header = self._header(path)
        if header is None or not (header.game in self.games or header.game in self.problems):
            return None
        game = header.game
        if header.role == LOOKUP and (game not in self.games or self.games[game].dice):
            return None  # a rote memory serves games without dice
        relative = path.relative_to(folder)
        where = relative.with_suffix("").as_posix()
        name = where.removeprefix(f"{game}/").removesuffix("/evaluator")
        group, about, strength = source, *known.get(where, ("", ""))
        if source == "run":
            parents = [here for here in path.parents if here.is_relative_to(folder)]
            run = next(filter(self._is_run, parents), None)
            inner = "" if run is None else path.relative_to(run).with_suffix("").as_posix()
            group = "snapshot" if inner.startswith("snapshots/") else "run" if inner else "file"
            strength = "" if run is None else self._measured(run).get(inner, "")
        about = about or learned(header.provenance) or f"{header.kind[:1].upper()}{header.kind[1:]}"
        entry = Entry(f"{source}:{relative.as_posix()}", game, name, header.kind, source)
        return replace(
            entry, role=header.role, path=path, about=about, strength=strength, group=group
        )

    def _measured(self, run: Path) -> dict[str, str]:
        """Returns the strengths of a run's files, read again when the run has measured more."""
        stamp = stamp_of(run)
        if self._strengths.get(run, ("",))[0] != stamp:
            self._strengths[run] = stamp, measured(run)
        return self._strengths[run][1]

    def _header(self, path: Path) -> Header | None:
        """The header of a file; None if it holds no evaluator and no lookup."""
        try:
            status = path.stat()
        except OSError:
            return None
        key = (path, status.st_mtime_ns, status.st_size)
        if key not in self._headers:
            if len(self._headers) > 2 * MOST_FILES:
                self._headers.clear()
            self._headers[key] = described(path, status.st_size)
        return self._headers[key]


def _rank(entry: Entry) -> tuple[bool, float]:
    """The strongest is first; files in a game's own folder come before those of many runs."""
    figure = re.match(r"[+-]?[\d.]+", entry.strength) if entry.group != "run" else None
    return "/" in entry.name, -float(figure[0]) if figure else math.inf


def game_view(game: Game) -> dict[str, Any]:
    """Returns the description of a game for the page."""
    face = face_of(game)
    return {
        "name": game.name,
        "title": game.title or game.name.replace("_", " ").capitalize(),
        "sides": game.sides,
        "kind": face.kind,
        "light_first": face.light_first,
        "dice": game.dice is not None,
        "cube": game.cube is not None,
        "methods": methods_of(game),
        "suffix": form_of(game).suffix,
    }


def _level(entry: Entry, game: Game) -> Loaded:
    """Returns the player of a level, with limits of its own unless it is the strongest."""
    player = parse_player(game, entry.name)
    assert player.evaluator is not None
    techniques = player.options.get("techniques")
    unit = value_scale(game, player.evaluator) / player.evaluator.unit
    return Loaded(entry, player.evaluator, unit, techniques, player.lookup, player.limits)


def _lookup(game: Game, name: Any) -> Lookup:
    """Returns the rote memory in a file, or the database of that name."""
    return RoteMemory.load(game, name) if isinstance(name, Path) else DatabaseLookup(game, name)
