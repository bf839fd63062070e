"""Where evaluators meet opponents: `from play import match, explain, judge, Player, Limits`.

A name is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from games.extras import companions
from programs.exports import exported

if TYPE_CHECKING:
    from play.judging.explanation import explain as explain
    from play.judging.judges import judge_games as judge  # noqa: F401
    from play.judging.search_tree import search_tree as search_tree
    from play.judging.truth import Referees as Referees
    from play.judging.truth import random_positions as random_positions
    from play.matches.driver import play_match as match  # noqa: F401
    from play.matches.ladder import ladder as ladder
    from play.matches.openings import Openings as Openings
    from play.players.limits import Limits as Limits
    from play.players.opponents import Opponents as Opponents
    from play.players.parse import parse_player as parse_player
    from play.players.parse import seated as seated
    from play.players.player import Player as Player
    from play.protocols.openspiel import openspiel_bot as openspiel_bot
    from play.workers import Workers as Workers

#: The modules that the names come from.
_MODULES = {
    "Limits": "play.players.limits",
    "Openings": "play.matches.openings",
    "Opponents": "play.players.opponents",
    "Player": "play.players.player",
    "Referees": "play.judging.truth",
    "Workers": "play.workers",
    "explain": "play.judging.explanation",
    "judge": "play.judging.judges:judge_games",
    "ladder": "play.matches.ladder",
    "match": "play.matches.driver:play_match",
    "openspiel_bot": "play.protocols.openspiel",
    "parse_player": "play.players.parse",
    "random_positions": "play.judging.truth",
    "search_tree": "play.judging.search_tree",
    "seated": "play.players.parse",
}

__all__ = list(_MODULES)

companions(f"{__name__}.extras")

__getattr__, __dir__ = exported(__name__, _MODULES)
