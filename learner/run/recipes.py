"""Learners by the names that train.py gives them.

Modules are imported only when needed, because `--help` must be quick. The settings of a game's
usual runs are its `UsualRuns`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from games.contract import DiceGame, Game
from games.extras import Extra, extend
from games.problem import Heuristic, Problem
from learner.options import Setting, settings_of_class
from learner.run.schema import settings_of_source
from learner.run.settings import ZERO, RunSettings
from programs.outside import additions, provider

__all__ = ["HEURISTICS", "RECIPES", "Recipe", "UsualRuns", "learners_of", "recipe_of"]

#: A run of a learner for which the game has no recipe; with dice, moves by static values, and with
#: more than two players the result is all that is learned from.
SHORT: dict[str, Any] = {"games": 300, "depth": 5}
SHORT_WITH_DICE: dict[str, Any] = {"games": 300, "depth": 0}
SHORT_WITH_MANY: dict[str, Any] = {"games": 300, "depth": 2, "options": {"blend": 1.0}}
#: Of a game in plain Python, whose searches are slow.
SHORT_IN_PYTHON: dict[str, Any] = {"snapshots": 3, "final_games": 40, "match_games": 100}
SHORT_OF_PROBLEM: dict[str, Any] = {"games": 5_000, "depth": None, "match_games": 200}


@dataclass(frozen=True)
class UsualRuns(Extra):
    """The usual training runs of a game or problem, an extra.

    learner: the default learner; empty for the first of its kind.
    settings: option names and values by the learner's name.
    """

    learner: str = ""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """A learner as train.py offers it.

    home: its module and class; one that is not in `learner` is of a user's own.
    summary: its description in one line.
    match_depth: depth of the measuring matches in plies (default: that of learning).
    run: the class of its runs, in `learner.run` (default: that of the kind of game).
    """

    home: str
    summary: str
    match_depth: int | None = None
    run: str = ""

    @property
    def module(self) -> str:
        """The module of the learner."""
        return self.home.partition(":")[0]

    @property
    def own(self) -> bool:
        """Whether it is one of a user's own."""
        return not self.home.startswith("learner.")

    def load(self) -> Any:
        """Returns the learner's class."""
        kind = self.home.partition(":")[2]
        if self.own:
            return _own_kind(self.module, kind)
        return getattr(importlib.import_module(self.module), kind)

    def settings(self) -> dict[str, Setting]:
        """Returns the options of the learner by name; only a user's class is imported for it."""
        return (
            settings_of_class(self.load())
            if self.own
            else settings_of_source(*self.home.split(":"))
        )

    def fits(self, game: Any) -> bool:
        """Returns whether it can learn a game or problem."""
        try:
            self.load()(game)._load_game()
        except ValueError:
            return False
        return True

    def usual(self, game: Any) -> dict[str, Any]:
        """Returns the usual settings of a run of a game; "from" names the start."""
        name = next((name for name, recipe in learners_of(game).items() if recipe == self), "")
        return Runs.of(game).settings(self, game, UsualRuns.of(game).settings.get(name))

    def run_of(self, game: Any) -> Any:
        """Returns the class of its runs of a game."""
        module, _, kind = (self.run or Runs.of(game).run).partition(".")
        return getattr(importlib.import_module(f"learner.run.{module}"), kind)


RECIPES: dict[str, Recipe] = {
    "samuel": Recipe(
        "learner.rounds.samuel:Samuel",
        "Samuel's terms that come and go, with weights fitted together",
    ),
    "samuel1959": Recipe(
        "learner.online.samuel1959:Samuel1959",
        "Samuel 1959: powers of two of correlations with what search backs up",
    ),
    "rote": Recipe(
        "learner.online.rote:Rote", "Samuel 1959: a memory of positions", run="memory_run.MemoryRun"
    ),
    "td": Recipe(
        "learner.gradient.temporal_difference:TemporalDifference",
        "TD(lambda): static values follow static values",
    ),
    "tdleaf": Recipe(
        "learner.gradient.td_leaf:TDLeaf",
        "TDLeaf(lambda): ends of principal variations follow one another",
    ),
    "rootstrap": Recipe(
        "learner.gradient.root_strap:RootStrap", "positions follow their backed-up values"
    ),
    "treestrap": Recipe(
        "learner.gradient.tree_strap:TreeStrap",
        "all positions searched follow their values or bounds",
    ),
    "solved": Recipe(
        "learner.gradient.solved:Solved",
        "positions follow a search to the end, in games with a solver",
    ),
    "batch": Recipe(
        "learner.rounds.batch:BatchFit", "weights fitted to stored positions by logistic regression"
    ),
    "samuel1967": Recipe(
        "learner.books.book_study:BookStudy",
        "signature tables, from moves of master games (--set book=FILE.pdn)",
    ),
    "network": Recipe(
        "learner.rounds.network_fit:NetworkFit",
        "a small network, trained on stored positions in rounds of self-play",
    ),
    "invent": Recipe(
        "learner.rounds.invent:Invent",
        "terms in words, which a network that learns by self-play finds",
    ),
    "quantised": Recipe(
        "learner.rounds.quantised_fit:QuantisedFit",
        "a network of small integers, in generations of self-play by a selective search: hours",
    ),
    "tdgammon": Recipe(
        "learner.td_gammon.td_gammon:TDGammon",
        "networks of outcomes for games with dice, by TD(lambda) in native self-play",
    ),
    "backups": Recipe(
        "learner.td_gammon.backup_fit:BackupFit",
        "the same from exact averages over all rolls, from a network or from zero",
        match_depth=0,
    ),
}

