"""`Tunable`: a player whose numbers can be set, whatever they are numbers of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from games.contract import Game
from learner.tuning.spsa import Parameter, parse_parameter
from play.players.engine_player import EngineCommand
from play.players.grammar import quoted, split
from play.players.parse import LIMITS, OPTIONS, parse_player, spelt_out
from play.players.player import Player
from search import LinearEvaluator, Techniques

__all__ = ["Tunable"]

#: Seconds for a move of an external engine without a time limit, after which a pair is void.
LONGEST = 60.0
#: Kinds of options of engines that may be numbers, and whether they are whole.
NUMBERS = {"spin": True, "int": True, "real": False, "string": False}


class Tunable:
    """A player and the numbers of it that are tuned.

    These are techniques of our search, weights of a linear evaluator, or options of an external
    engine, each by its own name.

    game: the game.
    text: the player, in the grammar of `play.players.grammar.GRAMMAR`.
    texts: the parameters, as `parse_parameter` reads them.

    Attributes:
        parameters: the parameters.
        evaluator_: the evaluator, or None.

    Raises ValueError for parameters that the player does not have or that may not have such values,
    and the errors of `parse_player` and of starting an engine.
    """

    def __init__(self, game: Game, text: str, texts: Sequence[str]) -> None:
        self.game, self.text = game, text
        self._player = parse_player(game, text)
        self.evaluator_ = self._player.evaluator
        asked = [parse_parameter(one) for one in texts]
        names = [one["name"] for one in asked]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]}: expected it only once")
        techniques = self._player.options.get("techniques")
        self._techniques = {
            field.name: isinstance(field.default, int)
            for field in fields(Techniques)
            if techniques is not None and not isinstance(field.default, bool)
        }
        self._weights: dict[str, float] = {}
        if isinstance(self.evaluator_, LinearEvaluator):
            self._weights = self.evaluator_.term_weights()
        accepted = {**dict.fromkeys(self._weights, False), **self._techniques}
        program, bounds = self._player.program, {}
        if isinstance(program, EngineCommand):
            self._player = replace(self._player, program=replace(program, longest=LONGEST))
            bounds = program.options_of_engine()
            kinds = {name: one.get("type", "") for name, one in bounds.items()}
            accepted = {name: NUMBERS[kind] for name, kind in kinds.items() if kind in NUMBERS}
        for name in names:
            if name not in accepted:
                have = ", ".join(accepted) or "it has none"
                raise ValueError(
                    f"{name}: expected a number that {text} has ({have}), found none of that name"
                )
        self.parameters = [Parameter(**one, whole=accepted[one["name"]]) for one in asked]
        for one in self.parameters:
            # refuses what is out of range; a whole number may be so between its bounds
            for value in (one.low, one.high, *([one.low + 1] * one.whole)):
                self.player({one.name: value})
                least, most = (bounds.get(one.name, {}).get(end, value) for end in ("min", "max"))
                if not float(least) <= value <= float(most):
                    raise ValueError(
                        f"{one.name}: expected bounds within {least} to {most}, found {value:g}"
                    )

    def player(self, values: Mapping[str, float], name: str = "") -> Player:
        """Returns the player with these values; `name` is its name."""
        player = replace(self._player, name=name or self.text)
        if isinstance(player.program, EngineCommand):
            set_to = {one: f"{value:.10g}" for one, value in values.items()}
            options = {**dict(player.program.options), **set_to}
            return replace(player, program=replace(player.program, options=(*options.items(),)))
        ours = {name: values[name] for name in values if name in self._techniques}
        weights = {name: values[name] for name in values if name not in ours}
        if weights:
            before = self.evaluator_
            assert isinstance(before, LinearEvaluator)
            evaluator = LinearEvaluator(
                self.game, before.features, {**self._weights, **weights}, name=before.name,
                provenance={**before.provenance, "tuned": weights},
            )  # fmt: skip
            player = replace(player, evaluator=evaluator)
        if ours:
            kinds = {True: int, False: float}
            given = {name: kinds[self._techniques[name]](value) for name, value in ours.items()}
            techniques = replace(player.options["techniques"], **given)
            player = replace(player, options={**player.options, "techniques": techniques})
        return player

    def written(self, values: Mapping[str, float], folder: Path) -> str:
        """Returns the text of the player with these values.

        An evaluator with other weights is written to tuned.json in the folder.
        """
        player = self.player(values)
        if isinstance(player.program, EngineCommand):
            return str(player.program)
        parts = split(self.text)
        who = parts.evaluator
        if player.evaluator is not self.evaluator_ and player.evaluator is not None:
            path = folder / "tuned.json"
            player.evaluator.save(path)
            who = quoted(path)
        others = {*LIMITS, *OPTIONS}
        how = [one for one in parts.options if others.issuperset(dict(spelt_out(one)))]
        techniques = player.options.get("techniques")
        how += [] if techniques is None else dict.fromkeys(["exact", str(techniques)])
        return "+".join((who, *parts.lookups)) + ("@" + ",".join(how) if how else "")
