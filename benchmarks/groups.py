"""The mean rating of several runs of a learner, with the luck of a run in its interval."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtri, stdtrit

from play.ratings.bradley_terry import ELO_PER_NAT, strengths
from play.ratings.statistics import Estimate, Tally

__all__ = ["rate_groups"]


def rate_groups(
    table: Mapping[tuple[str, str], Tally], groups: Mapping[str, Sequence[str]], *, anchor: str
) -> dict[str, Estimate]:
    """Returns for each group the mean difference of such players from the anchor, in Elo.

    table: results as in `rate`.
    groups: names of the players of each group, a sample such as one learner's results by seed.
    anchor: the player whose rating is 0.

    The 95 % interval is for the mean of all players of the kind. Its variance is the sample
    variance over the members by their number, which includes the error of each member's own games,
    and the part of the fit's error that the members share: the anchor's, and that of opponents they
    have in common. The quantile is Student's t with the degrees of freedom of this sum
    (Satterthwaite, 1946). The interval is never narrower than that of the games alone, which is
    the interval of a group of one member, as in `rate`.

    Raises ValueError as `rate` does.
    """
    names, found, covariance = strengths(table, anchor=anchor)
    zero = names.index(anchor)
    means = {}
    for group, members in groups.items():
        places = [names.index(member) for member in members]
        count = len(places)
        contrast = np.zeros(len(names))
        contrast[places] = 1 / count
        contrast[zero] -= 1
        errors = float(contrast @ covariance @ contrast)
        margin = float(ndtri(0.975)) * math.sqrt(max(errors, 0.0))  # of the games alone
        sample = float(np.var(found[places])) / max(count - 1, 1)
        if sample:
            own = covariance[np.ix_(places, places)]
            apart = (np.trace(own) - own.sum() / count) / (count - 1)
            variance = sample + max(errors - apart / count, 0.0)
            quantile = stdtrit((count - 1) * (variance / sample) ** 2, 0.975)
            margin = max(margin, float(quantile) * math.sqrt(variance))
        margin *= ELO_PER_NAT
        value = ELO_PER_NAT * float(contrast @ found)
        means[group] = Estimate(value, value - margin, value + margin)
    return means
