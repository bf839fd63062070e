"""Players from texts, in the grammar of `play.players.grammar`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from games.contract import Game
from games.kinds import WITHOUT_DICE
from play.players.engine_player import as_engine
from play.players.external import ExternalEngines
from play.players.grammar import PlayerText, split, unquoted
from play.players.levels import levels_of
from play.players.limits import Limits
from play.players.player import Player
from play.players.seats import Seat
from search import Lookup, as_evaluator, parse_techniques
from search.alphabeta.techniques import PRESETS, Techniques
from search.evaluators.noise import NoisyEvaluator
from search.evaluators.samples import value_scale
from search.expectiminimax.move_filters import as_filters
from search.lookups.database import DatabaseLookup, Databases, usual_lookup
from search.lookups.lookup import CombinedLookup
from search.lookups.rote import RoteMemory
from search.multiplayer.search import METHODS
from search.sizes import MOST_MIB, MOST_THREADS

__all__ = [
    "LIMITS",
    "NONE",
    "OPTIONS",
    "TECHNIQUES",
    "limit_of",
    "methods_of",
    "more_options",
    "parse_lookup",
    "parse_player",
    "seated",
    "spelt_out",
]

RANDOM = "random"
#: In place of a lookup: no lookup, not even the game's usual one.
NONE = "none"
#: Options of the engine, and their names there.
OPTIONS = {
    **{name: name for name in ("threads", "filters", "noise")},
    **dict.fromkeys(METHODS, "method"),
    "table": "table_mib",
}
#: Options of searches with dice; sets of techniques, then single ones.
FILTERS = ("filters=NAME",)
TECHNIQUES = (*PRESETS, *(field.name for field in fields(Techniques)))
#: Options that limit a move, and the types of their numbers.
LIMITS: dict[str, Any] = {"depth": int, "nodes": int, "seconds": float}


def parse_player(game: Game, text: str, *, techniques: str = "selective") -> Player:
    """Returns the player that a text names, in the grammar of `play.players.grammar.GRAMMAR`.

    techniques: the set of techniques of searches for two players without dice, if the text names
        none; single ones follow it.

    Several lookups are consulted in their order, until one knows the position. A player that names
    none consults the game's usual one (`search.lookups.database.usual_lookup`), unless it says
    `+none`.

    Raises ValueError, OSError or ModuleNotFoundError; messages read "expected ..., found ...".
    """
    if text == RANDOM:
        return Player(RANDOM)
    level = levels_of(game).get(text)
    if level is not None and text not in game.evaluators:
        return replace(parse_player(game, level, techniques=techniques), name=text)
    program: Any = as_engine(game, text)
    if program is None and ExternalEngines.of(game).engines:
        from play.players.gnubg import as_program

        program = as_program(text)
    if program is not None:
        return Player(text, program=program)
    parts = split(text)
    if parts.evaluator == RANDOM:
        raise ValueError(f"player: expected {RANDOM} alone, found {text!r}")
    evaluator = as_evaluator(game, parts.source)
    limits, options = _settings(game, parts, techniques)
    noise = options.pop("noise", 0.0)
    if noise:
        amplitude = noise * value_scale(game, evaluator)
        evaluator = NoisyEvaluator(evaluator, amplitude=amplitude)
    if NONE in parts.lookups and len(parts.lookups) > 1:
        raise ValueError(f"player: expected +{NONE} or other lookups, found {text!r}")
    lookups = [parse_lookup(game, part) for part in parts.lookups if part != NONE]
    usual = None if parts.lookups else usual_lookup(game, evaluator)
    if usual is not None:
        lookups.append(usual)
    if game.dice and len(lookups) > 1:
        raise ValueError(f"player: expected one lookup in a game with dice, found {text!r}")
    lookup = CombinedLookup(*lookups) if len(lookups) > 1 else next(iter(lookups), None)
    return Player(text, evaluator, lookup, options, limits=limits)


def seated(
    game: Game,
    name: str,
    limits: Limits,
    *,
    techniques: str = "selective",
    table_mib: float = 16.0,
    **options: Any,
) -> Seat:
    """Returns the seat of an evaluator, by its name in the grammar, with its search.

    limits: limits of a move, unless the question or the player has limits of its own.
    techniques: as in `parse_player`; "selective" looks deeper, "exact" gives the values of plain
        minimax.
    table_mib, options: options of the engine, unless the name has its own.

    Raises ValueError for a player without an evaluator, such as `random`, and as `parse_player`.
    """
    limits.check(game)
    player = parse_player(game, name, techniques=techniques)
    if player.evaluator is None:
        raise ValueError(f"expected an evaluator to play with, found {name!r}")
    seat: Seat = player.seat(game, limits, table_mib=table_mib, **options)
    return seat


def methods_of(game: Game) -> Sequence[str]:
    """Returns the methods of searching for more than two sides, the default first; () for two."""
    return METHODS if game.players > 2 else ()


def more_options(game: Game) -> Sequence[str]:
    """Returns the options of searches of this kind of game, as written after an `@`."""
    return FILTERS if game.dice else methods_of(game) or TECHNIQUES


def _settings(game: Game, parts: PlayerText, usual: str) -> tuple[Limits | None, dict[str, Any]]:
    """Returns the limits and the engine's options after the `@` of a player's text.

    usual: set of techniques if the text names none.

    Raises ValueError if an option is unknown, out of range or given twice.
    """
    limits: dict[str, Any] = {}
    engine: dict[str, Any] = {}
    techniques: list[str] = []
    more = more_options(game)
    for option in parts.options:
        for name, value in spelt_out(option):
            if name in limits or OPTIONS.get(name) in engine:
                raise ValueError(f"{name}: expected it only once, found also {option[:40]!r}")
            if name in LIMITS:
                limits[name] = limit_of(name, value)
            elif name == "threads":
                engine[name] = _threads(option, value)
            elif name == "noise":
                engine[name] = _noise(option, value)
            elif name in methods_of(game) and not value:
                engine["method"] = name
            elif name == "table":
                engine["table_mib"] = _table(option, value)
            elif more is TECHNIQUES and name.removeprefix("-") in more:
                techniques.append(f"{name}={value}" if value else name)
            elif name == "filters" and more is FILTERS:
                as_filters(value)
                engine[name] = value
            else:
                raise ValueError(
                    "player: expected one of depth=PLIES, nodes=N, seconds=S, threads=N, table=MIB,"
                    f" noise=SIZE, {', '.join(more)} after the @, found {option[:40]!r}"
                )
    if more is TECHNIQUES and not {*techniques[:1]} & {*PRESETS}:
        techniques.insert(0, usual)
    if techniques:
        engine["techniques"] = parse_techniques(",".join(techniques), game)
    if not limits:
        return None, engine
    own = Limits(**limits)
    own.check(game)
    return own, engine


def spelt_out(option: str) -> list[tuple[str, str]]:
    """Name and value of an option; `2:normal` stands for `depth=2` and `filters=normal`."""
    short = re.fullmatch(r"([0-9]+)(?::(\w+))?", option)
    if short is None:
        name, _, value = option.partition("=")
        return [(name, unquoted(value))]
    plies, filters = short.groups()
    return [("depth", plies)] + ([] if filters is None else [("filters", filters)])


def limit_of(name: str, text: str) -> Any:
    """Returns the number of a limit, a key of `LIMITS`; raises ValueError for other texts."""
    try:
        return LIMITS[name](text)
    except ValueError:
        raise ValueError(f"{name}: expected {name}=NUMBER, found {text[:40]!r}") from None


def _threads(option: str, text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= MOST_THREADS):
        raise ValueError(f"threads: expected 1 to {MOST_THREADS}, found {option[:40]!r}")
    return int(text)


def _noise(option: str, text: str) -> float:
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) is None:
        raise ValueError(f"noise: expected 0 to 999 usual values, found {option[:40]!r}")
    return float(text)


def _table(option: str, text: str) -> float:
    if re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,6})?", text) is None or not 0 < float(text) <= MOST_MIB:
        raise ValueError(
            f"table: expected more than 0 MiB, at most {MOST_MIB}, found {option[:40]!r}"
        )
    return float(text)


def parse_lookup(game: Game, part: str) -> Lookup:
    """Returns the game's database, or the rote memory in a file, that a player's text names.

    Raises ValueError or OSError if it does not exist.
    """
    if part in Databases.of(game).named or (part.isidentifier() and not Path(part).exists()):
        return DatabaseLookup(game, part)
    WITHOUT_DICE.expect(game, where="rote memory")
    return RoteMemory.load(game, unquoted(part))
