"""Random expressions of several results, on the emulator: right, and each element written once."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.expression import Apply, Constant, Expression, Node, Parameter
from gpubcast.planning.plan import Operand
from gpubcast.runtime import execute, state
from gpubcast.runtime.device import Device
from gpubcast.runtime.view import View
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape
from tests.emulated import campaign
from tests.support.emulator.backend import ORDERS, EmulatorBackend, NewDevice, SlotStatistics

Array = np.ndarray[Any, Any]
GPU: Device = ("cuda", 0)
FUNCTIONS = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}


def witnessed(host: EmulatorBackend) -> list[tuple[SlotStatistics, ...]]:
    """What each launch of a device does, from now on."""
    launches, launch = [], host.launch

    def noted(*arguments: Any, **keywords: Any) -> None:
        launch(*arguments, **keywords)
        launches.append(host.statistics)

    host.launch = noted  # type: ignore[method-assign]
    return launches


@dataclass
class Graph:
    """An expression being drawn: per node, its axes and its value."""

    sizes: list[int]
    nodes: list[Node]
    axes: list[tuple[int, ...]]
    values: list[Array]

    def add(self, node: Node, axes: tuple[int, ...], value: Array) -> int:
        self.nodes.append(node)
        self.axes.append(axes)
        self.values.append(value)
        return len(self.nodes) - 1

    def aligned(self, node: int, axes: tuple[int, ...]) -> int:
        """The node with all of some axes."""
        own = self.axes[node]
        if own == axes:
            return node
        sizes = tuple(self.sizes[axis] for axis in axes)
        value = self.values[node].reshape([self.sizes[a] if a in own else 1 for a in axes])
        attributes = (
            ("broadcast_dimensions", tuple(axes.index(axis) for axis in own)),
            ("shape", sizes),
        )
        applied = Apply("broadcast_in_dim", (node,), attributes)
        return self.add(applied, axes, np.broadcast_to(value, sizes))


def draw(rng: np.random.Generator) -> tuple[Expression, list[Array], list[Array]]:
    """An expression on exact numbers, its operands and its results."""
    rank = int(rng.integers(1, 5))
    sizes = [int(n) for n in rng.choice((1, 2, 3, 8, 33, 40, 130, 300), rank)]
    while math.prod(sizes) > 50_000:
        sizes[int(np.argmax(sizes))] = int(rng.integers(2, 34))
    graph = Graph(sizes, [], [], [])
    operands = int(rng.integers(1, 6))
    for i in range(operands):
        axes = tuple(axis for axis in range(rank) if rng.random() < 0.65)
        value = rng.integers(-8, 9, [sizes[axis] for axis in axes]) / 4
        graph.add(Parameter(i), axes, np.asarray(value, "f4"))
    graph.add(Constant("f32", 0x3FC00000), (), np.array(1.5, "f4"))
    for _ in range(int(rng.integers(1, 9))):
        pair = [int(node) for node in rng.integers(0, len(graph.nodes), 2)]
        axes = tuple(sorted({axis for node in pair for axis in graph.axes[node]}))
        left, right = (graph.aligned(node, axes) for node in pair)
        name = str(rng.choice(tuple(FUNCTIONS)))
        value = FUNCTIONS[name](graph.values[left], graph.values[right])
        graph.add(Apply(name, (left, right)), axes, np.asarray(value, "f4"))
    outputs = [graph.aligned(len(graph.nodes) - 1, tuple(range(rank)))]
    outputs += [int(rng.integers(operands, len(graph.nodes))) for _ in range(rng.integers(0, 5))]
    rng.shuffle(outputs)
    return (
        Expression(operands, tuple(graph.nodes), tuple(outputs), packed=True),
        graph.values[:operands],
        [graph.values[node] for node in outputs],
    )


def view(host: EmulatorBackend, values: Array, rng: np.random.Generator) -> View:
    """An operand: a host scalar, or an array in some order that may start between two vectors."""
    if values.ndim == 0 and rng.random() < 0.5:
        return View(Operand(Shape("f32", ()), (), (), by_value=True), int(values.view("u4")), None)
    order = list(range(values.ndim))[::-1]
    if rng.random() < 0.3:
        rng.shuffle(order)
    shape = Shape("f32", values.shape, Layout(order))
    start = 4 * int(rng.choice((0, 0, 0, 1, 2)))
    memory = host.allocate(start + shape.byte_size)
    placed = host.view(
        memory, start, values.dtype, values.shape, tuple(4 * stride for stride in shape.strides)
    )
    placed[...] = values
    return View(Operand.of(shape), host.address(memory) + start, GPU, memory)


def play(
    seed: int, host: EmulatorBackend, launches: list[tuple[SlotStatistics, ...]]
) -> Counter[str]:
    """Compute one random expression and compare; what kinds of kernels it took."""
    rng = np.random.default_rng(seed)
    graph, operands, wanted = draw(rng)
    views = tuple(view(host, operand, rng) for operand in operands)
    launch, buffers = execute.run(graph, views)
    if isinstance(host, campaign.Collector) or launch.device != GPU:
        return Counter()
    for output, buffer, want in zip(launch.outputs, buffers, wanted, strict=True):
        strides = tuple(4 * stride for stride in output.strides)
        found = host.view(buffer, 0, want.dtype, want.shape, strides)
        np.testing.assert_array_equal(found, want, err_msg=f"seed {seed}")
    kinds: Counter[str] = Counter()
    for step, slots in zip(launch.steps, launches[-len(launch.steps) :], strict=True):
        assert step.schedule is not None
        for write, kind, slot in zip(
            step.plan.writes, step.schedule.writes, slots[len(step.plan.reads) :], strict=False
        ):
            axes = zip(step.plan.axes, write.strides, strict=True)
            elements = math.prod(axis.extent for axis, stride in axes if stride)
            assert slot.useful_bytes == 4 * elements, f"seed {seed}, {kind}"
            kinds[f"{step.schedule.name} {kind.name}"] += 1
    return kinds


@pytest.mark.long
@pytest.mark.parametrize("part", [0, 1, 2])
def test_results_beside_each_other(part: int, new_device: NewDevice) -> None:
    seeds = range(100 * part, 100 * part + 100)
    host = new_device(trace=True, order=ORDERS[part])
    launches = witnessed(host)
    kinds: Counter[str] = Counter()

    def rehearse() -> None:
        collector = state.backend("cuda")
        assert isinstance(collector, EmulatorBackend)
        for seed in seeds:
            play(seed, collector, [])

    def run() -> None:
        for seed in seeds:
            kinds.update(play(seed, host, launches))

    assert campaign.run(host, run, rehearse) > 50
    every = {"FLAT SCALAR", "PHASE PARTIAL", "ROWS TILE", "ROWS COLUMN"}
    assert every <= set(kinds)


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("columns", [3, 512])
def test_a_result_that_rows_share_of_an_operand_with_gaps(
    columns: int, step: int, new_device: NewDevice
) -> None:
    """Beside one of all rows."""

    @gb.fuse
    def function(x: Any, y: Any) -> Any:
        return gb.mul(x, gb.broadcast_in_dim(y, (70, columns), (1,))), gb.mul(y, y)

    x = np.arange(70 * columns, dtype="f4").reshape(70, columns)
    y = np.arange(2 * columns, dtype="f4")
    with state.use_backend(new_device()):
        seen = gb.array(y, device="cuda")[::step][:columns]
        product, square = function(gb.array(x, device="cuda"), seen)
        row = seen.numpy()
        assert (product.numpy() == x * row).all() and (square.numpy() == row * row).all()
