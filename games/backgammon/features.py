"""Feature sets of backgammon: what its terms are, and which evaluators read them."""

from __future__ import annotations

from games.backgammon import race_terms, terms, their_terms
from games.features import FeatureSet

_BOTH = {
    **{
        name: getattr(terms, name)
        for name in (
            "pips", "borne_off", "shots", "damage", "choices", "home_blots", "on_bar", "shut_out",
            "home_points", "prime", "barrier", "containment", "anchor", "deep_anchor",
            "last_checker", "escapes", "trapped", "to_pass", "passed_pips", "timing", "stacked",
            "out_of_play", "builders", "gaps", "spread",
        )
    },
    **{
        name: getattr(race_terms, name)
        for name in (
            "waste", "rolls_left", "home_gaps", "gammon_race", "gammon_pips", "backgammon_pips",
        )
    },
}  # fmt: skip

#: 31 terms of either side and the chance of the race: inputs of networks, beside raw ones.
EXPERT = FeatureSet(
    "expert",
    {
        **_BOTH,
        **{f"their_{name}": getattr(their_terms, f"their_{name}") for name in _BOTH},
        "race_chance": race_terms.race_chance,
    },
)
