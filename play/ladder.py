"""A round robin with joint ratings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from games.contract import Game
from play.match import Match, play_match
from play.openings import Openings
from play.player import Limits, Player
from play.ratings import Rating, rate

__all__ = ["ladder", "plot_ladder"]


def ladder(
    game: Game,
    players: Sequence[Player],
    *,
    limits: Limits,
    games: int = 200,
    openings: Callable[[], Openings] | None = None,
    threads: int = 2,
    seed: int = 0,
    progress: Callable[[Match], None] | None = None,
) -> tuple[list[Rating], list[Match]]:
    """Every player against every other, `games` games each; ratings (best first) and matches.

    The first player is the anchor, rated 0. Raises ValueError for fewer than two players or two
    of one name. Ctrl-C ends it after the match under way; ratings then cover what was played.
    """
    names = [player.name for player in players]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"expected two or more players of different names, found {names}")
    matches: list[Match] = []
    pairings = [(a, b) for i, a in enumerate(players) for b in players[i + 1 :]]
    for first, second in pairings:
        match = play_match(
            game,
            first,
            second,
            limits=limits,
            games=games,
            openings=openings() if openings is not None else None,
            threads=threads,
            seed=seed,
            progress=progress,
        )
        if match.pairs:
            matches.append(match)
        if match.interrupted:
            raise KeyboardInterrupt
    table = {(match.first, match.second): match.summary().tally for match in matches}
    return rate(table, anchor=names[0]), matches


def plot_ladder(path: Any, ratings: Sequence[Rating], title: str) -> None:
    """Ratings with their 95 % intervals, best on top."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.4 + 0.45 * len(ratings)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    lowest = min(rating.elo.value for rating in ratings)
    highest = max(rating.elo.value for rating in ratings)
    room = 0.1 * (highest - lowest) + 20
    for place, rating in enumerate(reversed(ratings)):
        low = max(rating.elo.low, lowest - 10 * room)
        high = min(rating.elo.high, highest + 10 * room)
        axes.plot([low, high], [place, place], color="tab:blue", linewidth=2)
        axes.plot([rating.elo.value], [place], "o", color="tab:blue")
        axes.annotate(
            f"{rating.elo.value:+.0f}",
            (rating.elo.value, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
        )
    axes.set_yticks(range(len(ratings)), [rating.name for rating in reversed(ratings)])
    axes.set_ylim(-0.6, len(ratings) - 0.2)
    axes.set_xlabel(f"Elo, 95 % interval of the difference from {anchor_name(ratings)}")
    axes.set_title(title, loc="left")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def anchor_name(ratings: Sequence[Rating]) -> str:
    """The player whose rating is 0 by definition."""
    for rating in ratings:
        if rating.elo.low == rating.elo.high == rating.elo.value:
            return rating.name
    return "the anchor"
