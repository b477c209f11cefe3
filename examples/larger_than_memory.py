"""Larger than memory: an array normalised by its own statistics, and its softmax, by Dask.

The array is a file without a name that is mapped into memory, which the system gives back when this
process ends, however it ends. Dask goes over it block by block on threads; each block of a result
is one kernel. A result is reduced per block and not kept. ``--numpy`` does the same with plain
Dask on NumPy beside it, ``--from-disk`` forgets the system's cache of the file before each pass.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

import gpubcast as gb

try:
    import dask
    import dask.array as da
    from dask.diagnostics import ProgressBar

    import gpubcast.dask
except ImportError as missing:
    raise SystemExit("this example needs Dask: pip install 'gpubcast[dask]'") from missing

COLUMNS = 4096
LIMIT = 4_000_000_000
UNITS = {"kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
# What the file may not take of a disk.
RESERVE = 1_000_000_000


@gb.fuse("row col -> col, col")
def statistics(x):
    n = gb.convert_element_type(gb.get_dimension_size(x, "row"), "f32")
    mean = gb.reduce_sum(x, "row") / n
    return mean, gb.sqrt(gb.reduce_sum(gb.square(x - mean), "row") / n)


@gb.fuse("row col, col, col -> row col")
def normalised(x, mean, deviation):
    return (x - mean) / deviation


@gb.fuse("row col -> row col")
def softmax(x):
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


def statistics_with_numpy(x: Any) -> tuple[Any, Any]:
    return x.mean(axis=0), x.std(axis=0)


def normalised_with_numpy(x: Any, mean: Any, deviation: Any) -> Any:
    return (x - mean) / deviation


def softmax_with_numpy(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


FUNCTIONS = {
    "gpubcast": (statistics, normalised, softmax),
    "NumPy": (statistics_with_numpy, normalised_with_numpy, softmax_with_numpy),
}


# --- the input -----------------------------------------------------------------------------------


def file_system(folder: Path) -> str:
    """The kind of file system that a folder is on."""
    found, longest = "", -1
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, place, kind, *_ = line.split()
        if folder.resolve().is_relative_to(place) and len(place) > longest:
            found, longest = kind, len(place)
    return found


class Mapped:
    """A file's elements as ``dask.array.from_array`` takes them: it would copy what is NumPy's."""

    def __init__(self, file: BinaryIO, rows: int) -> None:
        self._file = file
        self._mapping = mmap.mmap(file.fileno(), 4 * rows * COLUMNS, access=mmap.ACCESS_READ)
        self.memory = np.frombuffer(self._mapping, np.float32).reshape(rows, COLUMNS)
        self.shape, self.dtype, self.ndim = self.memory.shape, self.memory.dtype, 2

    def __getitem__(self, index: Any) -> np.ndarray[Any, Any]:
        return self.memory[index]

    def forget(self) -> None:
        """Have the system read the file from the disk again."""
        self._mapping.madvise(mmap.MADV_DONTNEED)  # what is mapped stays in the cache
        os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def disk_rate(self) -> float:
        """Bytes per second of reading the file from one end to the other."""
        self.forget()
        buffer, at, start = bytearray(1 << 24), 0, time.perf_counter()
        while count := os.preadv(self._file.fileno(), [buffer], at):
            at += count
        return at / (time.perf_counter() - start)


@contextlib.contextmanager
def mapped(rows: int, folder: Path) -> Iterator[Mapped]:
    """Rows of numbers in a file without a name, of which nothing stays behind."""
    size = 4 * rows * COLUMNS
    free = shutil.disk_usage(folder).free
    if free < size + RESERVE:
        raise SystemExit(f"{folder} has {free / 1e9:.1f} GB free: --size or --folder")
    if file_system(folder) in ("tmpfs", "ramfs"):
        raise SystemExit(f"{folder} is memory: name a folder on a disk, --folder")
    rng = np.random.default_rng(0)
    some = rng.standard_normal((min(rows, 4096), COLUMNS), np.float32)
    with tempfile.TemporaryFile(dir=folder) as file:
        for start in range(0, rows, len(some)):
            gain, shift = np.float32(rng.uniform(0.5, 2, COLUMNS)), np.float32(rng.uniform(-1, 3))
            (some[: rows - start] * gain + shift).tofile(file)
        file.flush()
        os.fsync(file.fileno())
        yield Mapped(file, rows)


# --- memory --------------------------------------------------------------------------------------


def anonymous_memory(process: str = "self") -> int:
    """Bytes of memory that is no file's, of a process and of those that it started."""
    found = 0
    with contextlib.suppress(OSError):  # one has ended meanwhile
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                found = 1024 * int(line.split()[1])
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            found += sum(map(anonymous_memory, children.read_text().split()))
    return found


class Peak:
    """The most anonymous memory, looked for 50 times a second, until ``stop``."""

    def __init__(self) -> None:
        self.bytes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self.bytes = max(self.bytes, anonymous_memory())

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self.bytes


# --- the passes ----------------------------------------------------------------------------------


