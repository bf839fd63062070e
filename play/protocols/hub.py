"""Hub, the protocol of draughts engines (version 2, of Scan 3.1), for English checkers.

Scores are in men: values are divided by the evaluator's value of an extra man at the start. A won
game is 100 minus 0.01 for each ply to its end. The words are in `play.players.hub_words`.

Commands are read while a search runs, so that it can be stopped. The engine never ends with an
error, whatever its input.

The parameter `turned-pos` is for pydraughts, which numbers the squares of an English position from
the other end and swaps the colours, but not in moves.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from games.record import GameRecord
from play.players.clock import Clock
from play.players.hub_words import arguments, hub_move, hub_position, move_word
from play.players.limits import Limits
from play.players.lines import LONGEST_LINE, read_lines
from play.players.seats import Seat
from search import PROVEN, WIN, Result
from search.engine import DEEPEST
from search.time_control import Allowance

__all__ = ["Hub"]

MOST_MOVES = 1000
_START = "B" + "b" * 12 + "e" * 8 + "w" * 12


class Hub:
    """An engine of English checkers for the Hub protocol.

    thinker: searches.
    write: called with each line of an answer, from any thread, one at a time.
    turned: whether positions are turned, as the parameter `turned-pos` says.
    """

    def __init__(
        self, thinker: Seat, write: Callable[[str], None], *, turned: bool = False
    ) -> None:
        self.thinker = thinker
        self._write = write
        self._lock = threading.RLock()
        self._search: threading.Thread | None = None
        #: Whether an answer has not been sent yet. The thread may still run when the next question
        #: comes.
        self.searching = False
        self._stopping = threading.Event()
        self.turned = turned
        self.limits = thinker.limits
        self.clock: Clock | None = None
        self.endless = False
        self.ready = False
        self.record: GameRecord | None = GameRecord(
            thinker.game, repetitions=None, quiet_moves=None
        )
        self._man: float | None = None

    # --- lines ---------------------------------------------------------------------------------

    def say(self, line: str) -> None:
        """Answer a line."""
        with self._lock:
            self._write(line)

    def handle(self, line: str | None) -> bool:
        """Handle a line, None for one that was too long; returns whether to continue."""
        try:
            if line is None:
                raise ValueError(f"expected lines of at most {LONGEST_LINE} bytes, found more")
            return self.command(line) if line else True
        except (ValueError, TypeError, ArithmeticError) as error:
            self.refuse(" ".join(str(error).split())[:300])
            return True

    def serve(self, stream: BinaryIO) -> None:
        """Answer the lines of a stream to its end or to a command to quit, then stop the search."""
        try:
            for line in read_lines(stream):
                if not self.handle(line):
                    return
        except BrokenPipeError:  # the reader is gone
            pass
        finally:
            self.stop()

    # --- searching -----------------------------------------------------------------------------

    def start(self, answer: Callable[[Result], str], record: GameRecord, limits: Limits) -> None:
        """Start a search in a thread of its own, which then says the line `answer(result)`.

        answer: makes the line of a result.
        record, limits: the game and the limits of the move.

        Raises ValueError during a search.
        """
        if self.searching:
            raise ValueError("expected only stop during a search")
        self.searching = True
        self._stopping.clear()
        self._search = threading.Thread(
            target=self._work, args=(answer, record, limits), daemon=True, name="engine"
        )
        self._search.start()

    def _work(self, answer: Callable[[Result], str], record: GameRecord, limits: Limits) -> None:
        try:
            line = answer(self.thinker.decide(record, limits))
        except BrokenPipeError:
            self.searching = False
        except (Exception, KeyboardInterrupt) as error:
            self.searching = False
            self.refuse(" ".join(str(error).split())[:300] or "the search was stopped")
        else:
            self.searching = False
            with contextlib.suppress(BrokenPipeError):
                self.say(line)

    def stop(self) -> None:
        """End the search that is under way, and wait for its answer."""
        search = self._search
        self._stopping.set()
        while search is not None and search.is_alive():
            # repeatedly, because a search that has hardly begun misses it
            self.thinker.stop()
            search.join(0.005)

    def stop_in(self, seconds: float) -> None:
        """Stop the current search after `seconds`, unless it has ended by then."""
        search = self._search

        def wait() -> None:
            if search is None:
                return
            search.join(seconds)
            if search is self._search:
                self.stop()

        threading.Thread(target=wait, daemon=True, name="clock").start()

    # --- the protocol --------------------------------------------------------------------------

    def refuse(self, problem: str) -> None:
        """Answer a wrong line with a one-line message."""
        self.say('error message="{}"'.format(problem.replace('"', "'")))

    def command(self, line: str) -> bool:
        """Run a command; returns whether to continue. A ValueError is answered by `refuse`."""
        name, _, rest = line.partition(" ")
        if name == "quit":
            return False
        commands = {
            "hub": self._hub,
            "set-param": self._set_param,
            "init": self._init,
            "ping": lambda given: self.say("pong"),
            "new-game": self._new_game,
            "pos": self._pos,
            "level": self._level,
            "go": self._go,
            "stop": lambda given: self.stop(),
            "ponder-hit": lambda given: self._ponder_hit(),
        }
        if name not in commands:
            raise ValueError(f"expected a command of Hub, found {name[:40]!r}")
        commands[name](arguments(rest))
        return True

    # --- commands ------------------------------------------------------------------------------

    def _hub(self, given: dict[str, str]) -> None:
        name = re.sub(r'["=\s]+', "-", self.thinker.name)
        self.say(f'id name="Plysmith {name}" version=1 author=Plysmith')
        self.say('param name=variant value=english type=enum values="normal english"')
        value = "true" if self.turned else "false"
        self.say(f"param name=turned-pos value={value} type=bool")
        self.say("wait")

    def _set_param(self, given: dict[str, str]) -> None:
        name, value = given.get("name", ""), given.get("value", "")
        if name == "turned-pos":
            if value not in ("true", "false"):
                raise ValueError(f"turned-pos: expected true or false, found {value[:40]!r}")
            self.turned = value == "true"
        elif name == "variant":
            # a controller that knows only one variant calls it normal
            if value not in ("english", "american", "normal"):
                raise ValueError(f"variant: expected english, found {value[:40]!r}")
        else:
            raise ValueError(f"expected the parameter variant or turned-pos, found {name[:40]!r}")

    def _init(self, given: dict[str, str]) -> None:
        if self.searching:
            raise ValueError("expected stop before init during a search")
        if not self.ready:
            # compile everything before time counts
            self.thinker.think(self.thinker.game.start(), limits=Limits(depth=2))
            self.man_value()
        self.ready = True
        self.say("ready")

    def _new_game(self, given: dict[str, str]) -> None:
        self._idle("new-game")
        self.thinker.forget()

    def _pos(self, given: dict[str, str]) -> None:
        self._idle("pos")
        self.record = None  # a bad position must not leave the earlier one
        self.record = self._read(given)

    def _read(self, given: dict[str, str]) -> GameRecord:
        position = hub_position(given.get("pos") or _START, turned=self.turned and "pos" in given)
        record = GameRecord(self.thinker.game, position, repetitions=None, quiet_moves=None)
        words = given.get("moves", "").split()
        if len(words) > MOST_MOVES:
            raise ValueError(f"moves: expected at most {MOST_MOVES}, found {len(words)}")
        for word in words:
            record.play(hub_move(self.thinker.game, record.position, word))
        return record

    def _level(self, given: dict[str, str]) -> None:
        self._idle("level")
        known = {"depth", "nodes", "move-time", "time", "inc", "moves"}
        unknown = set(given) - known - {"infinite", "ponder", "handicap"}
        if unknown:
            raise ValueError(
                f"level: expected {', '.join(sorted(known))}, found {min(unknown)!r:.40}"
            )
        whole = {name: int(_number(given, name, 1)) for name in ("depth", "nodes", "moves")
                 if name in given}  # fmt: skip
        spans = {name: _number(given, name, 0) for name in ("move-time", "time", "inc")
                 if name in given}  # fmt: skip
        seconds = spans.get("move-time")
        self.endless = "infinite" in given
        self.limits, self.clock = self.thinker.limits, None
        if "time" in spans:
            self.clock = Clock(spans["time"], spans.get("inc", 0.0), whole.get("moves"))
        if seconds is not None:
            # messages take a millisecond or two, which the clock loses
            seconds = max(0.001, seconds - min(0.03, 0.002 + 0.03 * seconds))
        if "depth" in whole or "nodes" in whole or seconds is not None:
            depth = min(whole["depth"], DEEPEST) if "depth" in whole else None
            self.limits = Limits(depth, whole.get("nodes"), seconds)

    def _go(self, given: dict[str, str]) -> None:
        self._idle("go")
        if not self.ready:
            raise ValueError("expected init before go")
        if self.record is None:
            raise ValueError("expected a valid position before go, found none")
        kinds = [kind for kind in ("think", "ponder", "analyze") if kind in given]
        if len(kinds) != len(given):
            raise ValueError(
                f"go: expected think, ponder or analyze, found {' '.join(given)[:40]!r}"
            )
        if not self.thinker.game.legal_moves(self.record.position):
            raise ValueError("go: expected a position with a legal move, found none")
        # an endless search answers only once it is stopped
        endless = self.endless or bool({"ponder", "analyze"} & set(kinds))
        limits = Limits(depth=DEEPEST) if endless else self._limits()
        position = self.record.position
        self.start(lambda result: self._done(position, result, endless), self.record, limits)

    def _limits(self) -> Limits:
        if self.clock is None:
            return self.limits
        if self.limits is self.thinker.limits:
            return Limits(clock=self.clock)
        return Limits(self.limits.depth, self.limits.nodes, clock=self.clock)

    def _ponder_hit(self) -> None:
        if not self.searching:
            raise ValueError("expected ponder-hit during a search, found none")
        left = self._limits().time
        self.stop_in(left.usual if isinstance(left, Allowance) else left or 1.0)

    def _idle(self, name: str) -> None:
        if self.searching:
            raise ValueError(f"expected stop before {name} during a search")

    # --- answers -------------------------------------------------------------------------------

    def _done(self, position: Any, result: Result, hold: bool) -> str:
        if result.depth == 0:  # stopped at once
            result = self.thinker.think(position, limits=Limits(depth=1))
        seconds = max(result.seconds, 1e-6)
        texts = list(map(move_word, result.pv))
        self.say(
            f"info depth={result.depth} score={self.score(result.value):.2f} nodes={result.nodes}"
            f' time={seconds:.2f} nps={result.nodes / seconds / 1e6:.2f} pv="{" ".join(texts)}"'
        )
        if hold:
            self._stopping.wait()
        ponder = f" ponder={texts[1]}" if len(texts) > 1 else ""
        return f"done move={move_word(result.move)}{ponder}"

    def man_value(self) -> float:
        """Returns the evaluator's value of an extra man at the start; 1 if that is not above 0."""
        if self._man is None:
            start = self.thinker.game.start()
            fewer = (start[0], start[1] & (start[1] - 1), *start[2:])
            value = self.thinker.evaluator.values([fewer, start])
            self._man = float(value[0] - value[1])
            if not self._man > 1e-9:
                self._man = 1.0
        return self._man

    def score(self, value: float) -> float:
        """Returns a value as a Hub score; undecided positions are clipped to -80 and 80."""
        if abs(value) > PROVEN:
            score = 100 - (WIN - abs(value)) / 100
            return score if value > 0 else -score
        return max(-80.0, min(80.0, value / self.man_value())) + 0.0


def _number(given: dict[str, str], name: str, least: float) -> float:
    text = given[name]
    if re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{0,12})?", text) is None:
        raise ValueError(f"{name}: expected a number, found {text[:40]!r}")
    # a clock may already be below 0
    if name != "time" and float(text) < least:
        raise ValueError(f"{name}: expected at least {least:g}, found {text[:40]}")
    return float(text)
