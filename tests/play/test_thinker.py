"""The engine behind games with people: selective by default, with a book while it lasts."""

from __future__ import annotations

from pathlib import Path

import pytest

import games
from games import kernels
from games.checkers import Checkers
from play.book_building import LeafSearch, build_book
from play.players.limits import Limits
from play.players.parse import parse_player
from play.players.thinker import Thinker, judged_play_text
from play.workers import Workers
from search import Engine, as_evaluator, parse_techniques
from search.evaluators.samples import value_mark
from search.lookups.opening_book import BookSettings, OpeningBook

CHECKERS = Checkers()
pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")


def test_searches_are_selective_unless_the_name_or_the_caller_says_otherwise() -> None:
    limits = Limits(depth=9)
    exact = Engine(CHECKERS, "classic").search(CHECKERS.start(), depth=9)
    usual = Thinker(CHECKERS, "classic", limits)
    assert usual.engine.techniques == parse_techniques("selective", CHECKERS)
    assert usual.think(CHECKERS.start()).nodes < exact.nodes / 2
    for thinker in (
        Thinker(CHECKERS, "classic@exact", limits),
        Thinker(CHECKERS, "classic", limits, techniques="exact"),
    ):
        found = thinker.think(CHECKERS.start())
        assert (found.value, found.nodes) == (exact.value, exact.nodes)


def test_the_name_is_short_and_says_all() -> None:
    network = "data/checkers/network.safetensors"
    path = str(Path(__file__).resolve().parents[2] / network)
    assert Thinker(CHECKERS, path, Limits(depth=1)).name == "network.safetensors"
    named = Thinker(CHECKERS, f"{path}@selective,singular=7", Limits(depth=1)).name
    assert named == "network.safetensors@selective,singular=7"


def test_a_book_is_played_from_and_analysis_searches(tmp_path: Path) -> None:
    mark = value_mark(CHECKERS, as_evaluator(CHECKERS, "classic"))
    book = OpeningBook(CHECKERS, BookSettings(player="classic", mark=mark, depth=3))
    search = LeafSearch(CHECKERS, parse_player(CHECKERS, "classic"), Limits(depth=3))
    with Workers(jobs=1) as workers:
        build_book(book, search, 8, workers=workers)
    path = tmp_path / "book.safetensors"
    book.save(path)
    name = f"classic+book:{path}:100"
    thinker = Thinker(CHECKERS, name, Limits(depth=3), seed=1)
    moves = {thinker.think(CHECKERS.start()).move for _ in range(60)}
    assert moves == set(CHECKERS.legal_moves(CHECKERS.start()))
    found = thinker.think(CHECKERS.start())
    assert found.nodes == 0 and found.pv == (found.move,)
    assert thinker.think(CHECKERS.start(), all_moves=True).nodes > 0
    again = [Thinker(CHECKERS, name, Limits(depth=3), seed=4) for _ in range(2)]
    lines = [[one.think(CHECKERS.start()).move for _ in range(9)] for one in again]
    assert lines[0] == lines[1]
    # a position outside the book is searched
    after = CHECKERS.start()
    for _ in range(12):
        after = CHECKERS.play(after, CHECKERS.legal_moves(after)[0])
    assert thinker.think(after).nodes > 0


def test_races_at_home_are_exact_without_being_asked_for() -> None:
    from games.backgammon import Backgammon
    from games.backgammon.situation import position_of

    game, far = Backgammon(), [0] * 19
    position = position_of([0, 3, 2, 2, 0, 0, 0, *far], [0, 1, 2, 0, 0, 3, 1, *far], 0)
    plain, named = (
        Thinker(game, "wide", Limits(depth=0)),
        Thinker(game, "wide+bearoff", Limits(depth=0)),
    )
    found, exact = plain.think(position), named.think(position)
    assert (found.value, found.outcomes) == (exact.value, exact.outcomes)
    bare = Engine(game, as_evaluator(game, "wide"))  # which consults nothing
    assert found.value != bare.search(position, depth=0).value
    # the chances of a search are the tables' as well, in float32: nobody can lose a gammon
    for depth in (0, 1, 2):
        deeper = plain.think(position, limits=Limits(depth=depth))
        assert deeper.outcomes is not None
        win, *gammons = deeper.outcomes
        assert deeper.value == pytest.approx(2 * win - 1, abs=1e-6) and not any(gammons)


def test_moves_are_judged_by_chances_for_the_search_of_each() -> None:
    """A fit for every size of search says so, one for a single size names it; points need none."""
    searched = "if both search as many positions for a move as were searched to judge it"
    for game, name, text in (
        ("checkers", "quantised", searched),
        ("checkers", "classic", "if both search 2,000 positions a move"),
        ("backgammon", "wide", ""),
    ):
        assert judged_play_text(as_evaluator(games.load(game), name)) == text
