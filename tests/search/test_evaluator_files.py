"""What holds for the files of every kind of evaluator, and for copies; each kind's own fields and
arrays are tested with the kind."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from errors import errors_of
from numba.core import event
from toys import CHECKERS_BLOCKS
from twin import random_positions

import games
from games.features import FeatureSet
from games.kernels import memory as native
from play.workers.transport import pack, unpack
from search import Engine, Evaluator, EvaluatorError, LinearEvaluator, as_evaluator, load_evaluator
from search.evaluators.files import header
from search.evaluators.files.arrays import MOST_FILE_BYTES, load_arrays, save_arrays
from search.evaluators.heuristic import LearnedHeuristic
from search.evaluators.load import ARRAY_FORMS
from search.evaluators.network import NetworkEvaluator
from search.evaluators.outcome_network import OutcomeNetwork
from search.evaluators.pattern_database import PatternDatabase
from search.evaluators.quantised import QuantisedNetwork
from search.evaluators.signature import SignatureEvaluator, layout_of
from search.evaluators.trees import TreeEvaluator
from search.evaluators.tuples import TupleEvaluator

pytestmark = pytest.mark.plain

CHECKERS, BACKGAMMON, PUZZLE = map(games.load, ("checkers", "backgammon", "sliding8"))
SQUARES, CLASSIC = CHECKERS.encodings["piece_squares"], CHECKERS.features["classic"]
NAMED: dict[str, Any] = {"name": "mine", "provenance": {"games": 3}}


def layers(*widths: int) -> list[tuple[Any, Any]]:
    random = np.random.default_rng(8)
    return [
        (random.normal(0, 0.3, (before, after)), random.normal(0, 0.3, after))
        for before, after in zip(widths, widths[1:], strict=False)
    ]


def integers() -> list[tuple[Any, Any]]:
    random = np.random.default_rng(5)
    first = random.integers(-200, 201, (len(SQUARES), 8)), random.integers(-300, 400, 8)
    return [first, (random.integers(-60, 60, (3, 8, 1)), np.zeros((3, 1)))]


def signature() -> SignatureEvaluator:
    layout = layout_of(CHECKERS)
    tables = layout.empty_tables()
    tables["third"][:] = np.random.default_rng(2).normal(0, 1, tables["third"].shape)
    return SignatureEvaluator(CHECKERS, layout, tables, material={"men": 1.0}, scale=0.3, **NAMED)


def heuristic(**options: Any) -> LearnedHeuristic:
    encoding = PUZZLE.encodings["tile_pairs"]
    weights = np.random.default_rng(5).normal(size=encoding.size)
    return LearnedHeuristic(PUZZLE, encoding, weights, offset=4.5, **options)


KINDS: dict[type[Evaluator], Callable[[], Any]] = {
    LinearEvaluator: lambda: LinearEvaluator(CHECKERS, CLASSIC, {"men": 1.5, "kings": 2}, **NAMED),
    NetworkEvaluator: lambda: NetworkEvaluator(
        CHECKERS, (SQUARES, CLASSIC), layers(144, 3, 1), scale=2.0, **NAMED
    ),
    OutcomeNetwork: lambda: OutcomeNetwork(
        BACKGAMMON, [(BACKGAMMON.encodings["points"], layers(326, 4, 5))], **NAMED
    ),
    QuantisedNetwork: lambda: QuantisedNetwork(
        CHECKERS, SQUARES, integers(), phases=(9, 17), scale=1.25, **NAMED
    ),
    SignatureEvaluator: signature,
    TupleEvaluator: lambda: TupleEvaluator(
        CHECKERS,
        CHECKERS_BLOCKS,
        np.random.default_rng(1).normal(size=CHECKERS_BLOCKS.size),
        **NAMED,
    ),
    TreeEvaluator: lambda: TreeEvaluator(
        CHECKERS,
        CLASSIC,
        [0, -1, -1, -1],
        [0.5, 3.0, -2.0, 7.0],
        [2, 0, 0, 0],
        [3, 0, 0, 0],
        trees=2,
        **NAMED,
    ),
    LearnedHeuristic: lambda: heuristic(**NAMED),
}
#: Kinds of one file are tested here too; those that are built by a search, with the search.
assert set(ARRAY_FORMS.values()) == {*KINDS, PatternDatabase} - {LinearEvaluator}
any_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
of_arrays = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind is not LinearEvaluator], ids=lambda kind: kind.__name__
)


def positions(evaluator: Evaluator) -> list[Any]:
    if evaluator.game is PUZZLE:
        return [PUZZLE.random_position(seed) for seed in range(20)]
    if evaluator.game is BACKGAMMON:
        start = BACKGAMMON.start()
        return [BACKGAMMON.play(start, BACKGAMMON.legal_moves(start, roll)[0]) for roll in (3, 8)]
    return list(random_positions(CHECKERS, 5, 20))


def saved(kind: type[Evaluator], folder: Path) -> Path:
    evaluator = KINDS[kind]()
    path = folder / f"one{evaluator.suffix}"
    evaluator.save(path)
    return path


def change_header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a file's header, whatever the kind, and keep its weights."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
        return
    content, arrays = load_arrays(path)
    change(content)
    path.write_bytes(safetensors.numpy.save(arrays, {"plysmith": json.dumps(content)}))


@any_kind
def test_a_file_gives_the_evaluator_back(kind: type[Evaluator], tmp_path: Path) -> None:
    evaluator = KINDS[kind]()
    path = tmp_path / "new folder" / f"one{evaluator.suffix}"
    evaluator.save(path)
    known = positions(evaluator)
    read = load_evaluator(path)
    assert type(read) is kind and read.game.name == evaluator.game.name
    assert (read.name, read.provenance) == ("mine", {"games": 3})
    assert read.values(known).tolist() == evaluator.values(known).tolist()
    assert len({*evaluator.values(known).tolist()}) > 1
    again = tmp_path / "again.bin"  # the content determines the kind of file, not the name
    read.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert type(as_evaluator(evaluator.game, str(again))) is kind
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@any_kind
def test_copies_have_weights_of_their_own(kind: type[Evaluator]) -> None:
    evaluator = KINDS[kind]()
    known = positions(evaluator)
    values = evaluator.values(known).tolist()
    copies = [evaluator.copy(), unpack(pack(evaluator))]
    if kind is not LinearEvaluator:  # which shares its array with a shallow copy
        copies.append(copy.copy(evaluator))
    for other in copies:
        assert (type(other), other.name, other.provenance) == (kind, "mine", {"games": 3})
        assert other.values(known).tolist() == values
        for array in arrays_of(other):
            if array.flags.writeable:
                array[:] = 0.5 * array + 1
        changed = other.values(known).tolist() != values
        assert changed == (kind is not QuantisedNetwork)  # whose weights are read-only
    assert evaluator.values(known).tolist() == values


@any_kind
def test_weights_are_read_where_they_are_and_compile_nothing(kind: type[Evaluator]) -> None:
    evaluator = KINDS[kind]()
    known = positions(evaluator)[:6]
    searched = evaluator.game is CHECKERS

    def agreed(one: Any) -> list[float]:
        """Returns the values by native code, which are those of the plain twin."""
        found: list[float] = one.values(known).tolist()
        slow = [one.plain()(position) for position in known]
        assert found == slow
        return found

    before = agreed(evaluator)
    engine = Engine(CHECKERS, evaluator, table_mib=1) if searched else None
    moves = engine.analyse(CHECKERS.start(), depth=2).moves if engine else ()
    misses = native._compile.cache_info().misses
    with event.install_recorder("numba:compile") as recorder:
        for array in arrays_of(evaluator):
            if array.flags.writeable:
                kept = array.copy()
                array += np.random.default_rng(3).normal(0.5, 0.2, array.shape)
                assert agreed(evaluator) != before
                if engine:
                    engine.clear()
                    assert engine.analyse(CHECKERS.start(), depth=2).moves != moves
                array[...] = kept
        other = KINDS[kind]()
        assert agreed(other) == before
        if searched:
            assert Engine(CHECKERS, other).analyse(CHECKERS.start(), depth=2).moves == moves
        if isinstance(getattr(other, "scale", None), float):
            other.scale = -2.0
            assert agreed(other) != before
    assert (len(recorder.buffer), native._compile.cache_info().misses) == (0, misses)


def arrays_of(evaluator: Any) -> list[Any]:
    """Returns the arrays of weights that an evaluator lets others change."""
    if isinstance(evaluator, OutcomeNetwork):
        return [part for net in evaluator.nets for layer in net.layers for part in layer]
    if hasattr(evaluator, "layers"):
        return [part for layer in evaluator.layers for part in layer]
    if hasattr(evaluator, "tables"):
        return [evaluator.tables["third"]]
    return [evaluator.weights]


HEADERS: list[tuple[dict[str, Any], str]] = [
    ({"game": "tic_tac_toe"}, "expected an evaluator of [a-z0-9]+, found one of tic_tac_toe"),
    ({"game": 3}, "expected field 'game' of type str, found '3'"),
    ({"rules": 99}, "expected rules version [12] of [a-z0-9]+, found 99"),
    ({"rules": True}, "expected field 'rules' of type int, found 'True'"),
    ({"name": ["a"]}, "expected field 'name' of type str"),
    ({"name": "\x1b[2J"}, "expected field 'name' of printable characters"),
    ({"provenance": "mine"}, "expected field 'provenance' of type dict"),
    ({"format": "plysmith-9"}, "expected format .*'plysmith-[a-z0-9-]+'.*, found 'plysmith-9'"),
    ({"format": ["a"]}, "expected format .*, found"),
    ({"extra": 1}, r"expected no fields but .*, found \['extra'\]"),
    ({"e" * 10**6: 1}, "expected no fields but"),
]


@any_kind
@pytest.mark.parametrize(("change", "message"), HEADERS, ids=range(len(HEADERS)))
def test_headers_that_are_wrong(
    kind: type[Evaluator], change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = saved(kind, tmp_path)
    change_header(path, lambda content: content.update(change))
    with pytest.raises(EvaluatorError, match=message) as caught:
        load_evaluator(path, game=KINDS[kind]().game)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 3000


@any_kind
def test_headers_that_lack_a_field(kind: type[Evaluator], tmp_path: Path) -> None:
    fields: list[str] = []
    change_header(saved(kind, tmp_path), fields.extend)
    assert len(fields) >= 6
    for field in fields:
        path = saved(kind, tmp_path)
        change_header(path, lambda content, field=field: content.pop(field))  # type: ignore[misc]
        with pytest.raises(EvaluatorError, match=f"expected .*{field}"):
            load_evaluator(path)


@of_arrays
def test_arrays_that_are_wrong(kind: type[Evaluator], tmp_path: Path) -> None:
    path = saved(kind, tmp_path)
    content, arrays = load_arrays(path)
    for name, array in arrays.items():
        other = np.float64 if array.dtype == np.float32 else np.float32
        changes: list[tuple[Any, str]] = [
            (None, f"expected an array '{name}', found none"),
            (array.astype(other), f"{name}: expected {array.dtype} of shape"),
            (array[..., np.newaxis], f"{name}: expected {array.dtype} of shape"),
            (np.ones(array.shape, np.uint8), f"{name}: expected one of F32.*, found U8"),
        ]
        if array.dtype.kind == "f":
            for number in (math.nan, math.inf, 1e10):
                message = f"{name}: expected finite numbers of at most 1e.09"
                changes.append((np.full_like(array, number), message))
        for change, message in changes:
            held = {**arrays, name: change} if change is not None else dict(arrays)
            if change is None:
                del held[name]
            path.write_bytes(safetensors.numpy.save(held, {"plysmith": json.dumps(content)}))
            with pytest.raises(EvaluatorError, match=message) as caught:
                load_evaluator(path)
            assert str(caught.value).startswith(f"{path}: ")
    save_arrays(path, content, {**arrays, "more": np.ones(3)})
    with pytest.raises(EvaluatorError, match=r"expected no other arrays, found \['more'\]"):
        load_evaluator(path)


@any_kind
def test_a_file_that_is_cut_short_is_refused(kind: type[Evaluator], tmp_path: Path) -> None:
    path = saved(kind, tmp_path)
    whole = path.read_bytes()
    expected = "expected (JSON:|a whole safetensors file, found none)"
    for end in [*range(60), *range(60, len(whole.rstrip()), len(whole) // 40)]:
        path.write_bytes(whole[:end])
        with pytest.raises(EvaluatorError, match=expected):
            load_evaluator(path)
    if kind is LinearEvaluator:
        return
    path.write_bytes(whole + b"more")
    with pytest.raises(EvaluatorError, match=expected):
        load_evaluator(path)
    with path.open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    with pytest.raises(EvaluatorError, match="expected at most 1073741824 bytes, found a larger"):
        load_evaluator(path)


def of_others(tmp_path: Path, metadata: Any) -> None:

    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.numpy.save({"a": np.ones(3)}, metadata))
    load_evaluator(path)


@any_kind
def test_bad_weights_are_not_saved_over_good_ones(kind: type[Evaluator], tmp_path: Path) -> None:
    path = saved(kind, tmp_path)
    before = path.read_bytes()
    evaluator = KINDS[kind]()
    array = arrays_of(evaluator)[-1]
    if array.flags.writeable:
        number, array.flat[0] = array.flat[0], math.nan
        with pytest.raises(EvaluatorError, match="expected finite numbers, found NaN or infinity"):
            evaluator.save(path)
        array.flat[0] = number
    evaluator.provenance["what"] = object()
    with pytest.raises(TypeError):
        evaluator.save(path)
    with pytest.raises(EvaluatorError, match="a: expected an array of float32, .*, found uint8"):
        save_arrays(path, {}, {"a": np.ones(3, np.uint8)})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", [LinearEvaluator, NetworkEvaluator], ids=["json", "safetensors"])
def test_an_unwritable_place(kind: type[Evaluator], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        KINDS[kind]().save(tmp_path / "file" / "evaluator")


def test_the_identity_of_terms_compiles_nothing_and_is_that_of_native_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a term divides by 0, native code has a value and is asked."""

    def divide(features: FeatureSet, position: Any) -> list[float]:
        return [1 / 0]

    known = [games.load(name) for name in ("checkers", "backgammon", "connect_four", "nim")]
    found = []
    for method, other in (("measure", None), ("values", divide)):
        with monkeypatch.context() as patch:
            patch.setattr(header, "_identities", {})
            patch.setattr(FeatureSet, method, other)
            found.append([header.identity(g, f) for g in known for f in g.features.values()])
    assert found[0] == found[1]


test_errors = errors_of(globals())
