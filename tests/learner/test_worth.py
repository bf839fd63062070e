"""The worth of terms: verdicts and matches with and without."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from marks import compiled_only

from games.checkers import Checkers
from games.checkers.features import CLASSIC
from games.feature_file import load_features
from games.features import FeatureSet
from games.kernels import kernel
from games.tic_tac_toe import TicTacToe
from learner.arena import Strength
from learner.gradient.root_strap import RootStrap
from learner.reports.worth import (
    Worth,
    carried_over,
    measure_speeds,
    new_terms,
    start_for,
    without_term,
    worth,
    worths,
)
from learner.rounds.network_fit import NetworkFit
from learner.rounds.samuel import Samuel
from learner.run.learners import feature_file, make_learner
from learner.run.settings import RunSettings
from play.players.limits import Limits
from play.ratings.statistics import MatchSummary
from search import LinearEvaluator, as_evaluator

CHECKERS = Checkers()
EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/my_features.py"


def of_pairs(*counts: int, terms: tuple[str, ...] = ("mine",)) -> Worth:
    """Returns a match with the given numbers of pairs with 0, ½, 1, 1½ and 2 points."""
    scored = {0: (0.0, 0.0), 1: (0.5, 0.0), 2: (1.0, 0.0), 3: (1.0, 0.5), 4: (1.0, 1.0)}
    pairs = [scored[place] for place, count in enumerate(counts) for _ in range(count)]
    found = MatchSummary.of_pairs(pairs)
    elo = found.elo
    return Worth(terms, Strength(
        "the others", found.games, found.wins, found.draws, found.losses, found.score.value,
        elo.value, elo.low, elo.high,
    ))  # fmt: skip


# --- verdicts --------------------------------------------------------------------------------


@pytest.mark.plain
def test_verdicts_follow_the_interval() -> None:
    won = of_pairs(10, 20, 100, 60, 40)
    assert (won.verdict, won.games_needed) == ("earned", 0)
    assert won.match.low > 0
    lost = of_pairs(40, 60, 100, 20, 10)
    assert (lost.verdict, lost.games_needed) == ("cost", 0)
    level = of_pairs(20, 20, 50, 20, 20)
    assert (level.verdict, level.games_needed) == ("undecided", None)
    assert of_pairs(0, 0, 7, 0, 0).games_needed is None  # nothing but level pairs


@pytest.mark.plain
def test_about_so_many_more_games_would_decide() -> None:
    """The slow twin: the same results again and again until the interval leaves 0."""
    counts = (20, 24, 60, 28, 22)
    close = of_pairs(*counts)
    assert close.verdict == "undecided" and close.games_needed is not None
    total = close.match.games + close.games_needed
    times = next(
        n for n in itertools.count(1)
        if of_pairs(*(count * n for count in counts)).verdict == "earned"
    )  # fmt: skip
    assert total == pytest.approx(times * close.match.games, rel=0.1)


@pytest.mark.plain
def test_what_is_said() -> None:
    text = of_pairs(10, 20, 100, 60, 40).text().splitlines()
    assert text[0].startswith("against the others: ") and "of 460 games (+" in text[0]
    assert text[1] == "mine has earned its place"
    both = ("one", "two")
    assert (
        of_pairs(40, 60, 100, 20, 10, terms=both).text().endswith("one and two have cost strength")
    )
    three = (*both, "three")
    open_ = of_pairs(20, 24, 60, 28, 22, terms=three).text().splitlines()[1]
    assert open_.startswith("one, two and three: 308 games do not decide; at this rate")
    assert of_pairs(1, 0, 5, 0, 1).text().endswith("mine: 14 games do not decide")
    found = of_pairs(10, 20, 100, 60, 40).as_dict()
    assert found["verdict"] == "earned" and found["wins"] + found["draws"] + found["losses"] == 460
    assert found["low"] < found["value"] < found["high"]


# --- evaluators with and without -------------------------------------------------------------


@kernel
def ones(position):
    """1 with a piece."""
    return 1 if position[0] else 0


@kernel
def men(position):
    """Another term that is called men."""
    return position[0] & 1


MORE = FeatureSet("more", {**CLASSIC.terms, "ones": ones}, CLASSIC.swap)


@pytest.mark.plain
def test_weights_are_carried_over_by_name() -> None:
    classic = as_evaluator(CHECKERS, "classic")
    assert isinstance(classic, LinearEvaluator)
    more = carried_over(classic, MORE)
    assert more.term_weights() == {**classic.term_weights(), "ones": 0.0}
    position = CHECKERS.parse_position("B:W18,22,K27:B1,2,3,4,K5")
    assert more(position) == pytest.approx(classic(position))
    back = carried_over(without_term(more, "ones"), CLASSIC)
    assert back.term_weights() == classic.term_weights()
    other = FeatureSet("other", {**CLASSIC.terms, "men": men}, CLASSIC.swap)
    with pytest.raises(ValueError, match="found other definitions of men"):
        carried_over(classic, other)
    with pytest.raises(ValueError, match="term: expected one of men, kings"):
        without_term(classic, "ones")


@pytest.mark.plain
def test_where_learning_starts() -> None:
    learner = RootStrap(CHECKERS, inputs=MORE)
    for none in (None, "zero"):
        assert start_for(CHECKERS, none, learner) is None
    start = start_for(CHECKERS, "material", learner)
    assert start.features is MORE and start.term_weights()["kings"] == 5.0
    # of weights with the terms, those without go on from what they share
    mine = LinearEvaluator(CHECKERS, MORE, {"men": 1.0, "ones": 3.0})
    usual = RootStrap(CHECKERS)
    assert start_for(CHECKERS, mine, usual).term_weights()["men"] == 1.0
    assert start_for(CHECKERS, mine, usual).features == CLASSIC
    # what has nothing to do with the learner's terms is for the learner to refuse
    assert start_for(CHECKERS, "classic", Samuel(CHECKERS)).features == CLASSIC
    assert new_terms(learner, usual) == ["ones"]
    assert new_terms(usual, learner) == []
    assert new_terms(NetworkFit(CHECKERS), usual) == []


@compiled_only
def test_a_term_that_says_who_wins_is_found_to_be_worth_it() -> None:
    """Without the kings' worth, material is misjudged."""
    mine = LinearEvaluator(CHECKERS, CLASSIC, {"men": 1.0, "kings": 1.5, "back_row": 0.01})
    none = LinearEvaluator(CHECKERS, CLASSIC, {"kings": 0.01})
    options: dict[str, Any] = {"limits": Limits(depth=2), "terms": ["men", "kings"]}
    together, men_alone, kings_alone = worths(CHECKERS, mine, none, games=40, **options)
    assert (together.verdict, together.terms) == ("earned", ("men", "kings"))
    assert together.match.games == 40 and men_alone.match.games == 20
    assert men_alone.match.opponent == "the same weights without men"
    assert men_alone.match.score > 0.5
    against = "the same learner without"
    again = worth(CHECKERS, mine, none, games=40, threads=1, against=against, **options)
    assert again.match == together.match  # whoever plays
    assert kings_alone.terms == ("kings",)


