"""The grammar of the texts that name players, in matches, at a board and as engines.

`play.players.parse` makes the players. Texts are split here without knowing the game.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "GRAMMAR",
    "PLAYER_HELP",
    "PROGRAM",
    "PlayerText",
    "describe_players",
    "quoted",
    "split",
    "unquoted",
]

#: The beginning of a player that is a command to run: its protocol, and options of the engine.
PROGRAM = re.compile(r"(hub|uci)(?:\[([^\]]*)\])?:")
#: The description of players in `--help`.
GRAMMAR = """\
a player is one of
  EVALUATOR[+LOOKUP...][@OPTION,...]   an evaluator, the lookups of its search, and its options
  random                               any legal move
  level1, level2 ...                   a level of the game, from a beginner's to the strongest
  hub:COMMAND, uci:COMMAND             the engine that COMMAND starts, which speaks Hub (checkers)
                                       or UCI (games without dice); uci[NAME=VALUE;...]:COMMAND
                                       sets options of the engine
  pubeval, gnubg:0, gnubg:1, gnubg:2   backgammon: external engines, where gnubg_nn is installed
EVALUATOR is a hand-crafted evaluator by name, a shipped one such as checkers/quantised, or a file.
LOOKUP is one of
  NAME                 a database of the game: in checkers results5 (of 5 pieces, with lengths
                       of 4), which quantised consults without it, endgame (of 4), endgame5
                       and endgame6 (plysmith endgame build), in backgammon bearoff, which
                       evaluators that give chances of outcomes consult without it, in
                       connect_four openings and solver
  none                 no database at all
  FILE                 a rote memory
OPTION is one of
  depth=PLIES, nodes=N, seconds=S   limits of this player, instead of the match's limits; PLIES
                                    alone stands for depth=PLIES
  threads=N                         threads that share a search
  noise=SIZE                        errors of the values, fixed by the position; with 1 their
                                    standard deviation is the evaluator's usual value
  table=MIB                         size of the transposition table (default: fits the limits)
  paranoid, best_reply, max_n       with more than two players: what the others are expected to do
  filters=NAME                      with dice: move filters; 2:normal is depth=2,filters=normal,
                                    and 1:look is depth 0 with a search of 1 ply to choose between
                                    two moves that are nearly equal
  TECHNIQUE                         for two without dice: exact or selective (the default), then a
                                    list such as -singular,late_moves=0.8 (see docs/play.md)
A FILE with + @ , or : goes between double quotes, such as '"a+b.json"@selective'; "" in it is ".
"""


#: The help of an argument that names a player; `describe_players` adds the grammar below it.
PLAYER_HELP = "a player, as described below"


def describe_players(command: argparse.ArgumentParser, *, others: bool = True) -> None:
    """Add the grammar below the help of a command whose arguments name players.

    others: whether players without an evaluator are accepted too.
    """
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = GRAMMAR.splitlines(keepends=True)
    command.epilog = (
        GRAMMAR if others else "".join(["a player is\n", lines[1], lines[3], *lines[8:]])
    )


@dataclass(frozen=True)
class PlayerText:
    """The parts of a text EVALUATOR[+LOOKUP...][@OPTION,...], still with their quotes."""

    evaluator: str
    lookups: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def source(self) -> Any:
        """The evaluator's name or path; a path if it is in quotes, otherwise the text."""
        return Path(unquoted(self.evaluator)) if '"' in self.evaluator else self.evaluator

    @property
    def short(self) -> str:
        """The text for people to read: files without their folders."""
        names = [Path(unquoted(part)).name for part in (self.evaluator, *self.lookups)]
        return "+".join(names) + ("@" + ",".join(self.options)) * bool(self.options)


def split(text: str) -> PlayerText:
    """Returns the parts of a text that names a player with an evaluator.

    Raises ValueError if a quote does not end or a part is empty.
    """
    who, *how = _cut(text, "@", 1)
    evaluator, *lookups = _cut(who, "+")
    options = _cut(how[0], ",") if how else []
    if not all(lookups):
        raise ValueError(f"player: expected EVALUATOR+LOOKUP, a name after the +, found {text!r}")
    if not all(options):
        raise ValueError(f"player: expected EVALUATOR@OPTION, a name after the @, found {text!r}")
    return PlayerText(evaluator, tuple(lookups), tuple(options))


def quoted(path: Any) -> str:
    """Returns a path for the text of a player, in quotes if it needs them."""
    text = str(path)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[+@,:"\s]', text) else text


def _cut(text: str, sign: str, most: int = -1) -> list[str]:
    """Returns a text's parts between signs outside quotes, with at most `most` cuts.

    Raises ValueError if a closing quote is missing.
    """
    tokens = re.findall(rf'(?:"[^"]*"|[^"{sign}])+|[{sign}]|"', text)
    if '"' in tokens:
        raise ValueError(f"player: expected a closing quote, found {text!r}")
    parts = [""]
    for token in tokens:
        if token == sign and len(parts) != most + 1:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def unquoted(part: str) -> str:
    """Returns a part of a text without its quotes; a doubled quote within quotes stands for one."""
    return re.sub(r'"((?:[^"]|"")*)"', lambda found: found[1].replace('""', '"'), part)
