"""Fits of traces: the minimum, its errors, what is refused, and what is written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors import errors_of
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from learner.positions.filters import Games
from learner.regression.matrix import Matrix
from learner.traces.command import main
from learner.traces.doubts import doubts, great_entries
from learner.traces.engine_match import verdict
from learner.traces.fit import Settings, fit_traces
from learner.traces.fitted import Fitted
from learner.traces.output import header, patched
from learner.traces.parameters import Term
from learner.traces.reading import read_traces
from learner.traces.traces import TraceError, Traces
from play.ratings.sprt import Sprt
from play.ratings.statistics import MatchSummary

ROOT = Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(7)
NAMES = ("men", "kings", "mobility")
TRUTH = np.array([1.0, 1.6, 0.2])


def sparse(dense: Any) -> Matrix:
    row, term = np.nonzero(dense)
    start = np.searchsorted(row, np.arange(len(dense) + 1))
    count = dense[row, term].astype(np.float32)
    return Matrix(dense.shape[1], start=start, term=term.astype(np.int32), count=count)


def traces(
    rows: int = 6000, games: int = 600, *, names: tuple[str, ...] = NAMES, truth: Any = TRUTH,
    in_game: float = 0.0, as_sparse: bool = False, seed: int = 1,
) -> Traces:  # fmt: skip
    """Rows whose results have exactly the chances of the truth, and agree within a game.

    in_game: share of the variance of the terms that the rows of a game have in common.
    """
    random = np.random.default_rng(seed)
    game = np.sort(random.integers(games, size=rows))
    _, game = np.unique(game, return_inverse=True)
    common = random.normal(size=(games, len(names)))[game] * np.sqrt(in_game)
    terms = common + random.normal(size=(rows, len(names))) * np.sqrt(1 - in_game)
    terms = np.where(random.random(terms.shape) < 0.3, 0, terms.round(1)).astype(np.float32)
    # one draw for each game: rows are as dependent as they can be
    result = (random.random(games)[game] < expit(terms @ truth)).astype(np.float64)
    matrix = sparse(terms) if as_sparse else Matrix(len(names), terms)
    return Traces(names, matrix, result, None, game, np.ones(rows), True)


def weights(fitted: Fitted) -> list[float]:
    return [term.weight for term in fitted.terms]


def held(made: Traces, settings: Settings) -> Any:
    return Games(0, settings.held_out, settings.seed).holds(np.arange(made.game.max() + 1))[
        made.game
    ]


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_minimum_is_that_of_an_independent_solver(as_sparse: bool) -> None:
    settings = Settings(alpha=0.0)
    made = traces(as_sparse=as_sparse)
    fitted = fit_traces(made, {}, settings)
    dense = traces().matrix.dense
    assert dense is not None and made.result is not None
    learned = ~held(made, settings)
    other = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-10)
    other.fit(dense[learned].astype(np.float64), made.result[learned])
    assert weights(fitted) == pytest.approx(list(other.coef_[0]), abs=1e-7)
    assert fitted.settled and fitted.games == len(np.unique(made.game[learned]))


def test_squared_errors_have_their_minimum() -> None:
    made, settings = traces(), Settings(alpha=0.0, loss="squared")
    found = np.array(weights(fit_traces(made, {}, settings)))
    assert made.matrix.dense is not None and made.result is not None
    learned = ~held(made, settings)
    rows, results = made.matrix.dense[learned], made.result[learned]

    def error(at: Any) -> float:
        return float(np.square(expit(rows @ at) - results).mean())

    for step in np.vstack([np.eye(3), -np.eye(3)]) * 1e-3:
        assert error(found) < error(found + step)


def test_intervals_by_games_cover_the_truth() -> None:
    names = tuple(f"t{i}" for i in range(150))
    truth = np.random.default_rng(3).normal(size=150) * 0.08
    made = traces(60_000, 4000, names=names, truth=truth, in_game=0.8)
    fitted = fit_traces(made, {}, Settings(alpha=0.0))
    away = np.abs(np.array(weights(fitted)) - truth)
    by_games = (away < 1.96 * np.array([term.error for term in fitted.terms])).mean()
    assert 0.91 <= by_games <= 0.99


def test_what_was_not_fitted_is_foretold_better_and_says_so() -> None:
    fitted = fit_traces(traces(), {}, Settings())
    judged = fitted.judged
    assert judged.before == pytest.approx(np.log(2))
    assert judged.low < judged.after - judged.before < judged.high < 0
    assert len(fitted.tried) >= 3
    assert fitted.alpha == min(fitted.tried, key=lambda one: one[1])[0]
    # what a term is worth: the loss of the same fit without it
    bare = fit_traces(traces(), {"mobility": Term(0.0, fixed=True)}, Settings(alpha=0.0))
    whole = fit_traces(traces(), {}, Settings(alpha=0.0))
    assert whole.terms[2].worth == pytest.approx(bare.loss - whole.loss, rel=0.05)


def test_the_loss_expected_elsewhere_is_that_of_new_games() -> None:
    """On average over sets of few games; the loss of what was fitted lies far below it."""
    names = tuple(f"t{i}" for i in range(20))
    truth = np.random.default_rng(3).normal(size=20) * 0.2
    new = traces(40_000, 20_000, names=names, truth=truth, in_game=0.8, seed=99)
    dense, result = new.matrix.dense, new.result
    assert dense is not None and result is not None
    away, below = list[list[float]](), list[list[float]]()
    for seed in range(12):
        made = traces(2400, 300, names=names, truth=truth, in_game=0.8, seed=seed)
        away.append([])
        below.append([])
        expected = dict(fit_traces(made, {}, Settings()).tried)
        for alpha in (1.0, 0.01):
            loss, fitted = expected[alpha], fit_traces(made, {}, Settings(alpha=alpha))
            actual = np.logaddexp(0, (1 - 2 * result) * (dense @ weights(fitted))).mean()
            away[-1].append(loss - actual)
            below[-1].append(fitted.loss - actual)
    for far, least in ((away, -3.0), (below, -1e9)):
        score = np.mean(far, axis=0) / (np.std(far, axis=0) / np.sqrt(12))
        assert (least < score).all() and (score < (3 if far is away else -3)).all()


def test_weights_move_as_far_as_the_games_prove() -> None:
    names = tuple(f"t{i}" for i in range(20))
    truth = np.random.default_rng(3).normal(size=20) * 0.2
    few = traces(2400, 300, names=names, truth=truth, in_game=0.8)
    many = traces(60_000, 20_000, names=names, truth=truth, in_game=0.8)
    right = {name: Term(weight) for name, weight in zip(names, truth, strict=True)}
    wrong = {name: Term(-weight) for name, weight in zip(names, truth, strict=True)}

    def away(made: Traces, asked: dict[str, Term], alpha: float | None) -> float:
        fitted = fit_traces(made, asked, Settings(alpha=alpha, scale=1.0))
        return float(np.square(np.array(weights(fitted)) - truth).sum())

    assert away(few, right, None) < 0.1 * away(few, right, 1e-7)
    assert away(many, wrong, None) < 0.02 * float(np.square(2 * truth).sum())
    # also if their sum falls where results rise, so that no scale fits it
    turned = fit_traces(many, wrong, Settings())
    assert np.corrcoef(weights(turned), truth)[0, 1] > 0.98


def test_terms_fixed_bounded_and_scaled_together() -> None:
    names = ("a", "b", "c", "d")
    made = traces(names=names, truth=np.array([1.0, 1.0, 0.5, 1.5]))
    asked = {
        "a": Term(2.0, group="g"),
        "b": Term(2.0, group="g"),
        "c": Term(most=0.3),
        "d": Term(1.0),
    }
    fitted = fit_traces(made, asked, Settings(alpha=0.0, scale=1.0))
    a, b, c, d = weights(fitted)
    assert a == b and a == pytest.approx(1.0, abs=0.15)
    assert c == 0.3 and np.isnan(fitted.terms[2].error)
    assert made.matrix.dense is not None
    columns = np.column_stack([made.matrix.dense[:, :2].sum(axis=1), made.matrix.dense[:, 3]])
    by_hand = Traces(
        ("ab", "d", "c"),
        Matrix(3, np.column_stack([columns, made.matrix.dense[:, 2]]).astype(np.float32)),
        made.result, None, made.game, made.weight, True,
    )  # fmt: skip
    same = fit_traces(by_hand, {"c": Term(0.3, fixed=True)}, Settings(alpha=0.0, scale=1.0))
    assert [a, d] == pytest.approx(weights(same)[:2], abs=1e-6)
    assert fitted.terms[0].error == fitted.terms[1].error > 0


def test_a_term_that_only_the_games_that_judge_have_keeps_its_weight() -> None:
    made = traces()
    dense = made.matrix.dense
    assert dense is not None
    dense[:, 2] = np.where(held(made, Settings()), 1, 0)
    fitted = fit_traces(made, {"mobility": Term(0.5)}, Settings())
    assert (fitted.terms[2].weight, fitted.terms[2].note) == (0.5, "never occurs")
    assert np.isfinite([fitted.terms[0].error, fitted.judged.low]).all()


def test_terms_are_noted() -> None:
    made = traces(names=("a", "b", "never", "ever", "rare", "like_a"), truth=[1, 0.5, 0, 0, 0, 0])
    dense = made.matrix.dense
    assert dense is not None
    dense[:, 2], dense[:, 3], dense[:, 4] = 0, 1, 0
    dense[:40, 4] = 1
    dense[:, 5] = dense[:, 0] + np.where(np.arange(len(dense)) % 200 == 0, 0.5, 0)
    notes = {term.name: term.note for term in fit_traces(made, {}, Settings()).terms}
    assert notes == {
        "a": "explained by others", "b": "", "never": "never occurs", "ever": "constant",
        "rare": "rare", "like_a": "explained by others",
    }  # fmt: skip


def test_sums_of_others_are_left_to_the_penalty_or_refused_together() -> None:
    made = traces(names=("a", "b", "c", "d", "e"), truth=[1, 0.5, 0.2, 0, 0])
    dense = made.matrix.dense
    assert dense is not None
    dense[:, 3], dense[:, 4] = 2 * dense[:, 0] - dense[:, 1], dense[:, 1] + dense[:, 2]
    refused = r"d = 2 a \+ -1 b; e = 1 b \+ 1 c: leave some out"
    with pytest.raises(TraceError, match=refused):
        fit_traces(made, {}, Settings(alpha=0.0))
    fitted = fit_traces(made, {}, Settings(alpha=1e-5))
    assert [term.note for term in fitted.terms] == ["a sum of others"] * 5
    assert np.isnan([term.error for term in fitted.terms]).all()
    whole = np.array(weights(fitted)[:3]) @ dense[:, :3].T + dense[:, 3:] @ weights(fitted)[3:]
    alone = Traces(made.names[:3], Matrix(3, dense[:, :3].copy()), made.result, None, made.game,
                   made.weight, True)  # fmt: skip
    expected = dense[:, :3] @ weights(fit_traces(alone, {}, Settings(alpha=1e-5)))
    assert whole == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("fixed", [1.0, 250.0])
def test_the_scale_is_fitted_together_with_the_terms_that_are_free(fixed: float) -> None:
    free = fit_traces(traces(), {}, Settings(alpha=0.0))
    held = fit_traces(traces(), {"men": Term(fixed, fixed=True)}, Settings(alpha=0.0))
    assert held.scale * fixed == pytest.approx(free.terms[0].weight, rel=1e-3)
    shares = [term.weight / free.terms[0].weight * fixed for term in free.terms]
    assert weights(held) == pytest.approx(shares, rel=2e-3)


def test_what_makes_a_fit_promise_too_much_is_told() -> None:
    made = traces(rows=4000, games=400, in_game=0.9)
    dense, result = made.matrix.dense, made.result
    assert dense is not None and result is not None
    assert doubts(made, 3) == ()
    assert doubts(made, 41) == ("400 games for 41 weights: expected 10 games for each",)

    def told(**changed: Any) -> str:
        return " ".join(doubts(replace(made, **changed), 3))

    leaked = np.column_stack([dense, 2 * result - 1 + 0.1 * dense[:, 0]]).astype(np.float32)
    assert told(matrix=Matrix(4, leaked), names=(*NAMES, "mate")).startswith("mate: follows the")
    copies = {"matrix": Matrix(3, np.vstack([dense, dense])), "result": np.tile(result, 2)}
    copies |= {"game": np.r_[made.game, 400 + made.game], "weight": np.ones(8000)}
    assert told(**copies) == "100 % of the rows stand in several games: each counts as its own"
    turned = Matrix(3, dense * (1 - 2 * (np.arange(4000) % 2))[:, None].astype(np.float32))
    one = result[np.searchsorted(made.game, made.game)]
    assert told(matrix=turned, result=one).startswith(
        "result: the same in all rows of a game, although"
    )
    assert told(by_game=False).startswith("no column game")
    fitted = fit_traces(made, {}, Settings(alpha=0.0)).terms[0]
    table = [replace(fitted, name=f"back.{n}", start=0.0, weight=20.0 * n) for n in range(7)]
    kings = replace(fitted, name="kings", weight=150.0)  # not of a table
    assert great_entries([*table, kings], "men", 100) == (
        "worth more than men (100): back.6 (120)",
    )
    assert great_entries(table[4:], "men", 60) == ()  # three are no table


def test_values_of_wrong_weights_are_told() -> None:
    made = traces(12_000, 2000)
    right = np.asarray(made.matrix.times(TRUTH))
    wrong = np.asarray(made.matrix.times(TRUTH[::-1].copy()))
    random = np.random.default_rng(2).normal(size=len(right))
    for value, told in ((right + random, 0), (wrong, 1)):
        fitted = fit_traces(replace(made, value=value), {}, Settings())
        assert sum("use --blend 1" in doubt for doubt in fitted.doubts) == told


# --- files ----------------------------------------------------------------------------------------


def write_csv(
    path: Path, *, names: tuple[str, ...] = NAMES, rows: int = 2000, **cells: str
) -> Path:
    """A file of traces; `cells` are texts of the first row by column."""
    made = traces(rows, 200, names=names, truth=np.resize(TRUTH, len(names)))
    assert made.matrix.dense is not None and made.result is not None
    lines = [",".join(["game", "result", *names])]
    for i in range(rows):
        row = {"game": f"g{made.game[i]}", "result": f"{made.result[i]:g}"}
        row |= {name: f"{x:g}" for name, x in zip(names, made.matrix.dense[i], strict=True)}
        lines.append(",".join((row | (cells if i == 0 else {})).values()))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_all_forms_of_files_are_the_same_traces(tmp_path: Path) -> None:
    made = traces(2000, 200)
    dense = made.matrix.dense
    assert dense is not None
    one = read_traces([write_csv(tmp_path / "a.csv")])
    columns = {name: dense[:, i] for i, name in enumerate(NAMES)}
    np.savez(tmp_path / "b.npz", result=made.result, game=made.game, **columns)
    row, term = np.nonzero(dense)
    mixed = RANDOM.permutation(len(row))  # entries may come in any order
    np.savez_compressed(
        tmp_path / "c.npz", names=np.array(NAMES), row=row[mixed], term=term[mixed],
        count=dense[row, term][mixed], result=made.result, game=made.game,
    )  # fmt: skip
    for other in (read_traces([tmp_path / "b.npz"]), read_traces([tmp_path / "c.npz"])):
        assert other.names == one.names and (other.game == one.game).all()
        assert other.matrix.times(TRUTH) == pytest.approx(one.matrix.times(TRUTH), abs=1e-5)
    both = read_traces([tmp_path / "a.csv", tmp_path / "b.npz"])
    assert len(both) == 4000 and both.game.max() + 1 == 2 * (one.game.max() + 1)


def test_tapered_pairs_are_weighted_by_the_phase(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    count, phase = random.integers(-3, 4, 8000), random.random(8000).round(3)
    result = random.random(8000) < expit(count * (0.8 * phase + 0.2 * (1 - phase)))
    path = tmp_path / "t.npz"
    np.savez(path, result=result, phase=phase, **{"x.mg": count, "x.eg": count})
    fitted = fit_traces(read_traces([path]), {}, Settings(alpha=0.0))
    for term, truth in zip(fitted.terms, (0.8, 0.2), strict=True):
        assert abs(term.weight - truth) < 3 * term.error < 0.15


def test_a_bad_cell_is_a_line_of_the_command(tmp_path: Path, capsys: Any) -> None:
    path = write_csv(tmp_path / "t.csv", kings="nan")
    assert main([str(path), "--output", str(tmp_path / "out")]) == 2
    assert "row 1, column kings: expected a finite number" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


X, HALF = np.arange(100) % 7, np.tile([0.0, 1.0], 50)
ENTRIES = {"row": X, "term": X, "count": X, "result": HALF}


def npz(tmp_path: Path, **arrays: Any) -> Path:
    path = tmp_path / "t.npz"
    np.savez(path, **arrays)
    return path


def test_damaged_files_are_named(tmp_path: Path) -> None:
    whole = npz(tmp_path, x=X, result=HALF).read_bytes()
    short = tmp_path / "short.npz"
    short.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TraceError, match="a whole .npz file, found one cut short or of other kind"):
        read_traces([short])
    promised = tmp_path / "promised.npz"
    many = whole.replace(b"'shape': (100,), }      ", b"'shape': (1000000000,), }")
    assert many != whole
    promised.write_bytes(many)
    with pytest.raises(TraceError, match="found one that is damaged"):
        read_traces([promised])


def marked(content: bytes, place: int, value: int) -> bytes:
    """Returns a zip file with another byte at a place of each member's local and central head."""
    changed = bytearray(content)
    for head, more in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        for match in re.finditer(head, content):
            changed[match.start() + place + more] = value
    return bytes(changed)


