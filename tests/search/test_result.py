"""A result, an engine and a match as people read them."""

from __future__ import annotations

import pickle
import re

import games
from play.matches.driver import play_match
from play.matches.report import Match
from play.players.limits import Limits
from play.players.parse import parse_player
from search import WIN, Engine, Result, as_evaluator, load_evaluator

CHECKERS, BACKGAMMON = games.load("checkers"), games.load("backgammon")


def test_a_result_tells_its_move_value_chances_and_line() -> None:
    evaluator = load_evaluator("checkers/samuel")
    start = CHECKERS.start()
    result = Engine(CHECKERS, evaluator).search(start, depth=5)
    position, texts = start, []
    for move in result.pv:
        texts.append(CHECKERS.move_text(position, move))
        position = CHECKERS.play(position, move)
    assert result.pv_text == " ".join(texts) and len(texts) > 1
    assert result.value_text == f"{evaluator.in_units(result.value):+.3f} men"
    assert result.chances == evaluator.chances(start, result.value)
    shown = repr(result)
    assert shown.startswith(f"Result({texts[0]}, {result.value_text} (win ")
    assert f"depth 5, {result.nodes:,} nodes in " in shown
    assert shown.endswith(f"pv {result.pv_text})")
    # where a result came from changes neither equality nor a copy
    assert pickle.loads(pickle.dumps(result)) == result
    bare = Result(result.move, result.value, result.pv, 5, result.nodes, result.seconds,
                  result.history, probes=result.probes, hits=result.hits)  # fmt: skip
    assert bare == result
    assert bare.pv_text == " ".join(map(str, result.pv)) and bare.chances is None
    assert repr(bare).startswith(f"Result({result.move}, ")


def test_a_proven_win_has_no_number() -> None:
    result = Engine(CHECKERS, "classic").search(CHECKERS.parse_position("B:W32:BK27,K18"), depth=8)
    assert result.plies_to_end == 5 and result.value == WIN - 5
    assert result.value_text == "won in 5 plies"
    assert result.chances == (1.0, 0.0, 0.0)
    assert repr(result).startswith("Result(18-23, won in 5 plies, depth ")


def test_results_with_dice_and_of_a_finished_game() -> None:
    engine = Engine(BACKGAMMON, "wide")
    result = engine.search(BACKGAMMON.start(), roll=BACKGAMMON.dice.parse("31"), depth=0)
    assert result.outcomes is not None
    win = f"win {100 * result.outcomes[0]:.0f} %"
    assert repr(result).startswith(f"Result(8/5 6/5, {result.value:+.3f} points ({win}), depth 0")
    assert engine.search(BACKGAMMON.start(), depth=0).pv_text == ""
    over = Engine(CHECKERS, "classic").search(CHECKERS.parse_position("B:W32:B"), depth=3)
    assert repr(over) == "Result(lost, depth 0, 0 nodes in 0.00 s)"


def test_engines_evaluators_and_matches() -> None:
    engine = Engine(CHECKERS, "classic", techniques="late_moves=1.2")
    linear = "LinearEvaluator(checkers, classic, 'classic')"
    assert re.fullmatch(
        rf"Engine\(checkers, {re.escape(linear)}, alpha-beta late_moves=1.2, (native|in Python)\)",
        repr(engine),
    )
    zero = as_evaluator(CHECKERS, None)
    assert repr(zero) == "PythonEvaluator(checkers, 'zero')"
    match = Match(CHECKERS, ("a", "b"), Limits(depth=3))
    assert repr(match) == "Match(a against b, 0 games)"
    players = [parse_player(CHECKERS, name) for name in ("classic", "material")]
    played = play_match(CHECKERS, *players, limits=Limits(depth=1), games=2)
    counts = played.summary()
    assert repr(played).startswith(
        f"Match(classic against material, 2 games, +{counts.wins} ={counts.draws} -{counts.losses}"
    )
