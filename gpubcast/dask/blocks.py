"""What a task of Dask runs: a graph on one block of each operand."""

from __future__ import annotations

import multiprocessing
import threading
from dataclasses import dataclass
from typing import Any

from gpubcast import config
from gpubcast.backends import calling_thread
from gpubcast.hlo.expression import Expression
from gpubcast.runtime import eager_call
from gpubcast.runtime.operands import scalar_view, view_of
from gpubcast.shapes.element_types import ELEMENT_TYPES


@dataclass(frozen=True, slots=True)
class BlockFunction:
    """A graph with one result on blocks, and the scalars among its operands.

    It is pickled by value: a worker needs neither the function that was fused nor its module.

    Attributes:
        expression: the graph.
        scalars: operands that are the same for all blocks: number, value, element type.
    """

    expression: Expression
    scalars: tuple[tuple[int, Any, str], ...] = ()

    def __call__(self, *blocks: Any) -> Any:
        left = iter(blocks)
        bound = {
            number: scalar_view(value, ELEMENT_TYPES[name]) for number, value, name in self.scalars
        }
        operands = [
            None if number in bound else _only(next(left))
            for number in range(self.expression.num_parameters)
        ]
        views = tuple(
            bound[number] if number in bound else view_of(x) for number, x in enumerate(operands)
        )
        with calling_thread.restricted(on_own_thread()):
            return eager_call.finish(self.expression, (None, tuple(operands), None), views, None)

    def __dask_tokenize__(self) -> Any:
        graph = self.expression
        said = (graph.num_parameters, graph.nodes, graph.outputs, graph.patterns, graph.lengths)
        return "gpubcast", repr((said, graph.fast_math, self.scalars))


def _only(block: Any) -> Any:
    """The block itself: along an axis that a result lacks, Dask hands over a list of blocks."""
    while isinstance(block, list):
        (block,) = block
    return block


def on_own_thread() -> bool:
    """Whether the kernel of a task runs on its task's thread alone, not on the team of threads.

    The schedulers that run tasks side by side, on threads or in processes, have as many of them as
    there are cores, or as the user said. Only what the main thread of the first process computes
    itself, as the synchronous scheduler does, has cores to share. Where ``GPUBCAST_THREADS`` is
    set, it decides.
    """
    if config.threads_given():
        return False
    on_main = threading.current_thread() is threading.main_thread()
    return not on_main or multiprocessing.parent_process() is not None
