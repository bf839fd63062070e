"""UBGI 0.2, the Universal Backgammon Interface.

After `position gnubgid ID`, `position xgid XGID` or `position fibs BOARD`, then `dice A B`, the
command `go chequer` is answered by `bestmove 24/18 13/11`, each checker's steps written out, or
`bestmove pass` if nothing can be moved. Before a roll `go cube` is answered by `bestmove double` or
`bestmove roll`, where a double was offered by `bestmove take`, `bestmove drop` or `bestmove
beaver`, and where a GNU ID says that a side wants to resign by `bestmove accept` or `bestmove
decline`; the text of the protocol leaves these words open. `set NAME VALUE` and `get NAME`
know depth, nodes and seconds. The first draft of the protocol, in which a position is itself a
command and is answered by a move or an action of the cube, is understood too. Errors are answered
by `error`, a code and an explanation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from games.backgammon.notation import parse_situation, steps_of
from games.backgammon.rules import BAR, OFF
from games.backgammon.situation import Situation, roll_of
from games.cube import cube_of
from games.errors import PositionError
from play.players.limits import Limits, check_depth
from play.players.thinker import Thinker
from play.protocols.line_engine import LineEngine
from search import Result

__all__ = ["Ubgi", "UbgiError", "steps_text"]

SETTINGS = ("depth", "nodes", "seconds")


class UbgiError(ValueError):
    """An error in a line, with one of the protocol's codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code} {message}")


