"""A PTX file that can be run: its functions, translated when they are first needed, and its
module variables in memory."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np

from tests.support.ptx.faults import RefusedError
from tests.support.ptx.opcodes import DTYPES, size_of
from tests.support.ptx.parser import Function, Variable, parse
from tests.support.ptx.translation import Code, translate


class Module:
    """A program and the memory of its variables.

    Raises:
        RefusedError: a directive that is not known; instructions are read when they are needed.
    """

    def __init__(self, text: str) -> None:
        self.program = parse(text)
        self.symbols: dict[str, int] = {}
        self.ranges: list[tuple[int, int]] = []
        self.shared: dict[str, int] = {}
        self._held: list[Any] = []
        self._codes: dict[str, Code] = {}
        self._shared_end = 0
        for variable in self.program.variables:
            if variable.space == "shared":
                self._share(variable)
            else:
                self._place(variable)
        for function in self.program.functions.values():
            for variable in function.variables:
                if variable.space == "shared":
                    self._share(variable)

    def _share(self, variable: Variable) -> None:
        """Shared variables of all functions lie behind each other, dynamic ones at the end."""
        begin = -(-self._shared_end // variable.alignment) * variable.alignment
        self.shared[variable.name] = begin
        self._shared_end = begin + variable.count * size_of(variable.type)

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
            offsets = {**self.shared, **self._depot(function)[0]}
            self._codes[name] = translate(function, self.symbols, offsets)
        return self._codes[name]

    def local_bytes(self, name: str) -> int:
        """Bytes of the local memory of a call."""
        return self._depot(self.function(name))[1]

    @property
    def shared_bytes(self) -> int:
        """Bytes of static shared memory; that of all kernels in the text counts."""
        return self._shared_end

    @cached_property
    def most_local_bytes(self) -> int:
        """Bytes of local memory that a thread may have in use: no function calls itself."""
        return sum(map(self.local_bytes, self.program.functions))

    def _depot(self, function: Function) -> tuple[dict[str, int], int]:
        offsets, end = {}, 0
        for variable in function.variables:
            if variable.space == "local":
                offsets[variable.name] = -(-end // variable.alignment) * variable.alignment
                end = offsets[variable.name] + variable.count * size_of(variable.type)
        return offsets, -(-end // 32) * 32


def _initial(text: str, dtype: np.dtype) -> Any:
    if re.fullmatch(r"0[fFdD][0-9a-fA-F]+", text):
        return np.dtype(f"u{dtype.itemsize}").type(int(text[2:], 16)).view(dtype)
    if not re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)U?", text):
        raise RefusedError(f"initial value {text}")
    bits = int(text.rstrip("U"), 0) & ((1 << 8 * dtype.itemsize) - 1)
    return np.dtype(f"u{dtype.itemsize}").type(bits).view(dtype)
