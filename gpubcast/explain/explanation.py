"""From a plan to the parts of its explanation. Nothing is compiled, launched or measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from gpubcast.explain import html, text
from gpubcast.explain.launch_cards import launch_card
from gpubcast.explain.picture import Card, Listing, MemorySlot, Picture, Strip, TitledTable
from gpubcast.hlo import labels, ops
from gpubcast.hlo.alignment import AlignmentGrid, CellState, alignment_grid, row
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Node,
    Parameter,
    Place,
    Positions,
    Unwritten,
    arguments_of,
)
from gpubcast.hlo.literals import scalar_of
from gpubcast.hlo.op import Inferred
from gpubcast.pictures.memory import Memory
from gpubcast.pictures.stages import Moved, Stage
from gpubcast.planning.plan import INDEX, BroadcastPlan, Operand
from gpubcast.planning.planner import CallPlan, OutLayouts, plan_for
from gpubcast.runtime.device import CPU, device_name
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.prepare import generated
from gpubcast.runtime.target import cpu_target, cuda_target, target_architecture
from gpubcast.runtime.view import View
from gpubcast.schedules.cuda.vectors import ALIGNED
from gpubcast.schedules.schedule import Target
from gpubcast.shapes.layout import PaddingValue
from gpubcast.shapes.shape import Shape

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


# The largest array, in slots, whose memory is drawn.
MOST_SLOTS = 48
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PADDING = {
    PaddingValue.INVALID: (".", "may hold anything"),
    PaddingValue.UNKNOWN: (".", "may hold anything"),
    PaddingValue.ZERO: ("0", "holds 0"),
    PaddingValue.ONE: ("1", "holds 1"),
    PaddingValue.LOWEST: ("-", "holds the lowest value"),
    PaddingValue.HIGHEST: ("+", "holds the highest value"),
}


@dataclass(frozen=True, slots=True)
class Explanation(Picture):
    """A plan explained. ``str`` is plain text, notebooks show HTML, ``print`` suits a terminal.

    Attributes: those of ``picture.Picture``; a part is left out with ``dataclasses.replace``.
    """

    def __str__(self) -> str:
        return text.text(self)

    def html(self) -> str:
        """A whole, self-contained HTML document."""
        return html.page(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """All that is said, as JSON text; in ``dataclasses.asdict``'s form, an enum as its name."""
        found = asdict(self)
        return json.dumps(found, indent=indent, default=lambda x: x.name.lower())

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
        return html.bundle(str(self), self)


