"""The browser's page from the command line: `python -m play web`."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

from play.commands.options import add_features, with_features
from programs.arguments import in_range

__all__ = ["add_web_command", "run_web"]

PORT = 8642


def add_web_command(commands: Any) -> None:
    """Add `web` to the subcommands of a parser."""
    web = commands.add_parser("web", help="play in the browser, and see what was learned")
    add = web.add_argument
    add("--port", type=in_range(0, 65535), default=PORT, help=f"port on 127.0.0.1 (default {PORT})")
    add("--runs", type=Path, default=Path("runs"), help="folder of training runs")
    add(
        "--kept",
        type=Path,
        metavar="FOLDER",
        help="where the games that are played are kept (default: in your own state folder)",
    )
    add(
        "--game",
        action="append",
        default=[],
        metavar="MODULE:CLASS",
        help="a game or a puzzle of your own to play as well; may be given several times (once"
        " with --features, whose game it is; then it may be a game by name)",
    )
    add_features(web)
    web.set_defaults(run=run_web, talks=True)


def run_web(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit status.

    Raises ModuleNotFoundError without the extra `web`, and OSError if the port is taken or a file
    cannot be read.
    """
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"the browser's page needs {' and '.join(missing)}: pip install 'plysmith[web]', or in"
            " a clone pip install -e '.[web]'"
        )
    from platformdirs import user_state_path

    import games
    from play.web.server import serve
    from search.evaluators.files.shipped import DATA

    def started(port: int) -> None:
        print(f"Plysmith is at http://127.0.0.1:{port}/ (Ctrl-C ends it)", flush=True)

    own = [games.load(name) for name in options.game]
    if options.features is not None:
        if len(own) != 1:
            raise ValueError(f"--features: expected one --game, found {len(own)}")
        own = [with_features(own[0], options)]
    folder = options.kept or user_state_path("plysmith") / "games"
    serve(data=DATA, runs=options.runs, port=options.port, started=started, kept=folder, own=own)
    return 0
