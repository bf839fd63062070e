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

companions(f"{__name__}.extras")

__all__, __getattr__, __dir__ = exported(__name__, __file__)
