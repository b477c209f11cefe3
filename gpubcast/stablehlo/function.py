"""``gb.from_stablehlo``: a function of a StableHLO module, called on arrays."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast.arrays import Array, array, from_strided
from gpubcast.errors import ElementTypeError, Error, ShapeError
from gpubcast.plans import Plan
from gpubcast.runtime.array_libraries import library_of
from gpubcast.runtime.device import device_name
from gpubcast.runtime.operands import is_scalar, scalar_view, strided_of
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape, as_shape
from gpubcast.stablehlo.graph import (
    CallOperand,
    Computed,
    Literal,
    ReshapedView,
    Segment,
    SlicedView,
    Slot,
)
from gpubcast.stablehlo.lowering import Lowering
from gpubcast.stablehlo.module import DYNAMIC, Function, StablehloModule, TensorType, tensor_type
from gpubcast.stablehlo.reader import read

MAX_SIZES = 1024


@dataclass(frozen=True, slots=True)
class Step:
    """A plan, and the slots that it reads and writes.

    Attributes:
        outputs: per result the slot, for a result of the function -1 - its number.
    """

    plan: Plan
    operands: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SizedFunction:
    """A function at given sizes.

    Attributes:
        slots: the arrays between the steps.
        steps: its plans, in order.
        results: where each result is: a slot, or -1 - its number for an output of a step.
        notes: where a value is written to memory between two steps, and why.
    """

    slots: tuple[Slot, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    notes: tuple[str, ...]


class StablehloFunction:
    """A function of a StableHLO module; made by ``gb.from_stablehlo``.

    It is called on arrays of the parameters' types and sizes. It is planned once for each
    combination of sizes; kernels are compiled once for all of them.

    Attributes:
        name: the function's name.
        parameters: the types of its parameters, ``f32[?,32]``.
    """

    __module__ = "gpubcast"

    def __init__(self, module: StablehloModule, function: Function) -> None:
        self.name = function.name
        self._module, self._function = module, function
        self._types = tuple(
            tensor_type(text, f"parameter {i} of @{function.name}")
            for i, (text, fixed) in enumerate(zip(function.types, function.fixed, strict=True))
            if fixed is None
        )
        # The plan of a function that is one, of its operands in order, and has no open sizes.
        self._only: Plan | None = None
        self._sized_functions: OrderedDict[tuple[Shape, ...], SizedFunction] = OrderedDict()

    def __repr__(self) -> str:
        return f"<gpubcast.StablehloFunction @{self.name}({', '.join(self.parameters)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return StablehloFunction, (self._module, self._function)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The types of the parameters; a size that the module leaves open is ``?``."""
        return tuple(map(str, self._types))

    def __call__(self, *operands: Any, device: str | None = None) -> Any:
        """Run the function.

        Args:
            operands: one array per parameter, of its element type and sizes; a Python scalar for
                a parameter without dimensions.
            device: where a function without arrays runs; otherwise the operands' device, if given.

        Returns:
            The result; several are a tuple. gpubcast Arrays if any operand is one, else tensors if
            any is one and ``gpubcast.torch`` is imported, else CuPy or NumPy, by the device.

        Raises:
            Error: H5, an operand is no array of its parameter's type and sizes; H2, H3, H6 to H9,
                a rule refuses an operation, whose location the text names.
        """
        library = library_of(operands)
        if library is not None and not library.lazy:
            return library.call(self._run, None, operands, None, device)
        return self._run(None, operands, None, device)

    def _run(self, what: None, operands: tuple[Any, ...], out: None, device: str | None) -> Any:
        """A call with NumPy, CuPy or gpubcast arrays, as an ``ArrayLibrary`` calls it."""
        if self._only is not None and device is None:
            try:
                made = self._only(*operands)
            except Error as error:
                # Operands that are not as planned, or are said here what is wrong with them.
                if error.rule not in ("A8", "T0"):
                    raise
            else:
                return made[0] if len(made) == 1 else made
        arrays = self._arrays(operands)
        sized = self._sized(tuple(_shape(x) for x in arrays))
        self._only = self._only_plan(sized)
        ours = any(isinstance(x, Array) for x in arrays)
        results = _FunctionCall(sized, arrays, device, ours).results()
        return results[0] if len(results) == 1 else results

    def _only_plan(self, sized: SizedFunction) -> Plan | None:
        if any(DYNAMIC in one.dimensions for one in self._types) or len(sized.steps) != 1:
            return None
        (step,) = sized.steps
        operands = tuple(sized.slots[number] for number in step.operands)
        in_order = operands == tuple(CallOperand(i) for i in range(len(self._types)))
        return step.plan if operands and in_order and step.outputs == sized.results else None

    def plans(self, *shapes: Shape | str | Any) -> tuple[Plan, ...]:
        """The plans of its kernels for given sizes, in the order in which they run.

        Args:
            shapes: shapes or arrays, one per parameter; none where the module states every size.
        """
        return tuple(step.plan for step in self._sized(self._given(shapes)).steps)

    def notes(self, *shapes: Shape | str | Any) -> tuple[str, ...]:
        """Where values are written to memory between kernels for given sizes, and why."""
        return self._sized(self._given(shapes)).notes

    def explain(self, *shapes: Shape | str | Any, arch: str = "sm_90", source: bool = False) -> str:
        """The plans for given sizes as text; see ``Plan.explain``."""
        sized = self._sized(self._given(shapes))
        parts = [str(step.plan.explain(arch=arch, source=source)) for step in sized.steps]
        return "\n\n".join((*(f"note: {note}" for note in sized.notes), *parts))

    def _given(self, shapes: tuple[Any, ...]) -> tuple[Shape, ...]:
        if not shapes and not any(DYNAMIC in one.dimensions for one in self._types):
            return tuple(Shape(one.element_type.name, one.dimensions) for one in self._types)
        given = [as_shape(x) if isinstance(x, (str, Shape)) else _shape(x) for x in shapes]
        self._check_number(len(given))
        for index, (shape, said) in enumerate(zip(given, self._types, strict=True)):
            self._check(index, shape, said)
        return tuple(Shape(one.element_type.name, one.dimensions) for one in given)

    def _check_number(self, count: int) -> None:
        if count != len(self._types):
            unused = "; jax.jit leaves out what is not used, unless keep_unused=True"
            raise Error(
                f"@{self.name} takes {len(self._types)} operands, got {count}"
                f"{unused if count > len(self._types) else ''}",
                rule="H5",
                kind="gpubcast:stablehlo operands",
            )

    def _check(self, index: int, shape: Shape, said: TensorType) -> None:
        fits = len(said.dimensions) == shape.rank and all(
            n in (DYNAMIC, found)
            for n, found in zip(said.dimensions, shape.dimensions, strict=False)
        )
        if shape.element_type is said.element_type and fits:
            return
        refusal = ShapeError if shape.element_type is said.element_type else ElementTypeError
        raise refusal(
            f"@{self.name}: operand {index} is {shape.text(layout=False)}, and its parameter is "
            f"{said}",
            rule="H5",
            kind="gpubcast:stablehlo operands",
            operands=(shape,),
        )

    def _arrays(self, operands: tuple[Any, ...]) -> list[Any]:
        """The operands as gpubcast, NumPy or CuPy arrays."""
        self._check_number(len(operands))
        found = [_operand(x, said) for x, said in zip(operands, self._types, strict=True)]
        if any(isinstance(x, Array) for x in found):
            found = [
                from_strided(*strided_of(x)) if _is_placed(x) and not isinstance(x, Array) else x
                for x in found
            ]
        for index, (x, said) in enumerate(zip(found, self._types, strict=True)):
            self._check(index, _shape(x), said)
        return found

    def _sized(self, shapes: tuple[Shape, ...]) -> SizedFunction:
        found = self._sized_functions.get(shapes)
        if found is None:
            found = self._at_sizes(shapes)
            self._sized_functions[shapes] = found
            while len(self._sized_functions) > MAX_SIZES:
                self._sized_functions.popitem(last=False)
        return found

    def _at_sizes(self, shapes: tuple[Shape, ...]) -> SizedFunction:
        lowering = Lowering(self._module, self._function, shapes)
        names = {i: f"%arg{i}" for i in range(len(shapes))}
        cut = lowering.graph.segments(lowering.results, names)
        steps = tuple(
            Step(self._plan(one, k, len(cut.segments)), one.operands, one.outputs)
            for k, one in enumerate(cut.segments)
        )
        return SizedFunction(tuple(lowering.graph.slots), steps, cut.results, cut.notes)

    def _plan(self, one: Segment, number: int, count: int) -> Plan:
        # What is viewed later lies in row-major order.
        layouts = tuple(
            Layout.default(rank) if slot >= 0 else None
            for slot, rank in zip(one.outputs, one.ranks, strict=True)
        )
        part = f" ({number + 1} of {count})" if count > 1 else ""
        fixed = layouts if any(layouts) else None
        return Plan(f"@{self.name}{part}", one.graph, one.shapes, fixed)


