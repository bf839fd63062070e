"""The base of evaluators whose weights are arrays: networks and signature tables.

All of them are saved as arrays with a header (`search.evaluators.array_files`), and all are read by
native code in one way: text is generated for the shapes of the arrays, compiled once, and given a
block of integers that says where the arrays lie. New weights compile nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.kernels.memory import native_function
from search.evaluators.array_files import save_arrays
from search.evaluators.evaluator import SIGNATURE, Evaluator, Fail
from search.evaluators.header import (
    FIELDS,
    EvaluatorError,
    check_fields,
    find_game,
    short,
    shortened,
)

__all__ = ["ArrayEvaluator"]


class ArrayEvaluator(Evaluator):
    """An evaluator that is made of arrays, and can be made again from what `_parts` returns.

    A kind states `form` and `fields`, calls `_lay_out` when it is made, and fills in `_parts`,
    `_saved`, `_parts_in`, `_text` and `scope`.
    """

    suffix = ".safetensors"
    #: The form of the file, such as "plysmith-network-1".
    form: ClassVar[str]
    #: What the file's header says beside what all files say: names of fields and their types.
    fields: ClassVar[Mapping[str, Any]]

    def __init__(self, game: Game, name: str, provenance: Mapping[str, Any] | None) -> None:
        self.game = game
        self.name = name
        self.provenance = dict(provenance or {})

    def _lay_out(
        self, arrays: Iterable[NDArray[Any]], *, before: Sequence[int] = (), after: int = 0
    ) -> None:
        """Lay out the integers that native code reads, in `_data`.

        arrays: their addresses are written one behind the other, and they are kept alive.
        before: integers in front of the addresses.
        after: number of integers, 0 at first, behind the addresses.
        """
        self._pinned = list(arrays)
        addresses = [array.ctypes.data for array in self._pinned]
        self._data = np.array([*before, *addresses, *[0] * after], dtype=np.int64)

    # --- to be filled in -------------------------------------------------------------------------

    def _parts(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments and options, beside game, name and provenance, that make this evaluator."""
        raise NotImplementedError

    def _saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The values of `fields`, and the arrays by name, as a file holds them."""
        raise NotImplementedError

    @classmethod
    def _parts_in(
        cls, path: Path, content: Any, arrays: dict[str, NDArray[Any]], game: Game, inputs: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What `_parts` returns, from a file's header and arrays; takes the arrays that it uses.

        Raises EvaluatorError where they do not fit.
        """
        raise NotImplementedError

    def _text(self) -> str:
        """The text of the native function `value_at(data, source)`."""
        raise NotImplementedError

    def scope(self) -> dict[str, Any]:
        """The names that the generated text uses."""
        raise NotImplementedError

    # --- what follows from these -----------------------------------------------------------------

    def data(self) -> NDArray[np.int64]:
        """The integers whose address native code is given as `data`."""
        return self._data

    def native(self, fail: Fail) -> tuple[int, int, Any]:
        return self._compiled("value_at", self._text(), SIGNATURE)

    def _compiled(self, name: str, text: str, signature: str) -> tuple[int, int, Any]:
        """What `native` returns for the native function of that name."""
        address = native_function(name, text, self.scope(), signature)
        data = self.data()
        return address, data.ctypes.data, (data, self._pinned)

    def copy(self) -> Self:
        """The same evaluator with arrays of its own."""
        make, given = self.__reduce__()
        return make(*given)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        # addresses do not leave the process
        arguments, options = self._parts()
        named = {**options, "name": self.name, "provenance": self.provenance}
        return _made, (type(self), (self.game, *arguments), named)

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
        save_arrays(path, header, arrays)

    @classmethod
    def from_file(
        cls,
        path: Path,
        content: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        game: Game | None,
        inputs: Any,
    ) -> Self:
        """The evaluator in a file's header and arrays; EvaluatorError where they are not of one.

        game: what the file was made for; None for the game that the file names.
        inputs: what the arrays are read over; None for the game's own, by name.
        """
        check_fields(path, content, {**FIELDS, **cls.fields})
        game = find_game(path, content, game)
        arguments, options = cls._parts_in(path, content, arrays, game, inputs)
        if arrays:
            raise EvaluatorError(f"{path}: expected no other arrays, found {shortened(arrays)}")
        named = {**options, "name": content["name"], "provenance": content["provenance"]}
        make: Any = cls
        try:
            return make(game, *arguments, **named)  # type: ignore[no-any-return]
        except (TypeError, ValueError) as error:
            raise EvaluatorError(f"{path}: {short(error)}") from None


def _made(kind: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return kind(*arguments, **options)
