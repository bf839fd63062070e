"""`python -m play explain`: its output, and its answers to wrong input."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import games
from play.__main__ import main
from play.judging.explanation import Contribution, contribution_table, explain
from search import Engine, as_evaluator
from search.evaluators.heuristic import LearnedHeuristic

CHECKERS, BACKGAMMON = games.load("checkers"), games.load("backgammon")
FEN = "W:W21,22,K5,30:B1,2,K29,11"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_two_evaluators_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "checkers", FEN, "classic", "rote", "--depth", "3")
    assert re.search(r"^back_row +-1 +0\.08 +-0\.0800$", out, re.M)
    assert re.search(r"^ADV +1 +-0\.000244141 +-0\.0002$", out, re.M)  # -4 of 16384, a man
    assert re.search(r"^sum +-0\.1000 +-0\.0002$", out, re.M)
    engine = Engine(CHECKERS, "classic")
    found = engine.search(CHECKERS.parse_position(FEN), depth=3)
    row = next(line for line in out.splitlines() if line.startswith("classic  "))
    expected = [-0.1, *(one.value for one in found.history)]
    assert row.split()[1:] == [f"{value:+.3f}" for value in expected]
    position = CHECKERS.parse_position(FEN)
    assert f"\nclassic  {found.value:+.3f}  {found.pv_text}\n" in out
    chances = engine.evaluator.chances(position, found.value, found.nodes)
    play = "if both search 2,000 positions a move"
    assert chances is not None and f"\nclassic  {chances.text} {play}\n" in out


def test_without_a_name_it_is_the_evaluator_that_people_play_against(
    capsys: pytest.CaptureFixture[str],
) -> None:
    named = shown(capsys, "connect_four", "start", "solved+solver", "--depth", "3")
    assert shown(capsys, "connect_four", "start", "--depth", "3") == named


def test_outcomes_and_moves_with_a_roll(capsys: pytest.CaptureFixture[str]) -> None:
    network = "data/backgammon/wide.safetensors"
    out = shown(capsys, "backgammon", "start", network, "--roll", "13", "--depth", "0")
    win = as_evaluator(games.load("backgammon"), network).outcomes(
        [games.load("backgammon").start()]
    )
    assert f"  {100 * win[0][0]:.2f} %" in out
    moves = out[out.index("Moves with 31") :].splitlines()
    assert moves[1].strip().startswith("8/5 6/5")
    values = [float(line[26:].split()[0]) for line in moves[1:]]
    assert values == sorted(values, reverse=True) and len(values) == 8
    after = BACKGAMMON.play(BACKGAMMON.start(), BACKGAMMON.parse_move(
        BACKGAMMON.start(), "8/5 6/5", BACKGAMMON.dice.parse("31")))  # fmt: skip
    theirs = as_evaluator(BACKGAMMON, network).outcomes([after])[0]
    assert f"win {100 - 100 * theirs[0]:.1f} %, win gammon {100 * theirs[3]:.1f} %" in moves[1]
    assert len({line.index("win ") for line in moves[1:]}) == 1
    assert "averaged over all orders of adding the things" in out


def test_dice_and_score_of_a_text_are_used_or_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = "XGID=-b----E-C---eE---c-e----B-:1:1:1:31:2:3:0:7:10"
    assert main(["explain", "backgammon", text, "hand", "--depth", "0"]) == 0
    shown = capsys.readouterr().out
    assert "Moves with 31 by hand" in shown and "\n  8/5 6/5 " in shown
    left_out = "game without the cube; they ignore match length, score, cube, owner.\n"
    assert left_out in shown
    assert main(["explain", "backgammon", text, "hand", "--roll", "52"]) == 2
    assert "--roll: expected the dice of the position, 31, found 52" in capsys.readouterr().err
    rollout = ["rollout", "backgammon", text, "hand", "--games", "2", "--best", "2", "--quiet"]
    assert main([*rollout, "--truncate", "2"]) == 0
    shown = capsys.readouterr().out
    assert left_out in shown and "\n8/5 6/5 " in shown
    assert main(["explain", "backgammon", "start", "hand", "--depth", "0"]) == 0
    assert "left out" not in capsys.readouterr().out


def test_the_table_sums_up_what_it_leaves_out() -> None:
    found = [Contribution(n, 1.0, v, v) for n, v in (("a", 3.0), ("b", -2.0), ("c", 0.5))]
    lines = contribution_table(["A"], [found], 1)
    assert [line.split() for line in lines] == [
        ["term", "weight", "A"],
        ["a", "1", "3", "+3.0000"],
        ["2", "more", "-1.5000"],
        ["sum", "+1.5000"],
    ]
    start = explain(as_evaluator(CHECKERS, "classic"), CHECKERS.start())
    assert contribution_table(["classic"], [start]) == ["Nothing: all contributions are 0."]


def test_a_finished_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert "The game is over" in shown(capsys, "checkers", "W:W:B1", "classic")


def test_the_tree_of_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    # the case study of the course, two plies deep: the first reply to 31-26 refutes it
    fen = "W:W20,21,K31:B23,K22"
    out = shown(capsys, "checkers", fen, "material", "--tree", "--depth", "2")
    assert "cut: 22x31 gives -4 <= alpha 1; 1 move not looked at" in out
    assert "value 1; 9 positions valued, of the 10 that minimax values" in out


def test_estimates_of_a_problem_and_of_the_positions_after_its_moves(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    puzzle = games.load("sliding8")
    encoding = puzzle.encodings["tile_pairs"]
    weights = np.random.default_rng(1).random(encoding.size)
    learned = LearnedHeuristic(puzzle, encoding, weights, name="pairs")
    learned.save(tmp_path / "pairs.safetensors")
    tiles = "1 2 5 3 4 8 6 7 0"
    out = shown(capsys, "sliding8", tiles, str(tmp_path / "pairs.safetensors"), "manhattan")
    position = puzzle.parse_position(tiles)
    largest = explain(learned, position)[0]
    row = rf"^{largest.name} +1 +{largest.weight:.6g} +{re.escape(f'{largest.value:+.4f}')}"
    assert re.search(row, out, re.M)
    values = out[out.index("cost of the move") :].splitlines()
    assert values[1].split() == ["move", "8", "7"]
    assert values[3].split() == ["manhattan", "4", "1", "+", "3", "1", "+", "5"]
    after = puzzle.play(position, 5)
    assert f"1 + {learned(after):.4g}" in values[2]


def test_a_heuristic_without_parts_still_has_values(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "pancakes10", "start", "gap")
    assert "gap: not a sum, and pancakes10 has no pieces to take away" in out
    assert re.search(r"^ +gap +\d+ +1 \+ \d+", out, re.M)


def test_nested_lists_are_drawn_without_being_asked(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for options in ([], ["--tree"]):
        assert main(["explain", "tree", "[[3, 12], [2, 4]]", *options]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and "value 3; 3 positions valued" in shown[0]


def test_the_tree_of_nested_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "tree.svg"
    text = "[[3,12,8],[2,4,6],[14,5,2]]"
    out = shown(capsys, "tree", text, "--tree", "--svg", str(picture))
    assert "max [[3, 12, 8], [2, 4, 6], [14, 5, 2]]" in out
    assert "├ 2  MIN  alpha 3, beta +inf  <= 2" in out
    assert "cut: 1 gives 2 <= alpha 3; 2 moves not looked at" in out
    assert "value 3; 7 positions valued, of the 9 that minimax values" in out
    assert picture.read_text("utf-8").startswith("<svg")
    out = shown(capsys, "tree", text, "--tree", "--order", "perfect")
    assert "value 3; 5 positions valued, of the 9" in out  # 3^1 + 3^1 - 1
    out = shown(capsys, "tree", "min [{0.5: 1, 0.5: 4}, 3]", "--tree")
    assert "├ 1  chance  = 2.5" in out and "value 2.5;" in out
