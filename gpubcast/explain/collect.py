"""From a plan to the parts of its explanation. Nothing is compiled and no device is touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from gpubcast import labels, ops, runtime
from gpubcast.alignment import Grid, State, grid, row
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cuda import cache
from gpubcast.backends.cuda.nvrtc import options_of
from gpubcast.codegen import cpu as cpu_code
from gpubcast.codegen import cuda as cuda_code
from gpubcast.codegen.scalars import scalar_of
from gpubcast.errors import Error
from gpubcast.explain import html, text
from gpubcast.explain.parts import Card, Listing, Picture, Slot, Strip, Table
from gpubcast.expression import (
    Apply,
    Constant,
    Expression,
    Node,
    Parameter,
    Place,
    arguments_of,
    typed,
)
from gpubcast.families import CpuTarget, CudaTarget, Family, Schedule
from gpubcast.inference import Inferred
from gpubcast.layout import PaddingValue
from gpubcast.partition import partition
from gpubcast.planned import OutLayouts, plan_for
from gpubcast.planning import INDEX, BroadcastPlan, Operand
from gpubcast.schedule import schedule
from gpubcast.shape import Shape
from gpubcast.streams import ALIGNED

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

MOST_SLOTS = 48
"""The largest array, in slots, whose memory is drawn."""

NOMINAL = {
    "cpu": (24e9, "24 GB/s, nominal: one thread of a server, beyond its caches"),
    "sm_90": (4.3e12, "4.3 TB/s, nominal: a device-to-device copy on an H200"),
}
"""Per architecture, bytes per second and what they are, for a guess of the time."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PADDING = {
    PaddingValue.INVALID: (".", "may hold anything"),
    PaddingValue.UNKNOWN: (".", "may hold anything"),
    PaddingValue.ZERO: ("0", "holds 0"),
    PaddingValue.ONE: ("1", "holds 1"),
    PaddingValue.LOWEST: ("-", "holds the lowest value"),
    PaddingValue.HIGHEST: ("+", "holds the highest value"),
}
# Number of SMs assumed where only an architecture is named: it enters no kernel.
_ANY_MULTIPROCESSORS = 132


