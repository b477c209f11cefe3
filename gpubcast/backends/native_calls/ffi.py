"""Launches that XLA's FFI may run: their records, and the C function that finds them.

A call names its record by a key that follows from what is computed, never by an address: XLA may
keep a compiled program on disk, and another process has the same key for the same work. Records
are never forgotten, because a compiled program may refer to them at any time.
"""

from __future__ import annotations

import functools
import hashlib
import re
import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.cpu.threads import team
from gpubcast.backends.native_calls import ffi_layout as w
from gpubcast.backends.native_calls.record import PackedParameters
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import DeviceError

_PLACES = 64
_VERSION = re.compile(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)")

_ENTRY = """
@missing = private constant [{length} x i8] c"{missing}\\00"
@refused = private constant [{length} x i8] c"{refused}\\00"

define ptr @{name}(ptr %frame) {{
  %at.extension = getelementptr i8, ptr %frame, i64 {w.FRAME_EXTENSION}
  %extension = load ptr, ptr %at.extension
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %run, label %extended
extended:
  %at.type = getelementptr i8, ptr %extension, i64 {w.EXTENSION_TYPE}
  %type = load i32, ptr %at.type
  %asked = icmp eq i32 %type, {w.METADATA}
  br i1 %asked, label %answer, label %run
answer:
  %at.metadata = getelementptr i8, ptr %extension, i64 {w.EXTENSION_METADATA}
  %metadata = load ptr, ptr %at.metadata
  %at.major = getelementptr i8, ptr %metadata, i64 {w.METADATA_MAJOR}
  %at.minor = getelementptr i8, ptr %metadata, i64 {w.METADATA_MINOR}
  %at.traits = getelementptr i8, ptr %metadata, i64 {w.METADATA_TRAITS}
  store i32 {major}, ptr %at.major
  store i32 {minor}, ptr %at.minor
  store i32 0, ptr %at.traits
  ret ptr null
run:
  %status = alloca i64
  %nothing = alloca ptr
  %error = alloca ptr
  %code = inttoptr i64 {code} to ptr
  %given = ptrtoint ptr %frame to i64
  %result = ptrtoint ptr %status to i64
  %done = call i32 %code(ptr %nothing, ptr %error, i64 %given, i64 {control}, i64 %result)
  %found = load i64, ptr %status
  %fine = icmp eq i64 %found, 0
  br i1 %fine, label %end, label %refuse
refuse:
  %text = alloca [4 x ptr], align 8
  store i64 {w.ARGUMENTS_BYTES}, ptr %text
  %at.next = getelementptr i8, ptr %text, i64 8
  %at.message = getelementptr i8, ptr %text, i64 16
  %at.kind = getelementptr i8, ptr %text, i64 24
  store ptr null, ptr %at.next
  %unknown = icmp eq i64 %found, {w.MISSING}
  %message = select i1 %unknown, ptr @missing, ptr @refused
  store ptr %message, ptr %at.message
  store i32 {w.FAILED_PRECONDITION}, ptr %at.kind
  %at.api = getelementptr i8, ptr %frame, i64 {w.FRAME_API}
  %api = load ptr, ptr %at.api
  %at.create = getelementptr i8, ptr %api, i64 {w.API_ERROR_CREATE}
  %create = load ptr, ptr %at.create
  %refusal = call ptr %create(ptr %text)
  ret ptr %refusal
end:
  ret ptr null
}}
"""
_MISSING = "this process has no gpubcast call of this key: it was compiled by another one"
_REFUSED = "gpubcast: the GPU has no kernel of this call, or its driver refused the launch"
_LENGTH = max(len(_MISSING), len(_REFUSED)) + 1


@dataclass(frozen=True, slots=True)
class FfiStep:
    """One kernel of a call.

    Attributes:
        code: the address of its code; on a GPU the driver's handle.
        grid, block: how it is launched: see ``Backend.launch``.
        threads: how many take part on a CPU.
        parameters: packed.
    """

    code: int
    grid: int
    block: tuple[int, int]
    threads: int
    parameters: PackedParameters


