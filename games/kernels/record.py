"""A record that Python and native code share: named numbers and the addresses of arrays.

Native code takes only a few plain arguments. Everything else that it needs (options, counters,
addresses of arrays and functions) is in a record, laid out by a NumPy dtype. Kernels read and write
its fields as attributes, as in `record.nodes += 1`; Python reads them as attributes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numba import from_dtype, types
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = ["NativeRecord", "PlainRecord", "address_of", "record_reader", "word"]


@intrinsic  # type: ignore[untyped-decorator]
def address_of(typingctx: Any, record: Any) -> Any:
    """Returns the address of a record, in a kernel that has it as an argument."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], context.get_value_type(types.int64))

    return types.int64(record), codegen


def record_reader(dtype: np.dtype[Any]) -> Any:
    """Returns a function for kernels: from an address to the record of a dtype that lies there."""
    kind = from_dtype(dtype)

    @intrinsic  # type: ignore[untyped-decorator]
    def record_at(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        return kind(types.int64), codegen

    return record_at


def word(dtype: np.dtype[Any], name: str) -> int:
    """Returns the place of a field behind the address of its record, in words of eight bytes.

    It is for generated code that has only the address: `load_int(address, word(FIELDS, "count"))`.
    """
    fields: Any = dtype.fields
    return int(fields[name][1]) // 8


class NativeRecord:
    """One record of a structured dtype, all zeros at first, with the arrays that it points to.

    A field is read as an attribute: a number, or for a field of several numbers an array that
    shares the record's memory. Fields are written by `put`, `pin` and `bind` only.

    Attributes:
        record: the memory, a structured array of shape [1]. A call from Python that passes it
            takes some ten microseconds less than one that passes `row`.
        row: the record itself, which is what kernels take as their argument.
        pinned: the arrays whose addresses the record holds, by the names of the fields.

    Records hold addresses of this process and refuse to be copied or pickled (TypeError).
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        """Raises ValueError if the dtype has no fields, or one with the name of an attribute."""
        names = dtype.names or ()
        own = {*dir(type(self)), "record", "row", "pinned"}
        taken = [name for name in names if name in own]
        if not names or taken:
            raise ValueError(
                "expected a dtype of fields that are not named as attributes of the record, found"
                f" {', '.join(taken) or dtype}"
            )
        self.record: NDArray[Any] = np.zeros(1, dtype=dtype)
        self.row: Any = self.record[0]
        self.pinned: dict[str, NDArray[Any]] = {}
        self._bound: dict[str, Any] = {}
        self._views = {name: self.record[name] for name in names}
        for name, view in self._views.items():
            if view.ndim > 1:
                setattr(self, name, view[0])

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_views"][name].item()
        except KeyError:
            raise AttributeError(f"expected a field of the record, found {name!r}") from None

    def put(self, **values: Any) -> None:
        """Write values to fields by name. Raises KeyError if a name is not a field."""
        for name, value in values.items():
            self._views[name][0] = value

    def pin(self, **arrays: NDArray[Any]) -> None:
        """Write the addresses of arrays to fields by name, and keep the arrays alive.

        An array stays in `pinned` until another one is pinned to the same field. Raises ValueError
        if an array is not contiguous (C order), because native code reads it as one block.
        """
        for name, array in arrays.items():
            if not array.flags.c_contiguous:
                raise ValueError(f"{name}: expected a contiguous array, found strides in it")
            self._views[name][0] = array.ctypes.data
            self.pinned[name] = array

    def bind(self, function: str, data: str, native: tuple[int, int, Any]) -> None:
        """Write the address of a native function, and that of the data that it reads.

        function: the field for the address of the function.
        data: the field for the address of its data.
        native: both addresses and what keeps the data alive, as `Evaluator.native` returns them.
        """
        self._views[function][0], self._views[data][0], self._bound[function] = native

    @property
    def address(self) -> int:
        """The address of the record, for native code that is entered with plain integers."""
        return int(self.record.ctypes.data)

    def __reduce__(self) -> NoReturn:
        raise TypeError("expected a record for this process alone, found an attempt to copy it")


class PlainRecord:
    """The fields of a dtype as attributes of a Python object, which may hold any objects.

    A field is 0 at first, and one of several numbers an array of as many zeros.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        for name in dtype.names or ():
            number = dtype[name].base == np.float64
            if dtype[name].shape:
                zeros = np.zeros(dtype[name].shape, dtype=np.float64 if number else object)
                setattr(self, name, zeros)
            else:
                setattr(self, name, 0.0 if number else 0)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def row(self) -> Any:
        """The object itself, which is what kernels take as their argument."""
        return self

    @property
    def record(self) -> tuple[Any]:
        """What stands for an array of the one record."""
        return (self,)

    def put(self, **values: Any) -> None:
        """Write values to fields by name."""
        for name, value in values.items():
            setattr(self, name, value)
