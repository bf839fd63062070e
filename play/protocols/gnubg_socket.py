"""A player for GNU Backgammon's `set player 0 external localhost:PORT`, over TCP on this machine.

GNU Backgammon connects and writes a FIBS `board:` line for each decision, beginning with the second
after a NUL byte; the answer is a move such as `8/5 6/5`, `roll`, `double`, `take` or `drop`. If the
evaluator gives chances of outcomes, decisions about the cube follow them and the match score. If it
gives only values, the player never doubles. It then takes if the cubeless equity is above -0.5,
because a doubled game with a dead cube then loses less than a drop. GNU Backgammon does not ask an
external player about resignations: it accepts a backgammon itself and declines anything less.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable
from typing import Any

from games.backgammon.fibs import parse_fibs
from play.players.lines import LONGEST_LINE, read_lines
from play.players.seats import Seat
from play.ports import named_port

__all__ = ["DEFAULT_PORT", "ExternalPlayer", "ExternalServer"]

DEFAULT_PORT = 4321
#: Connections at a time; more are refused.
MOST_CONNECTIONS = 8
TAKE_POINT = -0.5
#: Seconds of silence that end a connection; long, because a person may be at the other end.
SILENCE = 3600.0


class ExternalPlayer:
    """Answers the lines of GNU Backgammon, one at a time for all connections."""

    def __init__(self, thinker: Seat) -> None:
        self.thinker = thinker
        self._lock = threading.Lock()

    def answer(self, line: str | None) -> str:
        """Returns the answer to a line; `error` with a message if the line is not a board."""
        try:
            if line is None:
                raise ValueError(f"expected lines of at most {LONGEST_LINE} bytes, found more")
            if not line.startswith("board:"):
                raise ValueError(f"expected a FIBS board, found {line[:40]!r}")
            return self._decide(line)
        except (ValueError, ArithmeticError) as error:
            return "error " + " ".join(str(error).split())[:300]

    def _decide(self, line: str) -> str:
        situation = parse_fibs(line)
        position, roll = situation.position, situation.roll
        game: Any = self.thinker.game
        if game.outcome(position) is not None:
            raise ValueError("expected a game in progress, but it is over")
        chances = self.thinker.evaluator.gives_outcomes
        with self._lock:
            if situation.offered and chances and game.cube.may_double(situation):
                return "take" if self.thinker.decision(situation).take else "drop"
            if situation.offered:
                # the position is the doubling side's
                equity = -self.thinker.think(position).value
                return "take" if equity > TAKE_POINT else "drop"
            if roll is None:
                doubles = chances and game.cube.may_double(situation)
                return "double" if doubles and self.thinker.decision(situation).double else "roll"
            move = self.thinker.think(position, roll=roll).move
        return "" if move == 0 else str(game.move_text(position, move))


class ExternalServer(socketserver.ThreadingTCPServer):
    """A server of the player, on 127.0.0.1 only.

    player: answers the lines.
    port: 0 stands for any free port.
    log: called with a text when a connection begins or ends.

    Raises OSError if the port is taken.
    """

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(
        self, player: ExternalPlayer, port: int = DEFAULT_PORT,
        log: Callable[[str], None] = lambda text: None,
    ) -> None:  # fmt: skip
        self.player = player
        self.log = log
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        with named_port(port):
            super().__init__(("127.0.0.1", port), _Connection)

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, unless there are too many."""
        if not self._places.acquire(blocking=False):
            with contextlib.suppress(OSError):
                request.sendall(b"error too many connections\n")
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its thread, then free its place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a broken connection, which is not our error."""
        self.log("a connection broke")


class _Connection(socketserver.StreamRequestHandler):
    timeout = SILENCE

    def handle(self) -> None:
        server = self.server
        assert isinstance(server, ExternalServer)
        server.log("connected")
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for line in read_lines(self.rfile):  # type: ignore[arg-type]
            if line == "":
                continue
            self.wfile.write(server.player.answer(line).encode("utf-8") + b"\n")
        server.log("disconnected")