class FfiCalls:
    """The records of this process for one platform.

    The table that the handler reads is its mask, then pairs of a key and the address of a record,
    each at the first free place from ``key & mask`` on.
    """

    def __init__(self, handler: str) -> None:
        self._handler = handler
        self._lock = threading.Lock()
        self._held: list[Any] = []
        self._records: dict[int, int] = {}
        self._entries: dict[tuple[int, int], int] = {}
        # What the handler reads: the address of the table.
        self._control = array("q", [0])
        self._write_table(_PLACES)

    def handler(self, header: Path) -> int:
        """The address of the handler, for the version of the FFI that a header states.

        Raises:
            ValueError: the header states none.
        """
        version = dict(_VERSION.findall(header.read_text(encoding="utf-8")))
        if len(version) != 2:
            raise ValueError(f"{header} states no version of XLA's FFI")
        major, minor = int(version["MAJOR"]), int(version["MINOR"])
        with self._lock:
            if (major, minor) not in self._entries:
                source = KernelSource(self._handler, f"XLA: {self._handler}", self._handler)
                code = object_cache.load(source, functools.partial(_compiled, self._handler))
                name = f"gpubcast_{self._handler}"
                # It names addresses of this process, so it is not kept on disk.
                text = _ENTRY.format(
                    w=w, name=name, major=major, minor=minor, code=code, length=_LENGTH,
                    control=self._control.buffer_info()[0],
                    missing=_MISSING.ljust(_LENGTH - 1), refused=_REFUSED.ljust(_LENGTH - 1),
                )  # fmt: skip
                self._entries[major, minor] = object_cache.loaded(
                    object_cache.compiled_ir(text), name
                )
            return self._entries[major, minor]

    def add(
        self,
        name: str,
        arity: int,
        outs: int,
        devices: Sequence[Sequence[FfiStep]],
        driver: tuple[int, int] = (0, 0),
    ) -> int:
        """The key of a launch, whose record is written unless there is one.

        Args:
            name: all that the result depends on.
            arity, outs: numbers of its operands and results, temporaries among the results.
            devices: for each device its kernels; a CPU is one.
            driver: the addresses of ``cuLaunchKernel`` and ``cuCtxGetDevice``.

        Raises:
            DeviceError: J2, there are more buffers or parameters than the handler has room for.
        """
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") >> 1 or 1
        steps = [step for one in devices for step in one]
        largest = max((len(step.parameters.packed) for step in steps), default=0)
        if arity + outs > w.MOST_BUFFERS or largest > 8 * w.MOST_PARAMETERS:
            raise DeviceError(
                f"a custom call of XLA has at most {w.MOST_BUFFERS} operands and results and "
                f"{8 * w.MOST_PARAMETERS} bytes of parameters; this one has {arity + outs} and "
                f"{largest}",
                rule="J2",
                kind="gpubcast:custom call",
            )
        with self._lock:
            if key not in self._records:
                written = [self._step(arity + outs, step) for step in steps]
                head = [arity, outs, len(devices[0]), len(devices), *driver]
                words = array("q", [*head, *written])
                self._held.append(words)
                self._records[key] = words.buffer_info()[0]
                self._publish(key)
        return key

    def _step(self, count: int, step: FfiStep) -> int:
        parts, unit = step.block
        members = team.thread_team(step.threads) if step.threads and parts > 1 else None
        state, run = (0, 0) if members is None else (members.state, members.run)
        packed = step.parameters.packed
        template = array("q", packed + bytes(-len(packed) % 8))
        slots = [x for at, add in step.parameters.slots for x in (at % (count + 1), add)]
        head = (step.code, step.grid, parts, unit, step.threads, state, run)
        words = array("q", [*head, len(template), len(slots) // 2, *template, *slots])
        self._held += [words, members]
        return words.buffer_info()[0]

    def _publish(self, key: int) -> None:
        places = self._table[0] + 1
        if 2 * len(self._records) > places:
            self._write_table(4 * places)
        else:
            self._place(self._table, key)

    def _write_table(self, places: int) -> None:
        """A new table. Readers may still be in the old one, which stays where it is."""
        table = array("q", [places - 1] + [0] * (2 * places))
        for key in self._records:
            self._place(table, key)
        self._held.append(table)
        self._table = table
        self._control[0] = table.buffer_info()[0]

    def _place(self, table: array[int], key: int) -> None:
        mask = table[0]
        place = key & mask
        while table[1 + 2 * place]:
            place = (place + 1) & mask
        # The key comes last: with it the record is found.
        table[2 + 2 * place] = self._records[key]
        table[1 + 2 * place] = key


def _compiled(handler: str) -> tuple[bytes, str]:
    from gpubcast.backends.cpu.jit.compile import machine_code
    from gpubcast.backends.native_calls import ffi_handler

    return machine_code(getattr(ffi_handler, handler), 3)


CPU_CALLS, GPU_CALLS = FfiCalls("handle_on_cpu"), FfiCalls("handle_on_gpu")


def code_of(kernel: Any) -> int | None:
    """The address of a kernel's code, from the function that calls it, or the driver's handle of a
    GPU's; None where ctypes stands in for that, on an interpreter that is not CPython."""
    found = getattr(kernel, "ptr", getattr(kernel, "__self__", None))
    return found if isinstance(found, int) else None
