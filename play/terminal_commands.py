"""The commands of `python -m play` for people in a terminal; each names what runs it."""

from __future__ import annotations

from typing import Any

from play.explain_command import add_explain_options

__all__ = ["add_terminal_commands"]


def add_terminal_commands(commands: Any) -> None:
    """Add them to the subcommands of a parser."""
    add_explain_options(commands.add_parser("explain", help="why a position has its value"))