def largest(block: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What is kept of a block of a result."""
    return block.max(axis=(0, 1), keepdims=True)


def reduced(result: da.Array) -> Any:
    return result.map_blocks(largest, chunks=(1, 1), dtype=result.dtype).compute().ravel()


def passes(x: da.Array, library: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is computed, one after the other; the statistics alone are kept."""
    of, normal, soft = FUNCTIONS[library]
    kept: list[Any] = []
    yield "statistics", lambda: kept.extend(dask.compute(*of(x))) or tuple(kept)
    yield "normalised", lambda: reduced(normal(x, *kept))
    yield "softmax", lambda: reduced(soft(x))


def wrong(found: dict[str, Any], memory: np.ndarray[Any, Any], block: int) -> list[str]:
    """Which results are not NumPy's in double precision, of maxima those of the last block."""
    mean, deviation = (x.astype("f8") for x in found["statistics"])
    total, squares = np.zeros(COLUMNS), np.zeros(COLUMNS)
    for start in range(0, len(memory), 4096):
        rows = memory[start : start + 4096]
        total += rows.sum(axis=0, dtype="f8")
        squares += np.square(rows - mean).sum(axis=0)
    true = total / len(memory)
    spread = np.sqrt(squares / len(memory) - np.square(true - mean))
    bad = []
    if not (np.allclose(mean, true, rtol=0, atol=1e-5) and np.allclose(deviation, spread, 1e-5)):
        bad.append("statistics")
    largest_normal = largest_soft = -np.inf
    for start in range((len(memory) - 1) // block * block, len(memory), 1024):
        rows = memory[start : start + 1024].astype("f8")
        largest_normal = max(largest_normal, normalised_with_numpy(rows, true, spread).max())
        largest_soft = max(largest_soft, softmax_with_numpy(rows).max())
    wanted = {"normalised": largest_normal, "softmax": largest_soft}
    return bad + [name for name, x in wanted.items() if not np.isclose(found[name][-1], x, 2e-5)]


def size_of(text: str) -> int:
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=size_of, default=16 * UNITS["GB"], help="such as 4GB")
    parser.add_argument("--block", type=size_of, default=128 << 20, help="the size of a block")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--numpy", action="store_true", help="plain Dask on NumPy beside it")
    parser.add_argument("--repeat", type=int, default=1, help="times, in turns; the best is shown")
    parser.add_argument("--from-disk", action="store_true", help="read the disk in each pass")
    return parser.parse_args(arguments)


@dataclass
class Measured:
    """What the passes took: seconds by pass and library, the most memory, and what is wrong."""

    shape: tuple[int, int]
    seconds: dict[tuple[str, str], list[float]]
    peaks: dict[str, int]
    failed: list[str]


def measure(given: argparse.Namespace) -> Measured:
    """Go through the file, by each library in turns."""
    rows, block = (max(size // (4 * COLUMNS), 1) for size in (given.size, given.block))
    libraries = ("gpubcast", "NumPy")[: 1 + given.numpy]
    made = Measured((rows, COLUMNS), {}, dict.fromkeys(libraries, 0), [])
    dask.config.set(scheduler="threads", num_workers=given.workers)
    with mapped(rows, given.folder) as source:
        print(
            f"f32[{rows},{COLUMNS}], {source.memory.nbytes / 1e9:.2f} GB, {given.workers} threads"
        )
        if given.from_disk:
            print(f"the disk alone: {source.disk_rate() / 1e9:.2f} GB/s")
        # A block is the file's memory, not a copy of it.
        x = da.from_array(source, chunks=(block, -1), name="input", inline_array=True)
        for library in libraries:  # kernels are compiled, once for all sizes
            for _, run in passes(x[: min(2 * block, rows)], library):
                run()
        for library in libraries * given.repeat:
            found = {}
            peak = Peak()
            for name, run in passes(x, library):
                if given.from_disk:
                    source.forget()
                print(f"{name}, {library}", flush=True)
                start = time.perf_counter()
                with ProgressBar(dt=0.01):  # so long it takes to end, at most
                    found[name] = run()
                made.seconds.setdefault((name, library), []).append(time.perf_counter() - start)
            made.peaks[library] = max(made.peaks[library], peak.stop())
            bad = wrong(found, source.memory, block)
            made.failed += [f"{library}: {name} is WRONG" for name in bad]
    if made.peaks["gpubcast"] > LIMIT:
        made.failed.append(f"more than {LIMIT / 1e9:.0f} GB of anonymous memory")
    return made


def main(arguments: list[str] | None = None) -> int:
    made = measure(parsed(arguments))
    size = 4 * made.shape[0] * made.shape[1]
    for name, library in made.seconds:
        if library == "gpubcast":
            own = min(made.seconds[name, library])
            line = f"{name:10} {own:7.2f} s, {size / own / 1e9:5.2f} GB/s"
            if (name, "NumPy") in made.seconds:
                other = min(made.seconds[name, "NumPy"])
                line += f"; NumPy {other:7.2f} s, {other / own:.1f} times as long"
            print(line)
    for library, most in made.peaks.items():
        print(f"{library}: at most {most / 1e9:.2f} GB of anonymous memory")
    print(*made.failed, sep="\n", end="\n" if made.failed else "")
    return int(bool(made.failed))


if __name__ == "__main__":
    sys.exit(main())