@dataclass(frozen=True, slots=True)
class Explanation(Picture):
    """A plan explained. ``str`` is plain text, notebooks show HTML, ``print`` suits a terminal.

    Attributes: those of ``parts.Picture``; a part is left out with ``dataclasses.replace``.
    """

    def __str__(self) -> str:
        return text.text(self)

    def html(self) -> str:
        """A whole, self-contained HTML document."""
        return html.page(self)

    def print(self, file: IO[str] | None = None) -> None:
        """Print with colours to a terminal, as plain text to anything else (default: stdout)."""
        from rich.console import Console

        console = Console(file=file)
        if console.is_terminal:
            console.print(self)
        else:
            console.file.write(f"{self}\n")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from gpubcast.explain.terminal import renderables

        return renderables(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": html.fragment(self)}


def explain(
    name: str,
    expression: Expression,
    operands: tuple[Operand, ...],
    out_layouts: OutLayouts = None,
    *,
    arch: str = "sm_90",
    source: bool = False,
) -> Explanation:
    """Explain a computation on operands that fill their buffers.

    Args:
        name: what a fused expression is called.
        expression: the graph.
        operands: the operands.
        out_layouts: layouts of the results; None for the inferred ones.
        arch: the GPU architecture of the CUDA card, e.g. ``"sm_90"``; no GPU is needed.
        source: whether text shows the generated source.

    Raises:
        Error: ``arch`` is not the name of an architecture, or a rule refuses the operands.
    """
    if not re.fullmatch(r"sm_\d{2,3}[af]?", arch):
        raise Error(f"arch {arch!r} is not the name of a GPU architecture, such as 'sm_90'")
    shapes = tuple(operand.shape for operand in operands)
    nodes = typed(expression, shapes)
    planned = plan_for(expression, operands, None, out_layouts)
    outputs = planned.outputs
    made = partition(expression, nodes, operands, tuple(map(Operand.of, outputs)))
    names = _Names(expression, len(outputs))
    picture = _alignment(expression, nodes, shapes, outputs, names)
    tables: list[Table] = []
    launches: list[tuple[Card, Listing | None]] = []
    for number, (before, after) in enumerate(zip(made.kernels, planned.kernels, strict=True)):
        which = f"kernel {number}: " if len(planned.kernels) > 1 else ""
        columns = [names.view(view) for view in after.views]
        title = f"{which}axes before merging, one per output dimension; strides in elements"
        tables.append(_axes(title, before.plan, columns))
        title = f"{which}axes after merging, the order of the loops"
        tables.append(_axes(title, after.plan, columns))
        launches += [_cpu(after.plan, which), _cuda(after.plan, arch, which)]
    return Explanation(
        _header(name, expression, nodes, shapes, outputs),
        picture,
        _legend(picture),
        tuple(tables),
        tuple(
            _strip(label, shape)
            for label, shape in zip(
                map(names.view, range(len(shapes) + len(outputs))), shapes + outputs, strict=True
            )
        ),
        tuple(card for card, _ in launches),
        tuple(listing for _, listing in launches if listing is not None),
        source,
    )


class _Names:
    """What the arrays of a call are called."""

    def __init__(self, expression: Expression, outputs: int) -> None:
        self._names = expression.names
        self._operands = expression.num_parameters
        self._outputs = outputs

    def view(self, index: int) -> str:
        """Operands first, then outputs, then temporaries; or no array."""
        if index == INDEX:
            return "index"
        if index < self._operands:
            return self._names.operand(index)
        index -= self._operands
        if index < self._outputs:
            return "output" if self._outputs == 1 else f"output {index}"
        return f"temporary {index - self._outputs}"


# --- header ------------------------------------------------------------------------------------


def _header(
    name: str,
    expression: Expression,
    nodes: tuple[Inferred, ...],
    shapes: tuple[Shape, ...],
    outputs: tuple[Shape, ...],
) -> tuple[str, ...]:
    results = ", ".join(map(str, outputs))
    signature = f"({', '.join(map(str, shapes))})"
    applied = [
        (i, node)
        for i, node in enumerate(expression.nodes)
        if isinstance(node, Apply) and node.op != "total_order_key"
    ]
    plain = not expression.packed and not expression.patterns
    if len(applied) == 1 and plain and not expression.names.operands:
        attributes = "".join(f", {text}" for text in _attributes(applied[0][1], expression))
        return (f"{ops.op(applied[0][1].op).opcode}: {signature}{attributes} -> {results}",)
    lines = [f"{name}: {signature} -> {results}"]
    lines += (f"  labels: {pattern}" for pattern, _ in expression.patterns)
    for i, node in enumerate(expression.nodes):
        lines.append(f"  %{i} = {_instruction(node, nodes[i].shape, expression)}")
    roots = ", ".join(f"%{index}" for index in expression.outputs)
    return (*lines, f"  ROOT ({roots})" if expression.packed else f"  ROOT {roots}")


def _instruction(node: Node, shape: Shape, expression: Expression) -> str:
    """A node as HLO writes it."""
    if isinstance(node, Parameter):
        return f"{shape} parameter({node.index})  {expression.names.operand(node.index)}"
    if isinstance(node, Constant):
        return f"{shape} constant({scalar_of(shape.element_type, node.bits)})"
    if isinstance(node, Place):
        place = ",".join("_" if d is None else str(d) for d in node.place)
        return f"{shape} broadcast(%{node.arg}), dimensions={{{place}}}"
    arguments = ", ".join(f"%{a}" for a in node.args)
    attributes = "".join(f", {text}" for text in _attributes(node, expression))
    return f"{shape} {ops.op(node.op, internal=True).opcode}({arguments}){attributes}"


def _attributes(node: Apply, expression: Expression) -> Iterator[str]:
    """A node's attributes as HLO writes them; a comparison's direction is in its name."""
    for direction, name in ops.DIRECTIONS.items():
        if node.op == name:
            yield f"direction={direction}"
            arguments = [expression.nodes[a] for a in node.args]
            if any(isinstance(a, Apply) and a.op == "total_order_key" for a in arguments):
                yield "type=TOTALORDER"
    if ops.OPS[node.op].rule is ops.Rule.IOTA:
        yield f"iota_dimension={dict(node.attributes)['dimension']}"
        return
    for key, value in node.attributes:
        shown = f"{{{','.join(map(str, value))}}}" if isinstance(value, tuple) else str(value)
        yield f"{key}={shown}"


# --- alignment and axes ------------------------------------------------------------------------


def _alignment(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    shapes: tuple[Shape, ...],
    outputs: tuple[Shape, ...],
    names: _Names,
) -> Grid | None:
    """The first output's dimensions and where the operands' go; with labels, the labelled axes."""
    pattern = expression.patterns[0] if expression.patterns else None
    if pattern is not None and pattern[1] == tuple(range(len(shapes))):
        called = [names.view(i) for i in range(len(shapes))]
        return labels.grid(pattern[0], shapes, called)
    sizes = outputs[0].dimensions
    if not sizes:
        return None
    rows = [
        row(f"{names.view(i)}: {shapes[i].text(layout=False)}", shapes[i].dimensions, place, sizes)
        for i, place in _placements(expression, nodes)
    ]
    for i, shape in enumerate(outputs):
        if shape.dimensions == sizes:
            label = f"{names.view(len(shapes) + i)}: {shape.text(layout=False)}"
            rows.append(row(label, sizes, range(len(sizes)), sizes))
    return grid(rows, len(sizes))


def _placements(
    expression: Expression, nodes: tuple[Inferred, ...]
) -> list[tuple[int, tuple[int, ...]]]:
    """Where each operand's dimensions go in the first output; twice for an operand that is read in
    two ways, left out where a dimension goes nowhere."""
    seen: set[tuple[int, tuple[int | None, ...]]] = set()
    found: set[tuple[int, tuple[int, ...]]] = set()

    def visit(index: int, place: tuple[int | None, ...]) -> None:
        if (index, place) in seen:
            return
        seen.add((index, place))
        node = expression.nodes[index]
        if isinstance(node, Parameter):
            known = tuple(d for d in place if d is not None)
            if len(known) == len(place):
                found.add((node.index, known))
            return
        for argument, dimensions in zip(arguments_of(node), nodes[index].maps, strict=True):
            visit(argument, tuple(None if d is None else place[d] for d in dimensions))

    visit(expression.outputs[0], tuple(range(nodes[expression.outputs[0]].shape.rank)))
    return sorted(found)


def _legend(picture: Grid | None) -> str:
    if picture is None:
        return ""
    states = {cell.state for r in picture.rows for cell in r.cells}
    meanings = (
        (State.EXPANDED, "1→n: size 1 is expanded"),
        (State.ABSENT, "·: repeated along this dimension"),
    )
    said = [meaning for state, meaning in meanings if state in states]
    return "; ".join(said)


def _axes(title: str, plan: BroadcastPlan, names: list[str]) -> Table:
    padded = any(axis.extent != axis.size for axis in plan.axes)
    rows = tuple(
        (
            str(k),
            str(axis.size),
            *([str(axis.extent)] if padded else []),
            *(str(access.strides[k]) for access in plan.accesses),
        )
        for k, axis in enumerate(plan.axes)
    )
    if not plan.num_visited:
        return Table(f"{title}: nothing is visited", (), ())
    if not rows:
        return Table(f"{title}: none, there is one element", (), ())
    return Table(title, ("axis", "size", *(["with padding"] if padded else []), *names), rows)


# --- memory ------------------------------------------------------------------------------------


def _strip(label: str, shape: Shape) -> Strip:
    slots, padding = shape.allocated_elements, shape.allocated_elements - shape.num_elements
    sign, meaning = _PADDING[shape.layout.padding_value]
    if not 0 < slots <= MOST_SLOTS:
        share = f", {padding:,} of them padding" if padding else ""
        return Strip(label, str(shape), (), f"{slots:,} slots{share}")
    cells = []
    for offset in range(slots):
        index = shape.multi_index(offset)
        cells.append(Slot(sign if index is None else _letter(shape, index), offset, index))
    run = shape.padded_dimensions[shape.layout.minor_to_major[0]] if shape.rank > 1 else slots
    run = run if run > 1 else slots
    groups = tuple(tuple(cells[start : start + run]) for start in range(0, slots, run))
    return Strip(label, str(shape), groups, f"{sign}: padding, {meaning}" if padding else "")


def _letter(shape: Shape, index: tuple[int, ...]) -> str:
    position = 0
    for i, size in zip(index, shape.dimensions, strict=True):
        position = position * size + i
    return _LETTERS[position]


# --- launch cards ------------------------------------------------------------------------------


def _cpu(plan: BroadcastPlan, which: str) -> tuple[Card, Listing | None]:
    title = f"{which}launch on the CPU"
    if plan.num_visited == 0:
        return _nothing(title, "cpu"), None
    chosen = schedule(plan, CpuTarget(), (ALIGNED,) * len(plan.accesses))
    made = cpu_code.generate(plan, chosen)
    facts = (
        ("schedule", chosen.reason),
        ("operands", _kinds(plan, chosen)),
        ("grid", f"{chosen.grid:,} iteration{'s' * (chosen.grid != 1)} of the outermost loop"),
        ("index", f"{chosen.index_bits}-bit offsets"),
        ("bytes", _bytes(plan)),
        ("time", _time(plan, "cpu")),
        ("kernel", _loaded(made) or f"{made.entry}: miss, the first call compiles it"),
    )
    return Card(title, "cpu", facts), Listing("numba source", "python", made.text)


def _cuda(plan: BroadcastPlan, arch: str, which: str) -> tuple[Card, Listing | None]:
    title = f"{which}launch on a GPU, {arch}, operands aligned to {ALIGNED} bytes"
    if plan.num_visited == 0:
        return _nothing(title, "cuda"), None
    chosen = schedule(plan, CudaTarget(arch, _ANY_MULTIPROCESSORS), (ALIGNED,) * len(plan.accesses))
    made = cuda_code.generate(plan, chosen)
    facts = (
        ("schedule", chosen.reason),
        ("operands", _kinds(plan, chosen)),
        ("grid", f"{chosen.grid:,} block{'s' * (chosen.grid != 1)}"),
        ("block", f"{chosen.block[0]} x {chosen.block[1]} threads"),
        ("vector", _vector(plan, chosen)),
        ("index", f"{chosen.index_bits}-bit offsets"),
        ("bytes", _bytes(plan)),
        ("time", _time(plan, arch)),
        ("kernel", _loaded(made) or _on_disk(made, arch)),
    )
    return Card(title, "cuda", facts), Listing(f"CUDA source, {arch}", "cuda", made.text)


def _nothing(title: str, device: str) -> Card:
    return Card(title, device, (("schedule", "no kernel: the result has no elements"),))


def _kinds(plan: BroadcastPlan, chosen: Schedule) -> str:
    reads = zip(chosen.reads, plan.reads, strict=True)
    writes = zip(chosen.writes, plan.writes, strict=True)
    listed = (
        ", ".join(
            f"{kind.value} {'index' if access.generated else access.element_type}"
            for kind, access in accesses
        )
        for accesses in (reads, writes)
    )
    return " -> ".join(listed)


def _vector(plan: BroadcastPlan, chosen: Schedule) -> str:
    if chosen.family is Family.GATHER:
        return "1 element per access: GATHER computes each element's place"
    moved = [access for access in plan.accesses if not access.generated]
    size = chosen.vector * max(access.element_type.itemsize for access in moved)
    plural = "s" * (chosen.vector != 1)
    return f"{chosen.vector} element{plural} per access, up to {size} bytes"


def _bytes(plan: BroadcastPlan) -> str:
    return f"{plan.num_bytes:,} must move: operands read once, output written once"


def _time(plan: BroadcastPlan, arch: str) -> str:
    if arch not in NOMINAL:
        return f"not predicted: no bandwidth is known for {arch}"
    rate, what = NOMINAL[arch]
    micros = plan.num_bytes / rate * 1e6
    shown = f"{micros:,.1f} us" if micros >= 1 else "under 1 us, less than a launch takes,"
    return f"{shown} at {what}"


def _loaded(source: KernelSource) -> str:
    return f"{source.entry}: hit, in this process" if source.key in runtime.kernels() else ""


def _on_disk(source: KernelSource, arch: str) -> str:
    try:
        found = cache.stored(source.text, arch, options_of(source))
    except Error as error:
        return f"{source.entry}: miss; {str(error).splitlines()[0]}"
    return f"{source.entry}: " + ("hit, on disk" if found else "miss, the first call compiles it")
