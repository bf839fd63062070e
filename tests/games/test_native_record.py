"""The record that Python and native code share: fields by name, pinned arrays, bound functions."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest
from errors import errors_of

from games import kernels
from games.kernels import NativeRecord, kernel
from games.kernels.memory import load_float, load_int, native_function, store_float
from games.kernels.record import address_of, word
from search.native import call_float

pytestmark = pytest.mark.plain

FIELDS = np.dtype(
    [(name, np.int64) for name in ("numbers", "count", "scale_at", "factors")]
    + [("total", np.float64), ("squares", np.float64, (3,)), ("grid", np.int64, (2, 2))],
    align=True,
)


@kernel
def add_up(record):
    for i in range(record.count):
        number = load_float(record.numbers, i)
        record.total += number
        record.squares[i] = number * number
        store_float(record.numbers, i, -number)
    record.grid[1, 0] = record.count


@kernel
def own_address(record):
    return address_of(record)


@kernel
def scaled(record, number):
    return call_float(record.scale_at, (record.factors, number))


def filled() -> NativeRecord:
    record = NativeRecord(FIELDS)
    record.pin(numbers=np.array([1.0, 2.5, -3.0]))
    record.put(count=3, total=0.25)
    return record


def test_fields_are_numbers_and_views() -> None:
    record = filled()
    assert type(record.count) is int and record.count == 3
    assert type(record.total) is float and record.total == 0.25
    record.squares[1] = 7.0
    assert record.record["squares"].tolist() == [[0.0, 7.0, 0.0]]
    record.put(grid=[[1, 2], [3, 4]], squares=2.0)
    assert record.grid.tolist() == [[1, 2], [3, 4]] and record.squares.tolist() == [2.0] * 3
    assert record.row["total"] == 0.25
    record.put(total=0.5)
    assert record.row["total"] == 0.5


@pytest.mark.skipif(not kernels.compiled, reason="memory is read by compiled code alone")
def test_native_code_reads_and_writes_the_same_memory() -> None:
    record = filled()
    add_up(record.row)
    assert record.total == 0.75 and record.squares.tolist() == [1.0, 6.25, 9.0]
    assert record.grid.tolist() == [[0, 0], [3, 0]]
    assert record.pinned["numbers"].tolist() == [-1.0, -2.5, 3.0]


@pytest.mark.skipif(not kernels.compiled, reason="memory is read by compiled code alone")
def test_a_bound_function_reads_its_data() -> None:
    text = "def scale_at(data, number):\n    return load_int(data, 1) * float(number)\n"
    data = np.array([5, 3], dtype=np.int64)
    address = native_function("scale_at", text, {"load_int": load_int}, "float64(int64, int64)")
    record = NativeRecord(FIELDS)
    gone = weakref.ref(data)
    record.bind("scale_at", "factors", (address, data.ctypes.data, data))
    del data
    gc.collect()
    assert gone() is not None
    assert record.scale_at == address and scaled(record.row, 14) == 42.0


def test_pinned_arrays_live_as_long_as_they_are_pinned() -> None:
    record = NativeRecord(FIELDS)
    first = np.arange(3.0)
    gone = weakref.ref(first)
    record.pin(numbers=first)
    assert record.numbers == first.ctypes.data
    del first
    gc.collect()
    assert gone() is not None and record.pinned["numbers"].tolist() == [0.0, 1.0, 2.0]
    second = np.arange(4.0)
    record.pin(numbers=second)
    gc.collect()
    assert gone() is None and record.numbers == second.ctypes.data


def test_the_address_is_that_of_the_record() -> None:
    record = filled()
    place = record.address + 8 * word(FIELDS, "count")
    assert ctypes.c_int64.from_address(place).value == 3
    if kernels.compiled:
        assert own_address(record.row) == record.address


def test_names_that_are_not_fields_are_refused() -> None:
    record = NativeRecord(FIELDS)
    with pytest.raises(AttributeError, match="expected a field of the record, found 'counts'"):
        _ = record.counts
    for write in (record.put, record.pin):
        with pytest.raises(KeyError, match="counts"):
            write(counts=np.zeros(1))
    assert record.pinned == {}


def test_arrays_with_gaps_are_refused() -> None:
    record = NativeRecord(FIELDS)
    with pytest.raises(ValueError, match="numbers: expected a contiguous array, found strides"):
        record.pin(numbers=np.arange(6.0)[::2])
    assert record.numbers == 0


test_errors = errors_of(globals())