class Ubgi(LineEngine):
    """An engine of backgammon for the UBGI protocol."""

    def __init__(self, thinker: Thinker, write: Callable[[str], None]) -> None:
        super().__init__(thinker, write)
        self.situation = Situation(thinker.game.start())
        self.roll: int | None = None

    def refuse(self, problem: str) -> None:
        known = ("bad_argument", "missing_context", "unknown_command", "unsupported_feature")
        code = problem.split(" ", 1)[0]
        self.say(f"error {problem}" if code in known else f"error bad_argument {problem}")

    def command(self, line: str) -> bool:
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        if name == "quit":
            return False
        commands = {
            "ubgi": self._ubgi,
            "isready": self._isready,
            "newgame": self._newgame,
            "position": self._position,
            "dice": self._dice,
            "go": self._go,
            "set": self._set,
            "get": self._get,
            "setoption": self._setoption,
            "stop": lambda rest: self.stop(),
        }
        if name in commands:
            if name not in ("stop", "isready", "ubgi"):
                self.wait()
            commands[name](rest)
        elif name.lower().startswith(("xgid=", "board:")):
            self._bare(line)
        else:
            raise UbgiError("unknown_command", f"expected a command of UBGI, found {name[:40]!r}")
        return True

    def end_of_input(self) -> None:
        self.wait()

    # --- commands ------------------------------------------------------------------------------

    def _ubgi(self, rest: str) -> None:
        self.say(f"id name Plysmith {self.thinker.name}")
        self.say("id author The Plysmith authors")
        self.say("id version 1")
        self.say("ubgiok")

    def _isready(self, rest: str) -> None:
        if not self.searching:
            # compile everything before time counts
            self.thinker.think(self.thinker.game.start(), roll=1, limits=Limits(depth=0))
        self.say("readyok")

    def _newgame(self, rest: str) -> None:
        self.situation = Situation(self.thinker.game.start())
        self.roll = None
        self.thinker.forget()

    def _position(self, rest: str) -> None:
        kind, _, text = rest.partition(" ")
        kinds = ("gnubgid", "xgid", "fibs", "fibsboard", "startpos", "start")
        if kind not in kinds:
            raise UbgiError(
                "bad_argument", f"position: expected {', '.join(kinds)}, found {kind!r:.40}"
            )
        if kind in ("startpos", "start"):
            self.situation, self.roll = Situation(self.thinker.game.start()), None
            return
        self._take(text)

    def _take(self, text: str) -> None:
        # a bad position must not leave the earlier one
        self.situation, self.roll = None, None  # type: ignore[assignment]
        try:
            self.situation = parse_situation(text)
        except PositionError as error:
            raise UbgiError("bad_argument", f"position: {error}") from None
        self.roll = self.situation.roll

    def _dice(self, rest: str) -> None:
        words = rest.split()
        if len(words) != 2 or not all(word in "123456" and len(word) == 1 for word in words):
            raise UbgiError("bad_argument", f"dice: expected two from 1 to 6, found {rest!r:.40}")
        self.roll = roll_of(int(words[0]), int(words[1]))

    def _go(self, rest: str) -> None:
        words = rest.removeprefix("role ").split() or ["chequer"]
        if words == ["cube"]:
            self._search_cube("bestmove ")
            return
        if words not in (["chequer"], ["checker"]):
            raise UbgiError("bad_argument", f"go: expected chequer or cube, found {rest!r:.40}")
        self._search_move("bestmove ")

    def _bare(self, line: str) -> None:
        self.wait()
        self._take(line)
        if self.roll is None and self._decides():
            self._search_cube("")
        elif self.situation.offered:
            raise UbgiError("unsupported_feature", "a double: the evaluator gives no chances")
        elif self.roll is None:
            self.say("roll")
        else:
            self._search_move("")

    def _decides(self) -> bool:
        """Whether there is a decision about the cube that the evaluator can make."""
        game: Any = self.thinker.game
        goes_on = game.outcome(self.situation.position) is None
        allowed = goes_on and game.cube.may_double(self.situation)
        return allowed and self.thinker.evaluator.gives_outcomes

    def _search_cube(self, prefix: str) -> None:
        situation: Situation | None = self.situation
        if situation is not None and situation.resigned is not None:
            self._search_resignation(situation, *situation.resigned)
            return
        if situation is None or self.roll is not None:
            raise UbgiError("missing_context", "expected a position without dice before go cube")
        if not self.thinker.evaluator.gives_outcomes:
            raise UbgiError("unsupported_feature", "go cube: the evaluator gives no chances")
        if not self._decides():
            raise UbgiError("missing_context", "expected a side that may double, found none")
        self.start(lambda result: self._decided(prefix, situation, result), situation.position)

    def _search_resignation(self, situation: Situation, side: int, kind: int) -> None:
        if not self.thinker.evaluator.gives_outcomes:
            raise UbgiError("unsupported_feature", "a resignation: the evaluator gives no chances")

        def answer(result: Result) -> str:
            game: Any = self.thinker.game
            accepts = game.cube.accepts(situation, self._outcomes(situation, result), side, kind)
            return "bestmove accept" if accepts else "bestmove decline"

        self.start(answer, situation.position, roll=self.roll)

    def _decided(self, prefix: str, situation: Situation, result: Result) -> str:
        outcomes = self._outcomes(situation, result)
        try:
            decision = self.thinker.engine.cube_after(situation, replace(result, outcomes=outcomes))
        except KeyboardInterrupt:  # stopped: as the chances at the root say
            decision = cube_of(self.thinker.game).decision(situation, outcomes)
        if prefix:
            self.say(
                f"info depth {result.depth} nodouble {decision.no_double:.4f} take"
                f" {decision.double_take:.4f} drop {decision.double_drop:.4f}"
            )
        if situation.offered:
            return f"{prefix}{decision.answer}"
        return f"{prefix}{'double' if decision.double else 'roll'}"

    def _outcomes(self, situation: Situation, result: Result) -> Any:
        """Returns the chances after a search, the static ones if it was stopped before any."""
        if result.outcomes is not None:
            return result.outcomes
        return tuple(self.thinker.evaluator.outcomes([situation.position])[0])

    def _search_move(self, prefix: str) -> None:
        if self.situation is None:
            raise UbgiError("missing_context", "expected a position before go")
        if self.roll is None:
            raise UbgiError("missing_context", "expected dice before go")
        position = self.situation.position
        if self.thinker.game.outcome(position) is not None:
            raise UbgiError("missing_context", "expected a game that goes on, found it over")
        self.start(lambda result: self._done(prefix, result), position, roll=self.roll)
        self.roll = None  # the roll was for this turn

    def _done(self, prefix: str, result: Result) -> str:
        if prefix:
            self.say(f"info depth {result.depth} equity {result.value:.4f} nodes {result.nodes}")
        return f"{prefix}{steps_text(result.move) or ('pass' if prefix else '')}"

    # --- settings ------------------------------------------------------------------------------

    def _set(self, rest: str) -> None:
        name, _, text = rest.replace("=", " ").partition(" ")
        if name not in SETTINGS:
            raise UbgiError(
                "bad_argument", f"set: expected {', '.join(SETTINGS)}, found {name!r:.40}"
            )
        try:
            number: Any = float(text) if name == "seconds" else int(text)
        except ValueError:
            raise UbgiError(
                "bad_argument", f"{name}: expected a number, found {text!r:.40}"
            ) from None
        if name == "depth":
            check_depth(number)
        self.thinker.limits = Limits(**{name: number})

    def _setoption(self, rest: str) -> None:
        words = rest.split()
        if len(words) != 4 or (words[0], words[2]) != ("name", "value"):
            raise UbgiError("bad_argument", "setoption: expected name NAME value VALUE")
        self._set(f"{words[1].lower()} {words[3]}")

    def _get(self, rest: str) -> None:
        if rest not in SETTINGS:
            raise UbgiError(
                "bad_argument", f"get: expected {', '.join(SETTINGS)}, found {rest!r:.40}"
            )
        value = getattr(self.thinker.limits, rest)
        self.say(f"value {rest} {'none' if value is None else value}")


def steps_text(move: int) -> str:
    """Returns a move with each step written out, such as `24/18 18/13`; empty for no move."""
    names = {BAR: "bar", OFF: "off"}
    return " ".join(
        f"{names.get(source, source)}/{names.get(target, target)}"
        for source, target in steps_of(move)
    )
