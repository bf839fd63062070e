"""Passes over the rows of a fit, and steps within bounds: the native part."""

from __future__ import annotations

import math

from games.kernels import kernel

__all__ = ["bounded_step", "gram", "losses", "slope", "squares", "sums", "times"]


@kernel
def times(start, term, count, weights, found):
    """Write the sum of weights times counts of each row."""
    for row in range(len(found)):
        total = 0.0
        for i in range(start[row], start[row + 1]):
            total += count[i] * weights[term[i]]
        found[row] = total


@kernel
def slope(start, term, count, slopes, found):
    """Add slopes times counts to each column."""
    for row in range(len(slopes)):
        slope = slopes[row]
        if slope == 0.0:
            continue
        for i in range(start[row], start[row + 1]):
            found[term[i]] += slope * count[i]


@kernel
def gram(start, term, count, weights, found):
    """Add each pair of entries once; the sum of `found` and its transpose has all, but for twice
    the diagonal.
    """
    for row in range(len(weights)):
        if weights[row] == 0.0:
            continue
        for i in range(start[row], start[row + 1]):
            here, share = term[i], weights[row] * count[i]
            for j in range(start[row], i):
                both = share * count[j]
                found[here, term[j]] += both + both if term[j] == here else both
            found[here, here] += share * count[i]


@kernel
def sums(start, term, count, slopes, place, sums):
    """Add slopes times counts of each row to the columns of its place."""
    for row in range(len(slopes)):
        for i in range(start[row], start[row + 1]):
            sums[place[row], term[i]] += slopes[row] * count[i]


@kernel
def losses(logits, targets, weights, squared, each, slopes, bends):
    """Write the loss of each row and its derivatives by the logit, all times the row's weight.

    bends: the second derivative, of the squared error without its part that can be below 0
        (Gauss-Newton).
    """
    for i in range(len(logits)):
        logit, weight = logits[i], weights[i]
        small = math.exp(-abs(logit))
        expected = (1.0 if logit >= 0 else small) / (1.0 + small)
        away, spread = expected - targets[i], small / ((1.0 + small) * (1.0 + small))
        if squared:
            each[i] = weight * away * away
            slopes[i] = weight * 2.0 * away * spread
            bends[i] = weight * 2.0 * spread * spread
        else:
            each[i] = weight * (max(logit, 0.0) + math.log1p(small) - targets[i] * logit)
            slopes[i] = weight * away
            bends[i] = weight * spread


@kernel
def bounded_step(curved, steep, point, low, high, step, sweeps):
    """Coordinate descent to the bottom of the quadratic within bounds.

    steep: the gradient at `point`; changed to that of the quadratic at `point + step`.
    """
    for _ in range(sweeps):
        most = 0.0
        for j in range(len(step)):
            bend = curved[j, j]
            if bend <= 0.0:
                continue
            here = point[j] + step[j]
            there = min(max(here - steep[j] / bend, low[j]), high[j])
            change = there - here
            if change != 0.0:
                step[j] += change
                for k in range(len(step)):
                    steep[k] += change * curved[j, k]
                most = max(most, bend * change * change)
        if most < 1e-18:
            break


@kernel
def squares(start, term, count, weights, found):
    """Add the weight of each row times the square of its counts to the columns."""
    for row in range(len(weights)):
        for i in range(start[row], start[row + 1]):
            found[term[i]] += weights[row] * count[i] * count[i]
