"""Feature sets of backgammon: their terms, and the evaluators that use them."""

from __future__ import annotations

from games.backgammon import linear_terms, race_terms, terms
from games.backgammon.pips import other_side
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

#: Inputs of networks next to the raw board: 31 terms of each side and the chance in the race.
EXPERT = FeatureSet.of_both_sides("expert", _BOTH, other_side, race_chance=race_terms.race_chance)

#: Terms for hand-crafted and learned weights: differences between the sides, except for shots,
#: because the side to move shoots first.
LINEAR = FeatureSet(
    "linear",
    {
        **linear_terms.TERMS,
        "shots": terms.shots,
        "their_shots": terms.shots,
        "damage": terms.damage,
        "their_damage": terms.damage,
    },
    other_side,
    frozenset({"their_shots", "their_damage"}),
)
