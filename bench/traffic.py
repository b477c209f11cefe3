"""What the kernels of the benchmark's cases move, as a GPU counts it.

``ncu ... python -m bench.traffic run OUT_DIR`` launches each case once and notes in
``traffic.json`` which kernel is which; ``python -m bench.traffic tell OUT_DIR`` makes
``traffic.txt`` of that and of ``traffic.csv``, which Nsight Compute wrote (``gpu_report.sh`` has
its options). ``--dry-run`` counts in the emulator of the tests instead, which says what traffic
the tests of the schedules expect; it needs a checkout and g++.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpubcast import config, runtime
from gpubcast.codegen import cuda as cuda_code

from .cases import CASES, Sized

BYTES, DRY_BYTES = 256 << 20, 96 << 10
_LINE = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
METRICS = (
    *("dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"),
    *(_LINE.format(what, op) for op in ("ld", "st") for what in ("sectors", "requests")),
)

Row = dict[str, Any]


def run(folder: Path, num_bytes: int) -> list[Row]:
    """Launch every case once; what was launched, in this order."""
    import cupy

    arch = f"sm_{cupy.cuda.Device().compute_capability}"
    rows = []
    for sized in _cases(num_bytes):
        operands = sized.operands(cupy)
        sized.plan(*operands)
        cupy.cuda.runtime.deviceSynchronize()
        plan = sized.plan.broadcast_plan
        source = cuda_code.generate(plan, sized.plan.schedule(arch))
        rows.append({"case": sized.case.name, "kernel": source.entry, "floor": sized.floor})
        (folder / "traffic.json").write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def emulated(num_bytes: int) -> list[Row]:
    """What the emulator counts of every case: sectors for bytes, no time."""
    import numpy as np

    import gpubcast as gb
    from tests.emulator.backend import EmulatorBackend

    rows = []
    device = EmulatorBackend(Path(config.cache_dir(), "emulator"), trace=True)
    with runtime.use_backend(device):
        for sized in _cases(num_bytes):
            made = sized.operands(np)
            sized.plan(*[gb.array(x, layout=x.layout, device="cuda") for x in made])
            reads = len(sized.plan.broadcast_plan.reads)
            counted = {"ld": device.statistics[:reads], "st": device.statistics[reads:]}
            row: Row = {"case": sized.case.name, "floor": sized.floor, METRICS[2]: 0}
            for op, slots in counted.items():
                for what in ("sectors", "requests"):
                    row[_LINE.format(what, op)] = sum(getattr(slot, what) for slot in slots)
            row |= {METRICS[k]: 32 * sum(s.fetched for s in counted[op]) for k, op in
                    enumerate(("ld", "st"))}  # fmt: skip
            rows.append(row)
    return rows


def _cases(num_bytes: int) -> Iterator[Sized]:
    return (case.within(num_bytes) for case in CASES if not case.huge)


def counted(rows: Sequence[Row], lines: Iterator[str]) -> list[Row]:
    """The rows with what Nsight Compute's file says of their kernels, launch by launch.

    Args:
        rows: what was launched.
        lines: of the file: names of columns, units (base units), then one line for each launch.
    """
    launches = [line for line in csv.DictReader(lines) if line["Kernel Name"]]
    found, ahead = [], iter(launches)
    for row in rows:
        mine = next((one for one in ahead if row["kernel"] in one["Kernel Name"]), None)
        if mine is None:
            break
        found.append(row | {name: float(mine[name].replace(",", "")) for name in METRICS})
    return found


def text(rows: Sequence[Row]) -> str:
    """A table for a reader."""
    lines = [f"{'case':22} {'moved/floor':>11} {'GB/s':>7} {'sectors/load':>12} {'/store':>7}"]
    for row in rows:
        read, written, time, *sectors = (row[name] for name in METRICS)
        loads, stores = (
            f"{one / many:.1f}" if many else "" for one, many in (sectors[:2], sectors[2:])
        )
        rate = f"{row['floor'] / time:.0f}" if time else ""
        moved = (read + written) / row["floor"]
        lines.append(f"{row['case']:22} {moved:11.2f} {rate:>7} {loads:>12} {stores:>7}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m bench.traffic", description=__doc__)
    parser.add_argument("action", choices=("run", "tell"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dry-run", action="store_true", help="count in the emulator")
    given = parser.parse_args(arguments)
    if given.action == "run":
        run(given.folder, BYTES)
        return 0
    if given.dry_run:
        rows = emulated(DRY_BYTES)
    else:
        launched = json.loads((given.folder / "traffic.json").read_text())
        written = (given.folder / "traffic.csv").read_text().splitlines()
        # Nsight Compute's own messages, which begin with ==, stand before the table.
        rows = counted(launched, (line for line in written if not line.startswith("==")))
    (given.folder / "traffic.txt").write_text(text(rows))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