def explain(
    name: str,
    expression: Expression,
    operands: tuple[Operand, ...],
    out_layouts: OutLayouts = None,
    *,
    arch: str = "sm_90",
    source: bool = False,
) -> Explanation:
    """Explain a computation on operands that fill their buffers, for which GPUs are handed aligned
    memory.

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
    titles: dict[Target, str] = {
        cpu_target(): "launch on the CPU",
        cuda_target(arch): f"launch on a GPU, {arch}, operands aligned to {ALIGNED} bytes",
    }
    call_plan = plan_for(expression, operands, None, out_layouts)
    launches = [
        launch_card(which + title, one.plan, target, generated(one, target))
        for which, one in zip(_numbered(call_plan), call_plan.kernels, strict=True)
        for target, title in titles.items()
    ]
    outputs = tuple(map(Operand.of, call_plan.outputs))
    return _explanation(name, expression, call_plan, operands + outputs, launches, source)


def explain_launch(
    name: str,
    expression: Expression,
    views: tuple[View, ...],
    launch: Launch,
    *,
    source: bool = False,
) -> Explanation:
    """Explain a launch that is ready, on the arrays that it is for.

    Args:
        name: what a fused expression is called.
        expression: the graph.
        views: the operands, then the results.
        launch: what runs.
        source: whether text shows the generated source.
    """
    arrays = tuple(view.operand for view in views)
    count = expression.num_parameters
    call_plan = plan_for(expression, arrays[:count], arrays[count:])
    where = "the CPU"
    if launch.device != CPU:
        where = f"{device_name(launch.device)}, {target_architecture(launch.target)}"
    launches = [
        launch_card(
            f"{which}launch on {where}, operands where they are bound",
            step.plan,
            launch.target,
            None if step.schedule is None or step.source is None else (step.schedule, step.source),
        )
        for which, step in zip(_numbered(call_plan), launch.steps, strict=True)
    ]
    return _explanation(name, expression, call_plan, arrays, launches, source)


def _numbered(call_plan: CallPlan) -> list[str]:
    """What the titles of each kernel begin with."""
    count = len(call_plan.kernels)
    return [f"kernel {number}: " if count > 1 else "" for number in range(count)]


def _explanation(
    name: str,
    expression: Expression,
    call_plan: CallPlan,
    arrays: tuple[Operand, ...],
    launches: list[tuple[Card, Listing | None]],
    source: bool,
) -> Explanation:
    """All parts; ``arrays`` are the operands, then the results."""
    nodes, outputs = call_plan.nodes, call_plan.outputs
    shapes = tuple(array.shape for array in arrays[: expression.num_parameters])
    names = _ArrayNames(expression, len(outputs))
    picture = _alignment(expression, nodes, shapes, outputs, names)
    tables: list[TitledTable] = []
    for which, unmerged, one in zip(
        _numbered(call_plan), call_plan.unmerged, call_plan.kernels, strict=True
    ):
        columns = [names.argument(number) for number in one.arguments]
        title = f"{which}axes before merging, one per output dimension; strides in elements"
        tables.append(_axes(title, unmerged, columns))
        title = f"{which}axes after merging, the order of the loops"
        tables.append(_axes(title, one.plan, columns))
    return Explanation(
        _header(name, expression, nodes, shapes, outputs),
        picture,
        _legend(picture),
        tuple(tables),
        tuple(_strip(names.argument(number), array) for number, array in enumerate(arrays)),
        tuple(card for card, _ in launches),
        tuple(listing for _, listing in launches if listing is not None),
        _stages(call_plan, launches, names),
        source,
    )


def _stages(
    call_plan: CallPlan, launches: list[tuple[Card, Listing | None]], names: _ArrayNames
) -> tuple[Stage, ...]:
    """The kernels, each with what the first target calls it, and the bytes of their arrays."""
    cards = [card for card, _ in launches]
    every = len(cards) // max(len(call_plan.kernels), 1)
    stages = []
    for number, one in enumerate(call_plan.kernels):
        touched = cards[number * every].touched
        if touched is None:
            continue
        moved: dict[tuple[str, bool], int] = {}
        for k, (argument, access) in enumerate(zip(one.arguments, one.plan.accesses, strict=True)):
            if not access.generated:
                key = names.argument(argument), k >= len(one.plan.reads)
                moved[key] = max(moved.get(key, 0), one.plan.bytes_of(access))
        arrays = tuple(
            Moved(name, size, written, name.startswith("temporary "))
            for (name, written), size in moved.items()
        )
        stages.append(Stage(f"kernel {number}, {touched.name}", arrays))
    return tuple(stages)


class _ArrayNames:
    """What the arrays of a call are called."""

    def __init__(self, expression: Expression, outputs: int) -> None:
        self._names = expression.names
        self._operands = expression.num_parameters
        self._outputs = outputs

    def argument(self, index: int) -> str:
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
        if isinstance(node, Apply) and ops.OPS[node.op].public
    ]
    plain = not expression.packed and not expression.patterns
    if len(applied) == 1 and plain and not expression.names.operands:
        attributes = "".join(f", {text}" for text in _attributes(applied[0][1], expression))
        return (f"{ops.op(applied[0][1].op).instruction}: {signature}{attributes} -> {results}",)
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
    if isinstance(node, Positions):
        return f"{shape} iota(), iota_dimension={node.dimension}"
    if isinstance(node, Unwritten):
        return f"{shape} unwritten()  what output {node.output} holds, or its padding value"
    arguments = ", ".join(f"%{a}" for a in node.args)
    attributes = "".join(f", {text}" for text in _attributes(node, expression))
    return f"{shape} {ops.op(node.op, internal=True).instruction}({arguments}){attributes}"


def _attributes(node: Apply, expression: Expression) -> Iterator[str]:
    """A node's attributes as HLO writes them."""
    row = ops.OPS[node.op]
    arguments = [expression.nodes[a] for a in node.args]
    marks = [ops.OPS[a.op].hlo_mark for a in arguments if isinstance(a, Apply)]
    yield from dict.fromkeys(text for text in (row.hlo_attributes, *marks) if text)
    names = {attribute.name: attribute.hlo_name for attribute in row.keywords}
    for key, value in node.attributes:
        shown = f"{{{','.join(map(str, value))}}}" if isinstance(value, tuple) else str(value)
        if names[key]:
            yield f"{names[key]}={shown}"