#: Learners of the same idea for games with dice.
WITH_DICE = {"invent": replace(RECIPES["invent"], home="learner.td_gammon.invent:InventWithDice")}

#: Learners of heuristics, for problems with one agent; the first is the usual one.
HEURISTICS: dict[str, Recipe] = {
    "bootstrap": Recipe(
        "learner.heuristics.bootstrap:HeuristicBootstrap",
        "weights, from the solutions that searches with them find",
    ),
    "admissible": Recipe(
        "learner.heuristics.admissible:Admissible",
        "small puzzles: the largest heuristic that never overestimates, with proof",
    ),
}


class Runs(Extra):
    """Training runs of a kind of game, an extra of its base class."""

    #: Our learners by name.
    learners: Mapping[str, Recipe] = RECIPES
    #: The settings of a run without a recipe.
    short: Mapping[str, Any] = SHORT
    #: Options of train.py that these runs do not take.
    not_taken: Sequence[str] = ()
    #: The class of these runs, in `learner.run`.
    run = "measured_run.MeasuredRun"

    def settings(
        self, recipe: Recipe, game: Any, usual: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Returns the settings of a run of a learner; usual: those that the game names for it."""
        short = SHORT_WITH_MANY if game.players > 2 else self.short
        if not usual and game.rules is None:
            return {**short, **SHORT_IN_PYTHON, "depth": min(2, short["depth"])}
        return dict(usual or short)

    def check_players(self, game: Any, settings: RunSettings) -> None:
        """Raise ValueError for a player to measure against, or to start from, that is unknown."""
        from play.players.parse import parse_player

        for opponent in {*settings.opponents, *settings.pacemakers}:
            parse_player(game, opponent)

    def check_learner(self, name: str, recipe: Recipe, game: Any) -> None:
        """Raise ValueError, with the learners that fit the game, for one of ours that does not."""
        if not recipe.own and not recipe.fits(game):
            able = [other for other, recipe in learners_of(game).items() if recipe.fits(game)]
            raise unknown(name, able, f" for {game.name}")


class RunsWithDice(Runs):
    """Training runs of games with dice."""

    learners = RECIPES | WITH_DICE
    short = SHORT_WITH_DICE


class RunsOfProblems(Runs):
    """Training runs of problems with one agent."""

    learners = HEURISTICS
    short = SHORT_OF_PROBLEM
    not_taken = ("depth", "snapshots", "snapshot_games", "final_games")
    run = "heuristic_run.HeuristicRun"

    def settings(
        self, recipe: Recipe, game: Any, usual: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        first = next(iter(game.evaluators), "zero")
        # how much work a position is worth depends on what the learner does with it
        nodes = recipe.settings().get("nodes")
        own = {"nodes": nodes and nodes.default, "from": first, "opponents": (first,)}
        return {**self.short, **own, **(usual or {})}

    def check_players(self, game: Any, settings: RunSettings) -> None:
        start = settings.start
        base = () if start in (None, ZERO) else str(start).split("+")
        named = [name for name, e in game.evaluators.items() if isinstance(e, Heuristic)]
        for name in (*base, *settings.opponents):
            if name not in named:
                raise ValueError(
                    f"expected heuristics of {game.name} ({', '.join(named) or 'none'}) or {ZERO},"
                    f" found {name!r}"
                )

    def check_learner(self, name: str, recipe: Recipe, game: Any) -> None:
        """A learner says itself of which problems it cannot learn."""


extend(Game, Runs())
extend(DiceGame, RunsWithDice())
extend(Problem, RunsOfProblems())


def outsiders() -> dict[str, Recipe]:
    """Returns the learners of other installed packages by name, of games or of problems."""
    return {
        name: Recipe(f"{entry.module}:{entry.attr}", f"by {provider(entry)}")
        for name, entry in additions("learners").items()
    }


def learners_of(game: Any) -> dict[str, Recipe]:
    """Returns the learners of a problem with one agent, or of games, by name; ours come first."""
    ours = Runs.of(game).learners
    return {**ours, **outsiders(), **ours}


def recipe_of(name: str, game: Any) -> Recipe:
    """Returns the learner of a name among those of a game or problem, or of module:Class.

    The module is not imported yet. Raises ValueError, which lists the names, for another.
    """
    offered = learners_of(game)
    if ":" in name and name not in offered:
        return Recipe(name, "a learner of a user's own")
    if name not in offered:
        raise unknown(name, offered, f" for {game.name}")
    return offered[name]


def unknown(name: str, names: Iterable[str], purpose: str = "") -> ValueError:
    """Returns the error for a learner that does not exist, or does not fit, with those that do."""
    offered = f"one of {', '.join(names)}" if names else "none of ours"
    return ValueError(
        f"--learner: expected {offered}{purpose}, or module:Class for your own, found {name!r}"
    )


def _own_kind(module: str, kind: str) -> Any:
    """Returns a learner's class in a module, which is imported, from the current folder too.

    The name must be what a person typed, never the content of a file.
    """
    from learner.frame import Learner

    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = getattr(importlib.import_module(module), kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"--learner: expected a class {kind!r} in module {module}: {error}"
        ) from None
    if not (isinstance(found, type) and issubclass(found, Learner)):
        raise ValueError(f"--learner: expected a subclass of learner.Learner, found {found!r}")
    return found
