"""What a task of Dask runs: a graph on one block of each operand."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends import calling_thread
from gpubcast.errors import ElementTypeError
from gpubcast.hlo.expression import Expression
from gpubcast.runtime import eager_call
from gpubcast.runtime.operands import scalar_view, view_of
from gpubcast.runtime.view import View
from gpubcast.shapes.element_types import ELEMENT_TYPES


@dataclass(frozen=True, slots=True)
class BlockFunction:
    """A graph with one result on blocks, and the scalars among its operands.

    It is pickled by value: a worker needs neither the function that was fused nor its module.

    Attributes:
        expression: the graph.
        declared: what the Dask arrays say of each operand: element type and number of dimensions.
        scalars: operands that are the same for all blocks: number, value, element type.
    """

    expression: Expression
    declared: tuple[tuple[str, int], ...]
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
            bound[number] if number in bound else self._view(number, x)
            for number, x in enumerate(operands)
        )
        with calling_thread.restricted(on_own_thread()):
            return eager_call.finish(self.expression, (None, tuple(operands), None), views, None)

    def _view(self, number: int, block: Any) -> View:
        view = view_of(block)
        shape = view.operand.shape
        if (shape.element_type.name, shape.rank) != self.declared[number]:
            element_type, rank = self.declared[number]
            raise ElementTypeError(
                f"a block is {shape.text(layout=False)}, and its Dask array says {element_type} in "
                f"{rank} dimensions: say its true type, as by dtype= or meta= where it is made "
                "[A3]",
                rule="A3",
                kind="gpubcast:not an array",
            )
        return view

    def __dask_tokenize__(self) -> Any:
        graph = self.expression
        said = (graph.num_parameters, graph.nodes, graph.outputs, graph.patterns, graph.lengths)
        return "gpubcast", repr((said, graph.fast_math, self.scalars))


@dataclass(frozen=True, slots=True)
class PartialReduction:
    """A reduction of blocks whose partial results lie along new first axes.

    Attributes:
        function: the reduction.
        axes: the number of new axes.
        length: how many elements of a block along the axis that is cut have one partial result;
            None for all.
        along: for each block, its dimensions that are that axis.
    """

    function: BlockFunction
    axes: int
    length: int | None
    along: tuple[tuple[int, ...], ...]

    def __call__(self, *blocks: Any) -> Any:
        given = [_only(block) for block in blocks]
        if self.length is None:
            made = [self.function(*given)]
        else:
            size = next(x.shape[own[0]] for x, own in zip(given, self.along, strict=True) if own)
            made = [
                self.function(
                    *(
                        _run(x, own, slice(k, k + self.length))
                        for x, own in zip(given, self.along, strict=True)
                    )
                )
                for k in range(0, size, self.length)
            ]
        library = sys.modules["cupy"] if _is_cupy(made[0]) else np
        stacked = library.stack([library.asarray(x) for x in made])
        return stacked.reshape((1,) * (self.axes - 1) + stacked.shape)

    def __dask_tokenize__(self) -> Any:
        return self.function.__dask_tokenize__(), self.axes, self.length, self.along


def _run(x: Any, dimensions: tuple[int, ...], run: slice) -> Any:
    """Some indices of a block along some of its dimensions."""
    if not dimensions:
        return x
    return x[tuple(run if d in dimensions else slice(None) for d in range(x.ndim))]


def _is_cupy(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "cupy"


def _only(block: Any) -> Any:
    """The block itself: along an axis that a result lacks, Dask hands over a list of blocks."""
    while isinstance(block, list):
        if len(block) != 1:
            raise ElementTypeError(
                "a block is a list, and its Dask array says that it is an array: what makes it "
                "gives one by numpy.asarray [A3]",
                rule="A3",
                kind="gpubcast:not an array",
            )
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