# --- alignment and axes ------------------------------------------------------------------------


def _alignment(
    expression: Expression,
    nodes: tuple[Inferred, ...],
    shapes: tuple[Shape, ...],
    outputs: tuple[Shape, ...],
    names: _ArrayNames,
) -> AlignmentGrid | None:
    """The first output's dimensions and where the operands' go; with labels, the labelled axes."""
    pattern = _labels(expression, shapes)
    if pattern is not None:
        return labels.label_grid(pattern, shapes, [names.argument(i) for i in range(len(shapes))])
    sizes = outputs[0].dimensions
    if not sizes:
        return None
    rows = [
        row(
            f"{names.argument(i)}: {shapes[i].text(layout=False)}",
            shapes[i].dimensions,
            place,
            sizes,
        )
        for i, place in _placements(expression, nodes)
    ]
    for i, shape in enumerate(outputs):
        if shape.dimensions == sizes:
            label = f"{names.argument(len(shapes) + i)}: {shape.text(layout=False)}"
            rows.append(row(label, sizes, range(len(sizes)), sizes))
    return alignment_grid(rows, len(sizes))


def _labels(expression: Expression, shapes: tuple[Shape, ...]) -> labels.LabelPattern | None:
    """The labels of all operands; None where they are not those of one pattern. A Python scalar,
    which has no group of its own, has no labels."""
    if not expression.patterns:
        return None
    pattern, at = expression.patterns[0]
    nodes = [expression.nodes[i] for i in at]
    groups = {
        node.index: group
        for node, group in zip(nodes, pattern.operands, strict=True)
        if isinstance(node, Parameter)
    }
    others = [shape for i, shape in enumerate(shapes) if i not in groups]
    if len(groups) < len(nodes) or any(shape.rank for shape in others):
        return None
    return replace(pattern, operands=tuple(groups.get(i, ()) for i in range(len(shapes))))


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


def _legend(picture: AlignmentGrid | None) -> str:
    if picture is None:
        return ""
    states = {cell.state for r in picture.rows for cell in r.cells}
    meanings = (
        (CellState.EXPANDED, "1→n: size 1 is expanded"),
        (CellState.ABSENT, "·: repeated along this dimension"),
    )
    said = [meaning for state, meaning in meanings if state in states]
    return "; ".join(said)


def _axes(title: str, plan: BroadcastPlan, names: list[str]) -> TitledTable:
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
        return TitledTable(f"{title}: nothing is visited", (), ())
    if not rows:
        return TitledTable(f"{title}: none, there is one element", (), ())
    return TitledTable(title, ("axis", "size", *(["with padding"] if padded else []), *names), rows)


# --- memory ------------------------------------------------------------------------------------


def _strip(label: str, array: Operand) -> Strip:
    shape = array.shape
    lies = Memory(f"{label} {shape}", shape.dimensions, array.extents, array.strides)
    moved = [k for k, size in enumerate(shape.dimensions) if size > 1]
    if any(array.strides[k] != shape.strides[k] for k in moved):
        strides = ", ".join(map(str, array.strides))
        return Strip(label, str(shape), (), f"a view; strides of {strides} elements", lies)
    slots, padding = shape.allocated_elements, shape.allocated_elements - shape.num_elements
    sign, meaning = _PADDING[shape.layout.padding_value]
    if not 0 < slots <= MOST_SLOTS:
        share = f", {padding:,} of them padding" if padding else ""
        return Strip(label, str(shape), (), f"{slots:,} slots{share}", lies)
    cells = []
    for offset in range(slots):
        index = shape.multi_index(offset)
        cells.append(MemorySlot(sign if index is None else _letter(shape, index), offset, index))
    run = shape.padded_dimensions[shape.layout.minor_to_major[0]] if shape.rank > 1 else slots
    run = run if run > 1 else slots
    groups = tuple(tuple(cells[start : start + run]) for start in range(0, slots, run))
    note = f"{sign}: padding, {meaning}" if padding else ""
    return Strip(label, str(shape), groups, note, lies)


def _letter(shape: Shape, index: tuple[int, ...]) -> str:
    position = 0
    for i, size in zip(index, shape.dimensions, strict=True):
        position = position * size + i
    return _LETTERS[position]