class _FunctionCall:
    """One call: the arrays of its slots, made step by step."""

    def __init__(
        self, sized: SizedFunction, operands: list[Any], device: str | None, arrays: bool
    ) -> None:
        self._sized = sized
        self._operands = operands
        self._arrays = arrays
        self._made: dict[int, Any] = {}
        # Every kernel runs where the operands are, also one that reads none of them.
        self._device = device or next((_device_of(x) for x in operands if _is_placed(x)), None)

    def results(self) -> tuple[Any, ...]:
        for step in self._sized.steps:
            operands = [self._slot(number) for number in step.operands]
            made = step.plan(*operands, device=self._device)
            self._made.update(zip(step.outputs, made, strict=True))
        return tuple(self._slot(number) for number in self._sized.results)

    def _slot(self, number: int) -> Any:
        if number not in self._made:
            slot = self._sized.slots[number]
            assert not isinstance(slot, Computed)
            self._made[number] = self._new(slot)
        return self._made[number]

    def _new(self, slot: CallOperand | Literal | ReshapedView | SlicedView) -> Any:
        if isinstance(slot, CallOperand):
            return self._operands[slot.index]
        if isinstance(slot, ReshapedView):
            return _reshaped(self._slot(slot.base), slot.dimensions)
        if isinstance(slot, SlicedView):
            # A position before the first one would count from the end.
            ends = (None if stop < 0 else stop for _, stop, _ in slot.ranges)
            cut = zip(slot.ranges, ends, strict=True)
            return self._slot(slot.base)[tuple(slice(a, stop, step) for (a, _, step), stop in cut)]
        if not slot.value.ndim or self._device in (None, "cpu"):
            return slot.value
        moved = array(slot.value, device=self._device)
        return moved if self._arrays else moved.view()


