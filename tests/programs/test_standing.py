"""What pages say of shipped evaluators was measured of the files that ship."""

from __future__ import annotations

import re

import pytest

from benchmarks.standing import (
    HEADLINE,
    MEASUREMENTS,
    SCALE,
    Measurement,
    load,
    pages,
    stale,
    with_figures,
)


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda one: one.command[:60])
def test_a_figure_is_of_the_file_that_ships(measurement: Measurement) -> None:
    """A change of files or command makes it stale."""
    entry = load()[measurement.command]
    command = f"python -m benchmarks.standing {measurement.game}"
    assert not stale(measurement, load()), f"expected a measurement of these files: {command}"
    for name in entry["digests"]:
        other = entry | {"digests": entry["digests"] | {name: "0" * 12}}
        assert stale(measurement, {measurement.command: other})
    assert stale(measurement, {f"{measurement.command} --plies 4": entry})


def test_pages_say_what_was_measured() -> None:
    texts = {path.relative_to(path.parents[1]): path.read_text("utf-8") for path in pages()}
    assert {name: with_figures(text) for name, text in texts.items()} == texts
    shown = set(re.findall(r"<!-- standing: (\w+) -->", "".join(texts.values())))
    assert shown == {HEADLINE, SCALE, *(one.game for one in MEASUREMENTS)}
    assert {one.command for one in MEASUREMENTS} == set(load())
