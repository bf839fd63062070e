"""Features from the user's own file: valid ones are accepted, others refused with a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of

from games.checkers import Checkers
from games.checkers.features import CLASSIC, SAMUEL
from games.feature_file import FeatureFileError, add_features, file_digest, load_features
from games.tic_tac_toe import TicTacToe
from play.players.parse import parse_player
from search import EvaluatorError, LinearEvaluator, load_evaluator

CHECKERS = Checkers()
HEAD = "from games.kernels.bits import popcount\nfrom games.kernels.compiler import kernel\n\n\n"
TWO = (
    HEAD
    + '''GOAL = 3


@kernel
def _pieces(position):
    return popcount(position[0])


@kernel
def pieces_squared(position):
    """Pieces, squared."""
    return _pieces(position) ** 2


@kernel
def past_goal(position):
    """1 with more than GOAL pieces."""
    return 1 if _pieces(position) > GOAL else 0
'''
)


def written(folder: Path, text: str, name: str = "my_features.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def squared(position: Any) -> float:
    """Returns the slow twin of `pieces_squared`, as a difference of both sides."""
    own, opponent = (bin(side).count("1") for side in position[:2])
    return float(own**2 - opponent**2)


# --- what is taken ---------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.thorough
def test_terms_of_a_file_join_those_of_a_set(tmp_path: Path) -> None:
    features = load_features(written(tmp_path, TWO), CHECKERS, CLASSIC)
    assert features.name == "classic+pieces_squared+past_goal"
    assert features.names == (*CLASSIC.names, "pieces_squared", "past_goal")
    assert features.swap is CLASSIC.swap
    position = CHECKERS.parse_position("B:W18,22,K27:B1,2,3,4,K5")
    measured = dict(zip(features.names, features.values(position), strict=True))
    assert measured["pieces_squared"] == squared(position) == 25 - 9
    assert measured["past_goal"] == 1
    assert measured["men"] == 4 - 2
    assert np.array_equal(features.measure([position])[0], features.values(position))


@pytest.mark.plain
def test_a_file_and_its_copy_are_one(tmp_path: Path) -> None:
    first = load_features(written(tmp_path, TWO), CHECKERS, CLASSIC)
    (tmp_path / "run").mkdir()
    copy = written(tmp_path / "run", TWO, "features.py")
    assert load_features(copy, CHECKERS, CLASSIC) == first
    assert load_features(copy, CHECKERS, CLASSIC).fingerprint == first.fingerprint
    assert file_digest(copy) == file_digest(tmp_path / "my_features.py")
    edited = written(tmp_path, TWO.replace("GOAL = 3", "GOAL = 4"))
    other = load_features(edited, CHECKERS, CLASSIC)
    assert other.name == first.name and other.fingerprint != first.fingerprint
    assert file_digest(edited) != file_digest(copy)


@pytest.mark.plain
def test_a_set_of_its_own(tmp_path: Path) -> None:
    text = TWO + (
        "\n\nfrom games.checkers.rules import swap_sides\n"
        "from games.features.feature_set import FeatureSet\n\n"
        "FEATURES = FeatureSet('bare', {'squared': pieces_squared}, swap_sides)\n"
    )
    features = load_features(written(tmp_path, text), CHECKERS, CLASSIC)
    assert (features.name, features.names) == ("bare", ("squared",))
    assert "bare" in add_features(CHECKERS, tmp_path / "my_features.py").features
    taken = written(tmp_path, text.replace("'bare'", "'classic'"), "taken.py")
    with pytest.raises(FeatureFileError, match="that no feature set of checkers has, found"):
        load_features(taken, CHECKERS, CLASSIC)


@pytest.mark.plain
def test_imported_kernels_are_not_terms(tmp_path: Path) -> None:
    text = HEAD + (
        "from games.checkers.terms import men as terrible\n\n\n"
        "@kernel\ndef twice(position):\n    return 2 * terrible(position)\n"
    )
    features = load_features(written(tmp_path, text), CHECKERS, SAMUEL)
    assert features.names == (*SAMUEL.names, "twice")


def test_an_evaluator_is_found_again_by_the_name_of_its_set(tmp_path: Path) -> None:
    path = written(tmp_path, TWO)
    features = load_features(path, CHECKERS, CLASSIC)
    made = LinearEvaluator(CHECKERS, features, {"men": 1.0, "pieces_squared": 0.25})
    made.save(tmp_path / "best.json")
    with pytest.raises(EvaluatorError, match="; expected inputs= for a set of your own"):
        load_evaluator(tmp_path / "best.json")  # no code runs because a data file names it
    own = add_features(CHECKERS, path)
    assert list(CHECKERS.features) == ["classic", "samuel"]
    assert list(own.features)[2:] == [
        "classic+pieces_squared+past_goal", "samuel+pieces_squared+past_goal"
    ]  # fmt: skip
    player = parse_player(own, str(tmp_path / "best.json"))
    position = CHECKERS.parse_position("B:W18,22:B1,2,3,4")
    assert player.evaluator is not None
    assert player.evaluator(position) == 2 + 0.25 * squared(position)
    assert load_evaluator(tmp_path / "best.json", inputs=features)(position) == 5
    # another meaning under the same names
    written(tmp_path, TWO.replace("** 2", "** 3"))
    with pytest.raises(EvaluatorError, match="other definitions of pieces_squared"):
        parse_player(add_features(CHECKERS, path), str(tmp_path / "best.json"))


def test_what_is_added_twice_or_clashes_with_one_set(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "@kernel\ndef CENT(position):\n    return position[0] & 1\n")
    assert list(add_features(CHECKERS, path).features) == ["classic", "samuel", "classic+CENT"]
    with pytest.raises(FeatureFileError, match="no term of samuel has, found CENT"):
        load_features(path, CHECKERS, SAMUEL)
    text = "@kernel\ndef spots(position):\n    return position[0] & 1\n"
    again = written(tmp_path, HEAD + text, "b.py")
    both = add_features(TicTacToe(), again)
    with pytest.raises(FeatureFileError, match="has, found spots"):
        load_features(again, both, both.features[list(both.features)[-1]])


def test_a_term_that_is_equal_to_another_is_refused(tmp_path: Path) -> None:
    term = "@kernel\ndef {}(position):\n    return {}\n\n\n"
    pieces, never = "popcount(position[0])", "0 if popcount(position[0]) else 1"
    rare = term.format("pieces", pieces) + term.format("never", never)
    path = written(tmp_path, HEAD + rare)
    # random play does not come everywhere, so that a term may be 0 in it
    assert list(load_features(path, CHECKERS).terms)[-2:] == ["pieces", "never"]
    path = written(tmp_path, HEAD + rare + term.format("term", pieces), "b.py")
    found = "found term, which is the same as pieces in all of 4000 positions of random play$"
    with pytest.raises(FeatureFileError, match=found) as error:
        load_features(path, CHECKERS)
    assert len(str(error.value).splitlines()) == 1


# --- what is not -----------------------------------------------------------------------------


def one(body: str, before: str = "", parameters: str = "position") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}{before}@kernel\ndef wrong({parameters}):\n{lines}"


@pytest.mark.plain
def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.py"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FeatureFileError, match="expected Python as UTF-8, found"):
        load_features(path, CHECKERS, CLASSIC)
    path.write_bytes(b"x = 1\x00\n")
    with pytest.raises(FeatureFileError, match="null bytes"):
        load_features(path, CHECKERS, CLASSIC)


test_errors = errors_of(globals())