def _operand(x: Any, said: TensorType) -> Any:
    if isinstance(x, (Array, np.ndarray)):
        return x
    if is_scalar(x) and not said.dimensions:
        view = scalar_view(x, said.element_type)
        raw = int(view.slot).to_bytes(said.element_type.itemsize, "little")
        return np.frombuffer(raw, said.element_type.dtype).reshape(())
    strided, _ = strided_of(x)
    return strided


def _shape(x: Any) -> Shape:
    if isinstance(x, Array):
        return Shape(x.xla_shape.element_type.name, x.shape)
    return Shape(np.dtype(x.dtype), tuple(x.shape))


def _is_placed(x: Any) -> bool:
    """Whether an operand lies on a device: a scalar fits any."""
    return isinstance(x, Array) or bool(np.ndim(x))


def _device_of(x: Any) -> str:
    return x.device if isinstance(x, Array) else device_name(strided_of(x)[1])


def _reshaped(x: Any, dimensions: tuple[int, ...]) -> Any:
    """An array with other dimensions: a view where its strides allow it, else of a copy."""
    strided, device = (x.view(), x._device) if isinstance(x, Array) else strided_of(x)
    try:
        found = strided.reshape(dimensions, copy=False)
    except (TypeError, ValueError):
        # NumPy says that no strides do; CuPy is not asked.
        if not strided.flags.c_contiguous:
            strided = from_strided(strided, device).with_layout(None).view()
        found = strided.reshape(dimensions)
    return from_strided(found, device) if isinstance(x, Array) else found


def from_stablehlo(source: Any, *, function: str | None = None) -> StablehloFunction:
    """A function of a StableHLO module, run as gpubcast's kernels.

    Args:
        source: text, bytes (a portable artifact or bytecode), a path, a module of MLIR's bindings
            in jaxlib, or what JAX makes: ``jax.jit(f).lower(...)``, ``jax.export.export(...)``.
        function: which of its functions; None for ``main``, or the only public one.

    Returns:
        A ``gb.StablehloFunction``.

    Raises:
        Error: H1, it is no StableHLO module; H4, no such function; H5, jaxlib is not installed.
    """
    module = read(source)
    return StablehloFunction(module, module.function(function))