def test_a_file_that_is_no_table_is_one_line(tmp_path: Path) -> None:
    whole = npz(tmp_path, x=X, result=HALF).read_bytes()
    extra = tmp_path / "extra.npz"
    extra.write_bytes(whole)
    with zipfile.ZipFile(extra, "a") as archive:
        archive.writestr("notes.txt", "no array")
    columns = ",".join(f"c{i}" for i in range(60_000))
    cell = "1" * 200_000
    for name, content, said in (
        ("encrypted.npz", marked(whole, 6, 1), "found one that is damaged: File .* is encrypted"),
        ("method.npz", marked(whole, 8, 98), "found one that is damaged: "),
        ("flipped.npz", whole.replace(b"NUMPY", b"NUMPX", 1), "found one that is damaged"),
        ("extra.npz", extra.read_bytes(), "expected arrays alone, found the member notes.txt"),
        ("twice.csv", b"result,x,x\n1,2,3\n", "a name for one column only, found x twice"),
        ("wide.csv", f"result,{columns}\n".encode(), "expected 1 to 20000 terms, found 60000"),
        ("long.csv", f"result,x\n1,{cell}x\n".encode(), "damaged: field larger than"),
        ("bare.csv", b"1,0.5,-2\n0,1,2\n", "expected the names of the columns first, found n"),
        ("head.csv", f"result,{cell}\n1,2\n".encode(), "damaged: field larger than"),
        ("bytes.csv", b"result,x\n1,2\n\xff,1\n", "expected text in UTF-8, found other bytes"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(TraceError, match=f"{name}.*{said}"):
            read_traces([path])


def test_other_signs_between_cells_quotes_and_decimal_commas_are_read(tmp_path: Path) -> None:
    made = []
    for sign, point, quote in ((",", ".", ""), (";", ",", ""), ("\t", ",", ""), (",", ".", '"')):
        path = tmp_path / "t.csv"
        rows = [["Game", "result", "men"], ["0", f"0{point}5", "1"], ["1", "1", f"2{point}5"]]
        rows = [[f"{quote}{cell}{quote}" for cell in row] for row in rows]
        path.write_text("".join(f"{sign.join(row)}\n" for row in rows))
        made.append(read_traces([path]))
    for one in made:
        assert one.result is not None and one.result.tolist() == [0.5, 1.0]
        assert np.asarray(one.matrix.dense).tolist() == [[1.0], [2.5]] and one.by_game


def test_the_command_fits_patches_and_starts_again_from_its_weights(
    tmp_path: Path, capsys: Any
) -> None:
    path, source, out = write_csv(tmp_path / "t.csv"), tmp_path / "eval.c", tmp_path / "out"
    source.write_text(
        "const int MEN = 80; // fit:men\n"
        "int all[] = {\n  // fit:*\n  1, 2,\n  3.5,\n  // fit:end\n};\n"
    )
    call = [str(path), "--output", str(out), "--unit", "men=100", "--integers", "--quiet"]
    assert main([*call, "--patch", str(source)]) == 0
    said = capsys.readouterr().out
    kings = round(json.loads((out / "weights.json").read_text())["terms"][1]["weight"])
    assert "-const int MEN = 80;" in said and "+const int MEN = 100;" in said
    assert f"  100, {kings},\n" in source.read_text()
    assert {"report.txt", "weights.csv", "weights.rs", "calibration.png"} <= {
        file.name for file in out.iterdir()
    }


def test_a_fit_starts_from_the_numbers_in_the_source(tmp_path: Path, capsys: Any) -> None:
    path, source = write_csv(tmp_path / "t.csv"), tmp_path / "eval.c"
    source.write_text("int men = 90; // fit:men\nint more[] = {\n// fit:k*\n120,\n// fit:end\n};\n")
    call = [
        str(path),
        "--output",
        str(tmp_path),
        "--alpha",
        "1e4",
        "--quiet",
        "--patch",
        str(source),
    ]
    starts = [90.0, 120.0, 0.0]
    for more in ([], ["--terms", str(tmp_path / "weights.csv")]):  # of the fit before
        assert main([*call, *more]) == 0
        terms = json.loads((tmp_path / "weights.json").read_text())["terms"]
        assert [term["start"] for term in terms] == starts
        starts = [term["weight"] for term in terms]
        assert starts == pytest.approx([90, 120, 0], abs=0.1)
        assert "120," in source.read_text() and "men = 90;" in source.read_text()


def unpatched(tmp_path: Path, text: str) -> None:
    """Patches a source file that does not fit, which stays as it is."""
    source = tmp_path / "eval.c"
    source.write_text(text)
    try:
        patched(source, fit_traces(traces(), {}, Settings(alpha=0.0)))
    finally:
        assert source.read_text() == text


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_header_compiles_and_has_the_weights(tmp_path: Path) -> None:
    names = ("men", "pst.0", "pst.1", "x.mg", "x.eg")
    made = traces(names=names, truth=np.array([1.0, -0.5, 0.2, 0.1, 0.3]))
    fitted = fit_traces(made, {}, Settings(alpha=0.0))
    (tmp_path / "weights.h").write_text(header(fitted, False))
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "weights.h"\n'
        "static const double pst[2] = FIT_PST, x[2] = FIT_X;\n"
        'int main(void) { printf("%.9g %.9g %.9g ", FIT_MEN, pst[0], pst[1]);'
        ' printf("%.9g %.9g\\n", x[0], x[1]); return 0; }\n'
    )
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run(["gcc", *strict, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    assert [float(word) for word in said.split()] == pytest.approx(weights(fitted), rel=1e-8)


def test_positions_and_games_of_checkers_become_traces(tmp_path: Path, capsys: Any) -> None:
    from games.checkers import Checkers
    from learner.traces.positions import _games, traces_of

    game = Checkers()
    features = game.features["material"] if "material" in game.features else None
    features = features or next(iter(game.features.values()))
    position = game.start()
    path = tmp_path / "p.csv"
    lines = ["position,result,game"]
    random = np.random.default_rng(0)
    for number in range(30):
        position = game.start()
        for _ in range(40):
            moves = game.legal_moves(position)
            if not moves:
                break
            position = game.play(position, moves[int(random.integers(len(moves)))])
            lines.append(f'"{game.position_text(position)}",{number % 3 / 2},{number}')
    path.write_text("\n".join(lines))
    made = traces_of([path], game, features)
    assert made.names == features.names and 0 < len(made) < len(lines)
    games = tmp_path / "g.pdn"  # Black, who begins, wins after an odd number of moves
    games.write_text('[GameType "21"]\n\n1. 11-15 23-19 2. 8-11 0-1\n\n')
    assert [labels["result"] for _, labels in _games(games, game)] == [1.0, 0.0, 1.0]
    path.write_text("position,result\nnonsense,1\n")
    with pytest.raises(TraceError, match="row 1, column position"):
        traces_of([path], game, features)


test_errors = errors_of(globals())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_the_engine_of_the_documentation_regains_what_its_wrong_weights_lose(
    tmp_path: Path, capsys: Any
) -> None:
    folder, rows = tmp_path / "engine", tmp_path / "traces.csv"
    folder.mkdir()
    source = Path(shutil.copy(ROOT / "docs/examples/fourth.c", folder))
    build = "gcc -std=c99 -O2 -Wall -Wextra -pedantic -Werror fourth.c -o fourth"
    subprocess.run(build.split(), cwd=folder, check=True)
    rows.write_bytes(subprocess.check_output([folder / "fourth", "traces", "2000"]))
    old = source.read_bytes()
    call = [str(rows), "--unit", "lucky=100", "--patch", str(source), "--quiet", "--build", build]
    call += ["--source", str(folder), "--output", str(tmp_path / "fit"), "--play"]
    words = "connect_four uci:{}/fourth --nodes 1000 --plies 4 --games 200 --sprt 0,60 --quiet"
    assert main([*call, words]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("gained: the engine is stronger")
    assert source.read_bytes() == old and (tmp_path / "fit/after/fourth.c").read_bytes() != old
    # a build that fails is named, and so are an engine without a place and a file elsewhere
    assert main([*call, words, "--build", "gcc -x"]) == 2
    assert "--build: expected status 0, found 1: " in capsys.readouterr().err
    assert main([*call, "connect_four uci:./fourth"]) == 2
    assert "--play: expected a player such as uci:{}/engine" in capsys.readouterr().err
    assert main([*call, words, "--patch", str(rows)]) == 2
    assert "--patch: expected a file in" in capsys.readouterr().err


def test_a_lost_match_is_called_lost() -> None:
    test = Sprt(0, 10)

    def said(won: int, drawn: int, lost: int) -> str:
        pairs = [(1, 1)] * won + [(1, 0)] * drawn + [(0, 0)] * lost
        return verdict(MatchSummary.of_pairs(pairs), test)

    assert said(100, 300, 400).startswith("lost: the engine is weaker")
    assert said(2000, 4000, 2000).startswith("not proved: the engine gains less")
    assert said(2, 2, 1).startswith("not proved: the test has not decided")
    assert said(400, 300, 100).startswith("gained: the engine is stronger")
