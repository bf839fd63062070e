"""Texts about an evaluator for people who choose one: a sentence, and its known strength.

Each fact has one source: the card of a shipped evaluator in `data/README.md`, the definition of a
hand-crafted one, and for a file of a run its provenance and the run's own measurements.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from games.contract import Game
from games.problem import Heuristic
from play.ratings.statistics import Estimate
from play.web.runs import FIRST, FIRST_PLACES, POINTS_A_GAME, matches_of, strength_of
from programs.phrases import listed

__all__ = ["cards", "hand_crafted", "learned", "measured"]

CARDS = "README.md"
LONGEST = 240  # characters of a text for people
MOST_TERMS = 6
MOST_OPPONENTS = 3
_CARD = re.compile(r"^## (\S+/\S+)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^- \*\*(What|Strength):\*\* (.*?)(?=^- |^$|\Z)", re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"^\| `(\S+/\S+)` \| ([+-]?[\d.]+(?: %)?) \| (.+) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def cards(folder: Path) -> dict[str, tuple[str, str]]:
    """Returns the description and the strength of each card in a folder of evaluators.

    The keys are names such as "checkers/quantised". Empty if the folder has no cards. The strength
    is taken from the table that compares a game's evaluators, else from the card.
    """
    try:
        text = (folder / CARDS).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    texts = {}
    for name, body in _CARD.findall(text):
        items = {title: _plain(content) for title, content in _ITEM.findall(body)}
        texts[name] = (items.get("What", ""), items.get("Strength", ""))
    for name, figure, words in _FIGURE.findall(text):
        texts[name] = (texts.get(name, ("", ""))[0], f"{figure} {words}")
    return texts


def hand_crafted(game: Game, name: str) -> str:
    """Returns a sentence about an evaluator written by hand, from its definition in the game."""
    entry = game.evaluators[name]
    if isinstance(entry, tuple):
        features, weights = entry
        if not isinstance(weights, Mapping):
            return f"Weights over the terms of {features}, set by hand."
        terms = [term.replace("_", " ") for term in weights]
        many = f"{len(terms)} terms" if len(terms) > 1 else "One term"
        return f"{many} with weights set by hand: {listed(terms, MOST_TERMS)}."
    function = entry.value if isinstance(entry, Heuristic) else entry
    text = inspect.getdoc(getattr(function, "py_func", function)) or ""
    return _plain(text.partition("\n\n")[0])


def learned(provenance: Any) -> str:
    """Returns a sentence about a learned evaluator from the provenance in its file."""
    if not isinstance(provenance, dict):
        return ""
    learner, details = provenance.get("learner"), dict(provenance)
    if isinstance(learner, dict):
        details = learner | details
        learner = learner.get("learner")
    if not isinstance(learner, str):
        return ""
    parts = [f"learned by {learner}"]
    games = provenance.get("games")
    if type(games) is int:
        parts.append(f"from {games:,} games")
    for name in ("depth", "seed"):
        if type(details.get(name)) is int:
            parts.append(f"{name} {details[name]}")
    return _plain(", ".join(parts))


def measured(run: Path) -> dict[str, str]:
    """Returns the strengths of a run's files as the run measured them.

    The keys are files without their suffix, relative to the run's folder: "snapshots/000200" and
    "best", the one of the final matches.
    """
    strength = strength_of(run)
    forms = {POINTS_A_GAME: "{:+.3f} points a game", FIRST: "first in {:.0f} %"}
    form = forms.get(strength["unit"], "{:.0f} %")
    texts: dict[str, list[str]] = {}
    for opponent, curve in strength["curves"].items():
        for game, value, *_ in curve:
            number = f"snapshots/{int(game):06d}"
            texts.setdefault(number, []).append(f"{form.format(value)} against {opponent}")
    for match in matches_of(run):
        value, low, high = match["value"], match["low"], match["high"]
        if (value, low, high) != (None, None, None):
            ends = math.inf if value is None else value, -math.inf if low is None else low
            estimate = Estimate(*ends, math.inf if high is None else high)
            if match["unit"] == FIRST_PLACES:
                text = f"first in {100 * estimate.value:.0f} %"
            else:
                text = estimate.text("+.0f" if match["unit"] == "Elo" else "+.3f")
                text += f" {match['unit']}"
            texts.setdefault("best", []).append(f"{text} against {match['opponent']}")
    return {name: _plain(", ".join(parts[:MOST_OPPONENTS])) for name, parts in texts.items()}


def _plain(text: str) -> str:
    """Returns a text without Markdown, on one line, of limited length, as a sentence begins."""
    text = " ".join(_LINK.sub(r"\1", text).replace("`", "").split())
    text = text[:1].upper() + text[1:]
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
