"""The families of schedules: a schedule is one of them, and code that needs to know which matches
them all, so that mypy names every place that a new one is missing from."""

from __future__ import annotations

from gpubcast.schedules.cpu.nest import Nest
from gpubcast.schedules.cpu.runs import Runs
from gpubcast.schedules.cpu.tiles import Tiles
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.running import Running
from gpubcast.schedules.cuda.xpose import Xpose

CudaSchedule = Flat | Rows | Xpose | Phase | Running | Gather
CpuSchedule = Nest | Runs | Tiles
Schedule = CudaSchedule | CpuSchedule