def test_speeds_are_nodes_over_time() -> None:
    game = TicTacToe()
    clock = itertools.count(0.0, 0.5)
    found = measure_speeds(game, as_evaluator(game, None), as_evaluator(game, None),
                           clock=lambda: next(clock))  # fmt: skip
    assert found.mine == found.other > 0
    assert found.text().endswith("without (+0 %)")


# --- learners with a file --------------------------------------------------------------------


def settings(learner: str, **options: Any) -> RunSettings:
    return RunSettings(
        game="checkers", learner=learner, games=2, depth=2, features=str(EXAMPLE), options=options,
        opponents=("material",), pacemakers=("material",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "base"),
    [("samuel", "samuel"), *((name, "classic") for name in ("batch", "td", "tdleaf", "rootstrap"))],
)
def test_a_file_joins_the_usual_set(name: str, base: str) -> None:
    learner = make_learner(CHECKERS, settings(name), None, file=EXAMPLE)
    features = learner.get_params(deep=False)["inputs"]
    assert features.name == f"{base}+refuge+passed_men"
    usual = make_learner(CHECKERS, replace(settings(name), features=None), None)
    assert new_terms(learner, usual) == ["refuge", "passed_men"]
    if name == "samuel":
        learner.prepare()
        assert isinstance(learner, Samuel) and list(learner.active_)[:2] == ["refuge", "passed_men"]


def test_another_set_and_networks(tmp_path: Path) -> None:
    learner = make_learner(CHECKERS, settings("batch", inputs="samuel"), None, file=EXAMPLE)
    assert learner.get_params()["inputs"].name == "samuel+refuge+passed_men"
    with pytest.raises(ValueError, match="--set inputs: expected one of classic, samuel, found"):
        make_learner(CHECKERS, settings("batch", inputs="x"), None, file=EXAMPLE)
    with pytest.raises(ValueError, match="network reads the encoding piece_squares .* no terms"):
        make_learner(CHECKERS, settings("network"), None, file=EXAMPLE)
    network = make_learner(CHECKERS, settings("network", inputs="classic"), None, file=EXAMPLE)
    assert network.get_params()["inputs"].name == "classic+refuge+passed_men"


def test_a_run_resumes_with_the_file_that_it_began_with(tmp_path: Path) -> None:
    chosen = settings("batch")
    assert feature_file(replace(chosen, features="samuel"), tmp_path, resume=False) is None
    assert feature_file(chosen, tmp_path, resume=False) == EXAMPLE
    copy = tmp_path / "features.py"
    typed = replace(chosen, features=str(copy))
    with pytest.raises(FileNotFoundError, match=r"features.py: expected a file with features"):
        feature_file(typed, tmp_path, resume=True)
    copy.write_bytes(EXAMPLE.read_bytes())
    assert feature_file(typed, tmp_path, resume=True) == copy
    copy.write_bytes(EXAMPLE.read_bytes() + b"\n")
    with pytest.raises(ValueError, match=r"the run began with, of which .*features.py is a copy"):
        feature_file(chosen, tmp_path, resume=True)


# --- the example -----------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize(
    ("fen", "refuge", "passed"),
    [
        ("B:WK18,K22:BK1", 1, 0),
        ("W:WK18,K22:BK1", -1, 0),
        ("B:WK18:BK1", 0, 0),  # nobody is ahead
        ("B:WK18,K22:B1", 0, 0),  # a man is no king
        ("B:WK18,K22:BK2", 0, 0),
        ("B:W7:B21", 0, 0),  # both may pass: one man each
        ("B:WK1,K2:B21", 0, 1),
        ("B:WK30,K2:B21", 0, 0),  # 30 lies before the man on 21
        ("B:W27,K1:B18,10", 0, 0),  # White's man on 27 sees 18 and 10
    ],
)
def test_the_terms_of_the_example(fen: str, refuge: int, passed: int) -> None:
    features = load_features(EXAMPLE, CHECKERS).only(["refuge", "passed_men"])
    both = FeatureSet("both", features.terms, CLASSIC.swap)
    assert both.values(CHECKERS.parse_position(fen)) == [refuge, passed]
