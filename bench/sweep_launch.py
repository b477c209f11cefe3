"""What ways to launch cost the host, and from which size on a call beats CuPy's."""

from __future__ import annotations

import ctypes
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gpubcast as gb

from .cases import values
from .timing import Call, Contender, said

if TYPE_CHECKING:
    from .sweep import Sweep

ELEMENTS = 64
_SOURCE = """
struct P { unsigned long long a, b, out; long long n; };
extern "C" __global__ void separate(const float* a, const float* b, float* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void packed(const __grid_constant__ P p) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  const float* a = reinterpret_cast<const float*>(p.a);
  const float* b = reinterpret_cast<const float*>(p.b);
  if (i < p.n) reinterpret_cast<float*>(p.out)[i] = a[i] + b[i];
}
"""

Result = dict[str, Any]
Measure = Callable[["Sweep"], Result]


def units(*, dry: bool) -> Iterator[tuple[str, str, Measure]]:
    """Question, case and what measures it."""
    yield "launch", f"{ELEMENTS} elements", _launch
    for bits in (12,) if dry else range(12, 31, 3):
        yield "sizes", _size(1 << bits), _sizes(1 << bits)


def _launch(sweep: Sweep) -> Result:
    """What a launch costs the host by every way there is; nothing waits for the device."""
    x, y, out = _arrays(sweep, ELEMENTS)
    plan = gb.plan("add", x.xla_shape, y.xla_shape)
    ours: list[tuple[str, Call]] = [
        ("bound", plan.bind(x, y, out=out)),
        ("plan", lambda: plan(x, y, out=out)),
        ("gb.add", lambda: gb.add(x, y)),
    ]
    others = [] if sweep.dry else _ways(x.view(), y.view(), out.view())
    return _measured(sweep, "launch", f"{ELEMENTS} elements", [*ours, *others], on_host=True)


def _sizes(num_bytes: int) -> Measure:
    def measure(sweep: Sweep) -> Result:
        x, y, out = _arrays(sweep, num_bytes // 12)
        plan = gb.plan("add", x.xla_shape, y.xla_shape)
        ways: list[tuple[str, Call]] = [
            ("bound", plan.bind(x, y, out=out)),
            ("plan", lambda: plan(x, y, out=out)),
        ]
        if not sweep.dry:
            xp, a, b, c = sweep.machine.xp, x.view(), y.view(), out.view()
            ways.append(("CuPy", lambda: xp.add(a, b, out=c)))
        result = _measured(sweep, "sizes", _size(num_bytes), ways, on_host=False)
        result["bytes"] = num_bytes // 12 * 12
        for row in result["variants"]:
            if row["status"] == "ok":
                row |= {"rate": result["bytes"] / row["median"], "fraction": None}
        return result

    return measure


def _arrays(sweep: Sweep, elements: int) -> tuple[gb.Array, gb.Array, gb.Array]:
    shape = gb.Shape("f32", (elements,))
    x, y = (gb.array(values(sweep.machine.xp, shape, seed), device="cuda") for seed in (1, 2))
    return x, y, gb.empty(shape, device="cuda")


def _size(num_bytes: int) -> str:
    unit, name = next((u, n) for u, n in ((1 << 20, "MiB"), (1 << 10, "KiB")) if num_bytes >= u)
    return f"{num_bytes // unit} {name}"


def _measured(
    sweep: Sweep, question: str, case: str, ways: Sequence[tuple[str, Call]], *, on_host: bool
) -> Result:
    rows: list[Result] = []
    contenders: list[Contender] = []
    timed: list[Result] = []
    for name, call in ways:
        row: Result = {"variant": name, "schedule": "", "status": "ok", "error": None}
        rows.append(row)
        try:
            call()
            sweep.machine.synchronize()
        except Exception as error:
            row |= {"status": "failed", "error": said(error)}
            sweep.machine.synchronize()  # raises where the device is lost
            continue
        contenders.append(Contender("", name, [call], on_host=on_host))
        timed.append(row)
    sweep.time(contenders, timed)
    return {"question": question, "case": case, "shapes": [], "bytes": 0, "variants": rows}


def _ways(a: Any, b: Any, out: Any) -> list[tuple[str, Call]]:
    """Launches of kernels written here, through CuPy and through the driver itself."""
    import cupy
    from cupy.cuda.function import CPointer

    from gpubcast.backends.cuda import nvrtc

    arch = f"sm_{cupy.cuda.Device().compute_capability}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ways.cubin"
        path.write_bytes(nvrtc.compile_cubin(_SOURCE, arch).image)
        module = cupy.RawModule(path=str(path))
        separate, packed = module.get_function("separate"), module.get_function("packed")
        assert separate.num_regs and packed.num_regs  # loaded while the file is there
    size = a.size
    grid, block = (-(-size // 256),), (256,)
    words = struct.pack("<QQQq", a.data.ptr, b.data.ptr, out.data.ptr, size)
    memory = ctypes.create_string_buffer(words, len(words))
    pointer = CPointer(ctypes.addressof(memory))
    function = packed.kernel
    driver = ctypes.CDLL("libcuda.so.1")
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    handle = ctypes.c_void_p(function.ptr)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture()
        packed(grid, block, (pointer,))
        graph = stream.end_capture()

    def raw() -> object:
        status = driver.cuLaunchKernel(handle, *grid, 1, 1, *block, 1, 1, 0, None, arguments, None)
        assert status == 0, f"cuLaunchKernel: error {status}"
        return memory

    return [
        ("RawKernel, arguments", lambda: separate(grid, block, (a, b, out, size))),
        ("RawKernel, packed", lambda: packed(grid, block, (pointer,))),
        ("Function, packed", lambda: function((*grid, 1, 1), (*block, 1, 1), (pointer,))),
        ("cuLaunchKernel", raw),
        ("graph of one launch", lambda: graph.launch(stream=stream)),
        ("cupy.add, out", lambda: cupy.add(a, b, out=out)),
        ("cupy.add", lambda: cupy.add(a, b)),
    ]
