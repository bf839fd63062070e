"""The base of evaluators whose weights are arrays: networks and signature tables.

All of them are saved as arrays with a header (`search.evaluators.files.arrays`), and native code
reads all in the same way: text is generated for the shapes of the arrays and compiled once, and
reads a block of integers with the addresses of the arrays. New weights compile nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels.memory import native_function
from search.evaluators.calibration import CALIBRATION, read_calibration
from search.evaluators.evaluator import SIGNATURE, Evaluator, Fail, NativeText
from search.evaluators.files.arrays import save_arrays
from search.evaluators.files.header import (
    FIELDS,
    EvaluatorError,
    check_fields,
    find_game,
    short,
    shortened,
)

__all__ = ["ArrayEvaluator", "NativeNumber"]


class NativeNumber:
    """A number of an `ArrayEvaluator`, the first of the integers that native code reads.

    unit: native code gets the number over this.

    Raises ValueError for NaN and infinity.
    """

    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, evaluator: Any, owner: Any = None) -> float:
        return evaluator.__dict__[self.name]  # type: ignore[no-any-return]

    def __set__(self, evaluator: Any, number: float) -> None:
        if not np.isfinite(number):
            raise ValueError(f"{self.name}: expected a finite number, found {number}")
        evaluator.__dict__[self.name] = float(number)
        evaluator._data[:1].view(np.float64)[0] = number / self.unit


class ArrayEvaluator(Evaluator):
    """An evaluator that consists of arrays, and can be made again from the result of `_parts`.

    A subclass declares `form` and `fields`, calls `_lay_out` in its constructor, and implements
    `_parts`, `_saved`, `_parts_in`, `_text` and `scope`.
    """

    suffix = ".safetensors"
    #: The form of the file, such as "plysmith-network-1".
    form: str
    #: The contents of the file, in words.
    about: ClassVar[str]
    #: Fields of the file's header beyond those of all files: their names and types.
    fields: ClassVar[Mapping[str, Any]]
    #: Names of further fields that a header may have; `_parts_in` checks them.
    optional: ClassVar[Sequence[str]] = ()

    def __init__(self, game: Game, name: str, provenance: Mapping[str, Any] | None) -> None:
        self.game = game
        self.name = name
        self.provenance = dict(provenance or {})

    def _lay_out(
        self, arrays: Iterable[NDArray[Any]], *, before: Sequence[int] = (), after: int = 0
    ) -> None:
        """Lay out the integers that native code reads, in `_data`.

        arrays: the arrays whose addresses are written one behind the other; they are kept alive.
        before: integers in front of the addresses.
        after: number of integers behind the addresses, which are 0 at first.
        """
        self._pinned = list(arrays)
        addresses = [array.ctypes.data for array in self._pinned]
        self._data = np.array([*before, *addresses, *[0] * after], dtype=np.int64)

    # --- to be implemented -----------------------------------------------------------------------

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments and options of the constructor but game, name and provenance."""
        raise NotImplementedError

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Returns the values of `fields`, and the arrays by name, for a file."""
        raise NotImplementedError

    @classmethod
    def _parts_in(
        cls, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the result of `_parts` for a file, and removes the arrays that it uses.

            content: the file's header.
        arrays: the file's arrays by name.
        game: the game that the file was made for.
        inputs: the inputs of the arrays. Default: the game's own, by name.

        Raises EvaluatorError if header and arrays do not fit.
        """
        raise NotImplementedError

    def _text(self) -> str:
        """Returns the text of the native function `value_at(data, source)`."""
        raise NotImplementedError

    def scope(self) -> dict[str, Any]:
        """Returns the kernels and constants that the generated text uses, by name."""
        raise NotImplementedError

    # --- common to all kinds ---------------------------------------------------------------------

    def data(self) -> NDArray[np.int64]:
        """Returns the integers whose address native code gets as `data`."""
        return self._data

    def native_text(self) -> NativeText:
        return NativeText(self._text(), self.scope(), self.data(), self._pinned)

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        return self._compiled("value_at", self._text(), SIGNATURE)

    def _compiled(self, name: str, text: str, signature: str) -> tuple[int, int, Any]:
        """Returns the result of `native` for a generated function.

        name: the name of the function.
        text: its source text.
        signature: its Numba signature.
        """
        address = native_function(name, text, self.scope(), signature)
        data = self.data()
        return address, data.ctypes.data, (data, self._pinned)

    def copy(self) -> Self:
        """Returns the same evaluator with arrays of its own."""
        make, given = self.__reduce__()[:2]
        return make(*given)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        # addresses do not leave the process
        arguments, options = self._parts()
        named = {**options, "name": self.name, "provenance": self.provenance}
        attributes = {"calibration": self.calibration, "prefilter": self.prefilter}
        return functools.partial(type(self), **named), (self.game, *arguments), attributes

    def save(self, path: Any) -> None:
        """Write the evaluator to a file; the same content gives the same bytes."""
        fields, arrays = self._saved()
        header = {
            "format": self.form,
            "game": self.game.name,
            "rules": self.game.version,
            "name": self.name,
            **fields,
            "provenance": self.provenance,
        }
        if self.calibration is not None:
            header[CALIBRATION] = self.calibration.content()
        save_arrays(path, header, arrays)

    @classmethod
    def from_file(
        cls,
        content: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        game: Game | None,
        inputs: Any,
    ) -> Self:
        """Returns the evaluator in a file.

            content: the file's header.
        arrays: the file's arrays by name.
        game: the game that the file must be made for. Default: the game that it names.
        inputs: the inputs of the arrays. Default: the game's own, by name.

        Raises EvaluatorError if header and arrays do not fit.
        """
        check_fields(content, {**FIELDS, **cls.fields}, optional=[CALIBRATION, *cls.optional])
        game = find_game(content, game)
        arguments, options = cls._parts_in(content, arrays, game, inputs)
        if arrays:
            raise EvaluatorError(f"expected no other arrays, found {shortened(arrays)}")
        named = {**options, "name": content["name"], "provenance": content["provenance"]}
        make: Any = cls
        try:
            evaluator = make(game, *arguments, **named)
        except (TypeError, ValueError) as error:
            raise EvaluatorError(short(error)) from None
        evaluator.calibration = read_calibration(content, game)
        return evaluator  # type: ignore[no-any-return]
