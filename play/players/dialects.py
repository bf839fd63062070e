"""The protocols of external engines: Hub for English checkers, UCI for any game without dice.

Sources: the text of Hub (version 2) that comes with Scan 3.1; S. Meyer-Kahlen's of UCI (2006). Over
UCI, positions and moves are the game's own texts, without spaces within a move. The start is sent
as `startpos`, any other position as `fen` and its text.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

from games.contract import Game, line_texts
from games.kinds import WITHOUT_CHANCE, WITHOUT_DICE, Kind
from games.record import GameRecord
from play.players.external import ExternalEngines
from play.players.hub_words import arguments, hub_move, move_word, position_word
from play.players.limits import Limits
from play.players.talk import Talk

__all__ = ["DIALECTS", "Dialect", "EngineOptions", "HubDialect", "UciDialect"]

VARIANTS = ("english", "american")
#: Seconds that an engine may take to get ready, because it may load databases.
READY = 600.0


#: An engine's statements on each of its options: "type", "min", "max" and "values", if present.
EngineOptions = dict[str, dict[str, str]]


class HubDialect:
    """Hub, for English checkers; scores are in men. Errors of an engine are ValueErrors.

    title: the name of the protocol for people.
    answer: the first word of the line with a move.
    kinds: a game must be of all these kinds.
    """

    title, answer = "Hub", "done"
    kinds: Sequence[Kind] = (
        Kind("a game of checkers", lambda game: "hub" in ExternalEngines.of(game).protocols),
    )

    def introduction(self, talk: Talk) -> EngineOptions:
        """Let the engine introduce itself; returns its options."""
        options: EngineOptions = {}

        def told(word: str, rest: str) -> None:
            given = _given(rest)
            if word == "param" and "name" in given:
                options[given["name"]] = given

        talk.say("hub")
        talk.hear("wait", told=told)
        return options

    def prepare(self, talk: Talk, options: EngineOptions, given: dict[str, str]) -> None:
        """Set the given options and those that the game needs; wait until the engine is ready."""
        variants = options.get("variant", {}).get("values", "").split()
        supported = [variant for variant in VARIANTS if variant in variants]
        if variants and not supported:
            raise ValueError(
                f"expected a program that plays English checkers (variant {' or '.join(VARIANTS)}),"
                f" found one that plays {', '.join(variants)[:200]}"
            )
        chosen = {"variant": supported[0]} if supported else {}
        for name, value in (chosen | given).items():
            talk.say(f"set-param name={_quoted(name)} value={_quoted(value)}")
        talk.say("init")
        talk.hear("ready", READY)

    def new_game(self, talk: Talk) -> None:
        """Announce a game."""
        talk.say("new-game")

    def question(self, record: GameRecord, limits: Limits) -> Sequence[str]:
        """Returns the lines that ask for a move; `limits` have the clock as it stands."""
        words = " ".join(map(move_word, record.moves))
        moves = f' moves="{words}"' if words else ""
        parts: dict[str, object]
        parts = {"depth": limits.depth, "nodes": limits.nodes, "move-time": limits.seconds}
        if limits.clock is not None:
            parts["time"] = f"{limits.clock.left:.3f}"
            parts["inc"] = f"{limits.clock.increment:.3f}"
        level = " ".join(f"{name}={part}" for name, part in parts.items() if part is not None)
        return f"pos pos={position_word(record.start)}{moves}", f"level {level}", "go think"

    def move(self, game: Game, position: Any, rest: str) -> Any:
        """Returns the legal move that the rest of an answer names."""
        return hub_move(game, position, arguments(rest).get("move", ""))

    def note(self, word: str, rest: str) -> dict[str, str]:
        """Returns the `score` and `depth` in another line of a search, if any."""
        return _given(rest) if word == "info" else {}


class UciDialect:
    """UCI, of chess engines and those of many games; scores in hundredths; see `HubDialect`."""

    title, answer = "UCI", "bestmove"
    kinds = (WITHOUT_DICE, WITHOUT_CHANCE)

    def introduction(self, talk: Talk) -> EngineOptions:
        options: EngineOptions = {}

        def told(word: str, rest: str) -> None:
            option = re.match(r"name (.+?) (type \w+.*)", rest)
            if word == "option" and option is not None:
                options[option[1]] = dict(re.findall(r"\b(type|min|max) (\S+)", option[2]))

        talk.say("uci")
        talk.hear("uciok", told=told)
        return options

    def prepare(self, talk: Talk, options: Any, given: dict[str, str]) -> None:
        for name, value in given.items():
            talk.say(f"setoption name {name} value {value}")
        self.new_game(talk)

    def new_game(self, talk: Talk) -> None:
        for line in ("ucinewgame", "isready"):
            talk.say(line)
        talk.hear("readyok", READY)

    def question(self, record: GameRecord, limits: Limits) -> Sequence[str]:
        game, start = record.game, record.start
        place = "startpos" if start == game.start() else f"fen {game.position_text(start)}"
        words = map(_word, line_texts(game, start, record.moves))
        moves = f" moves {' '.join(words)}" if record.moves else ""
        parts: dict[str, int | None] = {"depth": limits.depth, "nodes": limits.nodes}
        if limits.seconds is not None:
            parts["movetime"] = max(1, int(1000 * limits.seconds))
        if limits.clock is not None:  # the other side's clock is not known
            for side in "wb":
                parts[f"{side}time"] = max(1, int(1000 * limits.clock.left))
                parts[f"{side}inc"] = int(1000 * limits.clock.increment)
        level = " ".join(f"{name} {part}" for name, part in parts.items() if part is not None)
        return f"position {place}{moves}", f"go {level}"

    def move(self, game: Game, position: Any, rest: str) -> Any:
        word = rest.split(" ")[0]
        legal = {_word(game.move_text(position, move)): move for move in game.legal_moves(position)}
        if word not in legal:
            moves = ", ".join([*legal][:12]) or "no moves"
            raise ValueError(f"expected one of {moves}, found {word[:40]!r}")
        return legal[word]

    def note(self, word: str, rest: str) -> dict[str, str]:
        told = rest.partition(" pv ")[0] if word == "info" else ""
        depth, score = (re.search(rf"\b{name} (-?\d{{1,6}})\b", told) for name in ("depth", "cp"))
        figures = {} if depth is None else {"depth": depth[1]}
        return figures if score is None else {**figures, "score": f"{int(score[1]) / 100}"}


Dialect = HubDialect | UciDialect
DIALECTS: dict[str, Dialect] = {"hub": HubDialect(), "uci": UciDialect()}


def _given(rest: str) -> dict[str, str]:
    """Returns the arguments of a line of Hub; {} for other lines, which may be meant for people."""
    with contextlib.suppress(ValueError):
        return arguments(rest)
    return {}


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) or not text else text


def _word(text: str) -> str:
    return "".join(text.split())
