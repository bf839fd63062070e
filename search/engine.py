"""`Engine`: search with limits."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import DiceGame, Game
from games.cube import cube_of
from games.kernels import Meanwhile, compiled, runs_compiled
from games.rolls import rolls_of
from games.values import WIN
from search.alphabeta.search import AlphaBeta, AlphaBetaOptions
from search.alphabeta.techniques import Techniques, as_techniques
from search.evaluators.evaluator import Evaluator
from search.evaluators.load import as_evaluator
from search.expectiminimax.cubeful import roll_values, searched_values
from search.expectiminimax.search import Expectiminimax, ExpectiminimaxOptions
from search.limits import UNLIMITED, Limits
from search.lookups.database import usual_lookup
from search.lookups.lookup import Lookup
from search.multiplayer.search import Multiplayer, MultiplayerOptions
from search.result import Result
from search.search import DEEPEST, Search
from search.sizes import MOST_MIB
from search.time_control import Allowance

__all__ = ["DEEPEST", "UNLIMITED", "Engine"]

#: Greatest time in seconds of a search in a hurry that is not compiled yet.
UNCOMPILED = 3.0
#: Seconds for which the first search of an engine in a hurry waits for compiled code.
PATIENCE = 0.5

Options = AlphaBetaOptions | ExpectiminimaxOptions | MultiplayerOptions


class Engine:
    """Searches a game with an evaluator, and remembers earlier searches.

    Games without dice are searched by alpha-beta, games with dice (`games.DiceGame`) by
    expectiminimax, games for more than two players by one of the methods of `MultiplayerOptions`.
    Positions and evaluators that are kernels are searched by native code, plain Python games by the
    same source in Python.

    game: the game whose positions are searched.
    evaluator: anything that `search.as_evaluator` takes.
    options: `AlphaBetaOptions`, for dice `ExpectiminimaxOptions`, for more than two players
        `MultiplayerOptions`. Default: the usual options.
    lookup: known values, asked for at every position, see `search.lookups.lookup`. Default: that of
        `usual_lookup` if `evaluator` is a name or a file, as for players; else no lookup.
    table_mib: size of the transposition table.
    threads: number of threads that share a search, in native code, unless its nodes are limited.
        With dice, moves and values do not depend on it (node counts do); without dice, a search
        with more than one thread is not reproducible.
    seed: shuffles the root moves, which decides among moves of equal value. Default: the game's
        own order.
    keywords: fields of the options, by name; they replace those of `options`.

    If nobody waits for compilations (`games.kernels.hurry`), the same source searches uncompiled
    until a thread has compiled it, without the lookup and for at most `UNCOMPILED` seconds.

    Raises ValueError if an option is out of range or belongs to the other kind of search, and
    TypeError if a name is not an option. An engine must not be used by two threads at once.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = None,
        options: Options | None = None,
        *,
        lookup: Lookup | None = None,
        table_mib: float = 16.0,
        threads: int = 1,
        seed: int | None = None,
        **keywords: Any,
    ) -> None:
        if not 0 < table_mib <= MOST_MIB:
            raise ValueError(f"table_mib: expected 0 to {MOST_MIB} MiB, found {table_mib}")
        self.game = game
        self.evaluator: Evaluator = as_evaluator(game, evaluator)
        named = isinstance(evaluator, (str, Path))
        if lookup is None and named:
            lookup = usual_lookup(game, self.evaluator)
        self.options = _options(game, options, keywords)
        self._shared: dict[str, Any] = dict(
            lookup=lookup, table_mib=table_mib, threads=threads, seed=seed
        )
        if isinstance(self.options, AlphaBetaOptions):
            techniques = as_techniques(self.options.techniques, game)
            self.options = replace(self.options, techniques=techniques)
        #: The native search while a thread compiles it; see `games.kernels.hurry`.
        self._compiling: Meanwhile | None = None
        self._patience = PATIENCE
        if game.rules is None or runs_compiled() or not compiled:
            self._search = self._made(**self._shared)
        else:
            self._search = self._made(**{**self._shared, "lookup": None, "threads": 1})
            self._compiling = Meanwhile(self._compiled)

    def _made(self, **shared: Any) -> Search:
        """Returns a search of this engine's kind."""
        game, options = self.game, self.options
        if isinstance(options, ExpectiminimaxOptions):
            assert isinstance(game, DiceGame)
            return Expectiminimax(game, self.evaluator, options, **shared)
        if isinstance(options, MultiplayerOptions):
            return Multiplayer(game, self.evaluator, options, **shared)
        return AlphaBeta(game, self.evaluator, options, **shared)

    def _compiled(self) -> Search:
        """Returns the native search, all of whose functions are compiled."""
        search = self._made(**self._shared)
        roll = rolls_of(self.game).every[0]
        for exact in (False, True):
            search.search(self.game.start(), Limits(depth=1), roll=roll, exact_root=exact)
        search.clear()
        return search

    def _taken_over(self) -> Search:
        """Returns the search to use now: the native one from the moment when it is compiled."""
        made = self._compiling
        if made is not None and made.ready(None if runs_compiled() else self._patience):
            self._search, self._compiling = made.result(), None
        self._patience = 0.0
        return self._search

    @property
    def native(self) -> bool:
        """Whether compiled code searches, or the same source in plain Python."""
        return self._search.native

    def __repr__(self) -> str:
        techniques = getattr(self.options, "techniques", None)
        kind = "expectiminimax" if techniques is None else f"alpha-beta {techniques}"
        native = "native" if self.native else "in Python"
        return f"Engine({self.game.name}, {self.evaluator!r}, {kind}, {native})"

    def __reduce__(self) -> Any:
        # an engine with an empty memory: the table and addresses stay in the process
        made = functools.partial(type(self), **self._shared)
        return made, (self.game, self.evaluator, self.options)

    @property
    def techniques(self) -> Techniques:
        """The techniques used beyond plain alpha-beta. Raises TypeError in a game with dice."""
        return self._without_dice().techniques

    @property
    def steady(self) -> bool:
        """Whether root moves keep the game's order, and the first of equal moves is chosen."""
        return isinstance(self._search, AlphaBeta) and self._search.steady

    def line_for_games(self, depth: int, nodes: int) -> Any:
        """Returns the line of a native engine, set up to play whole games at these limits."""
        return self._without_dice().line_for_games(depth, nodes)

    def after_games(self) -> None:
        """Take over the generation that whole games reached. Raises an error of the evaluator."""
        self._without_dice().after_games()

    @property
    def late(self) -> float:
        """Seconds by which the last search ended after its `Allowance` had been used."""
        return self._search.late

    def stop(self) -> None:
        """End the running search, which returns its result so far. Callable from any thread."""
        self._search.stop()

    def traced(self) -> tuple[Any, Any, Any, Any]:
        """Returns the trace of the last search: positions, values, depths and bounds.

        positions: [visits, integers] (a list in plain Python), one row for each visit to a position
            below the root that the last iteration searched at least one ply deep. Positions that
            the transposition table answered are omitted.
        values: [visits], for the side to move there; those beyond `search.PROVEN` count plies from
            the root of the search.
        depths: [visits], plies searched below the position.
        bounds: [visits], `search.EXACT`, or LOWER or UPPER if alpha-beta cut the search short and
            the value is only a lower or an upper bound.
        """
        width = len(self.game.start()) if self.native else 0
        return self._without_dice().line.trace(width)  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget earlier searches: the next one is the same as in a new engine."""
        self._search.clear()
        if self._shared["lookup"] is not None:
            self._shared["lookup"].clear()

    def search(
        self,
        position: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | Allowance | None = None,
        history: Sequence[Any] = (),
        roll: int | None = None,
    ) -> Result:
        """Search a position within the limits, at least one of which must be given.

        position: the position to search.
        depth: greatest depth in plies.
        nodes: greatest number of positions searched.
        seconds: greatest time, or an `Allowance`, of which the search uses more or less as it
            finds the choice hard or easy (with dice the usual time).
        history: the earlier positions of the game since the last irreversible move, oldest first.
        roll: with dice, the roll to move with. Default: the value before the roll, without a move.

        Returns the result of the last depth searched in full. Ctrl-C ends the search, which then
        returns its result so far, marked as interrupted.

        With dice, depths are GNU Backgammon's plies: at depth 0 the evaluator values the position,
        before the roll or after each move; the value at depth n before the roll is the average,
        over the rolls, of the best move's value at depth n - 1.

        Raises ValueError if a limit or the roll is out of range, and any error that a Python
        evaluator raised.
        """
        limits = Limits(depth, nodes, seconds)
        return self._searched(position, limits, history=history, roll=roll)

    def analyse(
        self,
        position: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | Allowance | None = None,
        history: Sequence[Any] = (),
        roll: int | None = None,
    ) -> Result:
        """As `search`, with the exact value of every legal move in `Result.moves`.

        In a game with dice, move filters then apply only to replies, not to the root moves.
        """
        limits = Limits(depth, nodes, seconds)
        return self._searched(position, limits, history=history, roll=roll, exact_root=True)

    def _searched(self, position: Any, limits: Limits, **asked: Any) -> Result:
        search = self._taken_over()
        compiling = self._compiling is not None
        if compiling:
            seconds = limits.seconds
            usual = seconds.usual if isinstance(seconds, Allowance) else seconds or UNCOMPILED
            limits = replace(limits, seconds=min(usual, UNCOMPILED))
        result = search.search(position, limits, **asked)
        # the lookup's tables may not exist yet
        return replace(result, compiling=True) if compiling else self._proven(result)

    def _proven(self, result: Result) -> Result:
        """Returns a result that names the draws that are proven."""
        level = [move for move, value in result.moves if value == 0]
        if not isinstance(self._search, AlphaBeta) or not (level or result.value == 0):
            return result
        game, lookup, position = self.game, self._shared["lookup"], result.position
        probe = None if lookup is None else lookup.plain()

        def proven(position: Any) -> float | None:
            outcome = game.outcome(position)
            if outcome is not None or probe is None:
                return outcome
            known, value, depth = probe(position)
            return value if known and depth >= DEEPEST else None

        after = {move: proven(game.play(position, move)) for move in game.legal_moves(position)}
        places = {move for move in level if after[move] == 0}
        values = [-WIN if value is None else value for value in after.values()]
        settled = min(values, default=WIN) == 0  # no move wins, or may win, and one draws
        if result.value == 0 and (settled or proven(position) == 0):
            places.add(None)
        return replace(result, drawn=frozenset(places)) if places else result

    def best_moves(
        self, positions: Any, rolls: Any, *, depth: int = 0, decide_only: bool = False
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Returns the best moves [positions] and their values [positions], in a game with dice.

        positions: [positions, integers], or a list of positions.
        rolls: [positions], one for each position.
        depth: plies to search, as in `search`.
        decide_only: do not search a move further once it is the only one (or the only one that
            filters leave); its value is then that of the previous depth.

        The results equal those of one `search` for each position, in one native call. Raises
        ValueError if a roll or the depth is out of range or a game is over, TypeError in a game
        without dice, and KeyboardInterrupt if stopped.
        """
        return self.dice_search.best_moves(positions, rolls, depth, decide_only)

    def values(self, positions: Any, *, depth: int = 0) -> NDArray[np.float64]:
        """Returns the values [positions] of positions before their rolls, in a game with dice.

        They equal those of one `search` without a roll for each. Raises the errors of `best_moves`.
        """
        return self.dice_search.values(positions, depth)

    def cube(
        self,
        situation: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> Any:
        """Returns whether to double and to take, in a game with a cube.

        situation: a position with its match and cube (`games.backgammon.situation.Situation`).
        depth, nodes, seconds: limits of the search for the chances of the outcomes, as in `search`.

        From depth 1 on both sides double, take and move for the stakes in the whole search
        (`search.expectiminimax.cubeful`), which goes as deep as the one for the chances. Limited
        by depth alone there is only the one for the stakes, and the take point follows from static
        chances.

        The result is the game's, such as `games.backgammon.doubling.decision.CubeDecision`. Raises
        ValueError if the game has no cube or the evaluator gives no chances, PositionError if
        nobody may double, and KeyboardInterrupt if Ctrl-C, or `stop`, ended the search.
        """
        if depth and nodes is None and seconds is None:
            result = replace(self.search(situation.position, depth=0), depth=depth)
        else:
            result = self.search(situation.position, depth=depth, nodes=nodes, seconds=seconds)
        return self.cube_after(situation, result.whole())

    def cube_after(self, situation: Any, result: Result) -> Any:
        """Returns the decision of `cube` after a search of the position, as deep as it went."""
        if result.outcomes is None:
            raise ValueError(
                f"expected an evaluator that gives chances of outcomes, found {self.evaluator.name}"
            )
        cube = cube_of(self.game)
        if not result.depth:
            return cube.decision(situation, result.outcomes)
        values = searched_values(self.dice_search, situation, result.depth)
        return cube.decision(situation, result.outcomes, values)

    def roll_values(self, situation: Any) -> NDArray[np.float64]:
        """Returns the values [rolls] of the best moves, by static values, in a game with a cube.

        They are points for money, and chances to win a match; a roll's luck is its value less the
        average. Raises ValueError if the game has no cube.
        """
        return roll_values(self.dice_search, situation)

    @property
    def dice_search(self) -> Expectiminimax:
        """The search of a game with dice; raises TypeError for other games."""
        search = self._taken_over()
        if not isinstance(search, Expectiminimax):
            raise TypeError(f"expected a game with dice, found {self.game.name}")
        return search

    def _without_dice(self) -> AlphaBeta:
        if not isinstance(self._search, AlphaBeta):
            raise TypeError(f"expected a game without dice, found {self.game.name}")
        return self._search


def _options(game: Game, options: Options | None, keywords: Mapping[str, Any]) -> Options:
    """Returns the options for a game's kind of search, with fields replaced by the keywords."""
    dice, many = isinstance(game, DiceGame), game.players > 2
    kinds: list[Any] = [AlphaBetaOptions, ExpectiminimaxOptions, MultiplayerOptions]
    kind = kinds.pop(1 if dice else 2 if many else 0)
    known = [field.name for field in fields(kind)]
    wrong = [name for name in keywords if name not in known]
    wrong += [other.__name__ for other in kinds if isinstance(options, other)]
    if wrong:
        players = f"{game.players} players and " * many
        message = (
            f"{game.name} has {players}{'' if dice else 'no '}dice: expected options among"
            f" {', '.join(known)}, found {', '.join(wrong)}"
        )
        foreign = {name.name for other in kinds for name in fields(other)}
        foreign |= {other.__name__ for other in kinds}
        raise ValueError(message) if foreign.issuperset(wrong) else TypeError(message)
    if options is None:
        return kind(**keywords)  # type: ignore[no-any-return]
    if not isinstance(options, kind):
        raise TypeError(f"options: expected {kind.__name__}, found {options!r}")
    return replace(options, **keywords)  # type: ignore[no-any-return]
