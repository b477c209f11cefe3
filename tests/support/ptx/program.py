"""A PTX file that can be run: its functions, translated when they are first needed, and its
module variables in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from tests.support.ptx.faults import RefusedError
from tests.support.ptx.opcodes import DTYPES, size_of
from tests.support.ptx.parser import Function, Variable, parse
from tests.support.ptx.translation import Code, translate


class Module:
    """A program and the memory of its variables.

    Attributes:
        symbols: the addresses of its variables in global and constant memory.
        ranges: where those begin and end.
        shared_bytes: of static shared memory; that of all kernels in the text counts.

    Raises:
        RefusedError: a directive that is not known; instructions are read when they are needed.
    """

    def __init__(self, text: str) -> None:
        self.program = parse(text)
        self.symbols: dict[str, int] = {}
        self.ranges: list[tuple[int, int]] = []
        self._held: list[Any] = []
        self._codes: dict[str, Code] = {}
        functions = self.program.functions.values()
        variables = [*(v for f in functions for v in f.variables), *self.program.variables]
        shared = [variable for variable in variables if variable.space == "shared"]
        # The size of dynamic shared memory is the launch's: it lies at the end.
        self.shared, self.shared_bytes = _layout(sorted(shared, key=lambda v: v.count == 0))
        for variable in self.program.variables:
            if variable.space != "shared":
                self._place(variable)

    def _place(self, variable: Variable) -> None:
        dtype = DTYPES[variable.type]
        array = np.zeros(max(variable.count, len(variable.values)), dtype)
        for i, text in enumerate(variable.values):
            array[i] = _initial(text, dtype)
        held = np.zeros(array.nbytes + 64, np.uint8)
        begin = -held.ctypes.data % 64
        held[begin : begin + array.nbytes] = array.view(np.uint8)
        address = held.ctypes.data + begin
        self._held.append(held)
        self.symbols[variable.name] = address
        self.ranges.append((address, address + array.nbytes))

    def function(self, name: str) -> Function:
        """A function by its name.

        Raises:
            RefusedError: there is none.
        """
        if name not in self.program.functions:
            raise RefusedError(f"function {name}")
        return self.program.functions[name]

    def code(self, name: str) -> Code:
        """A function as Python."""
        if name not in self._codes:
            function = self.function(name)
            offsets = {**self.shared, **_layout(_local(function))[0]}
            if function.entry:
                offsets.update(_layout(function.parameters)[0])
            self._codes[name] = translate(function, self.symbols, offsets)
        return self._codes[name]

    def local_bytes(self, name: str) -> int:
        """Bytes of the local memory of a call."""
        return -(-_layout(_local(self.function(name)))[1] // 32) * 32

    def parameter_bytes(self, name: str) -> int:
        """Bytes of the parameters of a kernel."""
        return _layout(self.function(name).parameters)[1]

    @cached_property
    def most_local_bytes(self) -> int:
        """Bytes of local memory that a thread may have in use: no function calls itself."""
        return sum(map(self.local_bytes, self.program.functions))


def _local(function: Function) -> list[Variable]:
    return [variable for variable in function.variables if variable.space == "local"]


def _layout(variables: Iterable[Variable]) -> tuple[dict[str, int], int]:
    """Where variables that lie behind each other begin, and where the last one ends."""
    offsets, end = {}, 0
    for variable in variables:
        alignment = max(variable.alignment, size_of(variable.type))
        offsets[variable.name] = -(-end // alignment) * alignment
        end = offsets[variable.name] + variable.count * size_of(variable.type)
    return offsets, end


def _initial(text: str, dtype: np.dtype) -> Any:
    if re.fullmatch(r"0[fFdD][0-9a-fA-F]+", text):
        return np.dtype(f"u{dtype.itemsize}").type(int(text[2:], 16)).view(dtype)
    if not re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)U?", text):
        raise RefusedError(f"initial value {text}")
    bits = int(text.rstrip("U"), 0) & ((1 << 8 * dtype.itemsize) - 1)
    return np.dtype(f"u{dtype.itemsize}").type(bits).view(dtype)
