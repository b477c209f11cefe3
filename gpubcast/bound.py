"""Plan once, call often: the callable plan, and the call bound to its buffers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gpubcast import eager, expression, runtime
from gpubcast.arrays import Array, output_view, view_of
from gpubcast.codegen import cpu as cpu_code
from gpubcast.codegen import cuda as cuda_code
from gpubcast.errors import Error, LayoutError, ShapeError, brief
from gpubcast.expression import Expression
from gpubcast.launch import Launch, View, aligned, device_name, devices_of
from gpubcast.layout import Layout, check_layout
from gpubcast.operands import is_scalar, scalar_view
from gpubcast.planning import BroadcastPlan, Operand
from gpubcast.schedule import CpuTarget, CudaTarget, Schedule, schedule
from gpubcast.shape import Shape, as_shape

if TYPE_CHECKING:
    from gpubcast.explain import Explanation

# Number of SMs assumed where only an architecture is named: it enters no kernel.
_ANY = 132


def _checked_arch(arch: object) -> str:
    if isinstance(arch, str) and re.fullmatch(r"sm_[0-9]{2,3}[af]?", arch):
        return arch
    raise Error(
        f"no GPU architecture {brief(arch)}; expected a name such as 'sm_90'",
        rule="T0",
        kind="gpubcast:architecture",
    )


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """An operation with its operands' shapes fixed. Device-neutral, hashable, picklable.

    Attributes:
        name: what is computed, for messages.
        expression: the graph.
        shapes: the operands' shapes.
        out_layout: layout of new results; None for the inferred one.
        output_shape: shape of the result.
    """

    name: str
    expression: Expression
    shapes: tuple[Shape, ...]
    out_layout: Layout | None = None
    output_shape: Shape = field(init=False, compare=False)

    def __post_init__(self) -> None:
        _, output = runtime.plan_for(self.expression, self._operands(), None, self.out_layout)
        object.__setattr__(self, "output_shape", output)

    def __repr__(self) -> str:
        shapes = ", ".join(map(str, self.shapes))
        return f"<gpubcast.Plan {self.name}: ({shapes}) -> {self.output_shape}>"

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """Run on arrays of the planned dimensions and types.

        Strides that differ from the planned layouts are planned again, with the same result.

        Raises:
            ShapeError: an operand has other dimensions or another type than planned.
        """
        views = self._views(self._checked(operands))
        layout = self.out_layout if out is None else None
        return eager.finish(self.expression, operands, views, out, layout)

    def bind(self, *operands: Any, out: Any) -> BoundCall:
        """The call with its buffers fixed: the cheapest launch. It keeps the arrays alive.

        Raises:
            Error: ``out`` shares memory with an operand in another order, or the operands differ
                from the plan.
        """
        views = self._views(self._checked(operands))
        for i, (x, view) in enumerate(zip(operands, views, strict=True)):
            if not is_scalar(x) and not isinstance(x, np.generic) and not _shares(x, view):
                raise LayoutError(
                    f"bind: operand {i} would be copied, so that later changes are not seen; bind "
                    "an aligned array of rank 1 and more, a gpubcast Array, or a NumPy scalar",
                    rule="A8",
                    kind="gpubcast:operand cannot be bound",
                )
        target, copy_back = output_view(out)
        if copy_back is not None:
            raise LayoutError(
                "bind: the elements of out are not aligned; call the plan instead",
                rule="A2",
                kind="gpubcast:unaligned out",
            )
        return BoundCall(*_bound(self.expression, views, target), out, views)

    @property
    def broadcast_plan(self) -> BroadcastPlan:
        """The normalised plan for operands in the planned layouts."""
        return runtime.plan_for(self.expression, self._operands(), None, self.out_layout)[0]

    def schedule(self, arch: str | None = None) -> Schedule:
        """The schedule for aligned operands, on a GPU architecture or (None) on the CPU."""
        plan = self.broadcast_plan
        target = CpuTarget() if arch is None else CudaTarget(_checked_arch(arch), _ANY)
        return schedule(plan, target, (16,) * len(plan.accesses))

    def cuda_source(self, arch: str = "sm_90") -> str:
        """The generated CUDA source; no GPU is needed."""
        return cuda_code.generate(self.broadcast_plan, self.schedule(_checked_arch(arch))).text

    def cpu_source(self) -> str:
        """The generated numba source."""
        return cpu_code.generate(self.broadcast_plan, self.schedule()).text

    def explain(self, *, arch: str = "sm_90", source: bool = False) -> Explanation:
        """Alignment, axes, memory and launches of the plan, to print or to show in a notebook.

        Args:
            arch: the GPU architecture whose launch is shown; no GPU is needed.
            source: whether the text shows the generated source too.

        Raises:
            Error: ``arch`` is not the name of an architecture.
        """
        # Pictures are for looking at; a program that never does should not load them.
        from gpubcast.explain import explain

        return explain(
            self.name, self.expression, self.shapes, self.out_layout, arch=arch, source=source
        )

    def _operands(self) -> tuple[Operand, ...]:
        return tuple(Operand.of(shape) for shape in self.shapes)

    def _checked(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(operands) != len(self.shapes):
            raise Error(
                f"{self.name}: the plan takes {len(self.shapes)} operands, got {len(operands)}",
                rule="A8",
                kind="gpubcast:number of operands",
            )
        return operands

    def _views(self, operands: tuple[Any, ...]) -> tuple[View, ...]:
        views = []
        for i, (x, shape) in enumerate(zip(operands, self.shapes, strict=True)):
            view = scalar_view(x, shape.element_type) if is_scalar(x) else view_of(x)
            found = view.operand.shape
            if (found.element_type, found.dimensions) != (shape.element_type, shape.dimensions):
                raise ShapeError(
                    f"{self.name}: operand {i} is {found.text(layout=False)}, the plan is for "
                    f"{shape.text(layout=False)}",
                    rule="A8",
                    kind="gpubcast:plan mismatch",
                    operands=(found, shape),
                )
            views.append(view)
        return tuple(views)


class BoundCall:
    """A launch with every argument packed; calling it runs the kernel and returns ``out``."""

    __slots__ = ("_launch", "_out", "_parameters", "_views")

    def __init__(
        self, launch: Launch, parameters: bytearray, out: Any, views: tuple[View, ...]
    ) -> None:
        self._launch = launch
        self._parameters = parameters
        self._out = out
        self._views = views

    def __reduce__(self) -> tuple[Any, ...]:
        raise Error(
            "a bound call belongs to its buffers and its device; copy or pickle the plan",
            rule="A8",
            kind="gpubcast:bound call",
        )

    def __repr__(self) -> str:
        return f"<gpubcast.BoundCall on {device_name(self._launch.device)}>"

    def __call__(self) -> Any:
        """Run the kernel on the bound buffers and return ``out``.

        Raises:
            DeviceError: the launch failed.
        """
        launch = self._launch
        with launch.backend.on(launch.device[1]):
            launch.start(self._parameters)
        return self._out


def _shares(x: Any, view: View) -> bool:
    """Whether a view reads the object's own memory, now and later."""
    if isinstance(x, Array):
        return True
    if isinstance(x, np.ndarray):
        return view.array is not None and np.may_share_memory(x, view.array)
    return view.array is not None and not isinstance(x, (list, tuple))


def _bound(graph: Expression, views: tuple[View, ...], out: View) -> tuple[Launch, bytearray]:
    device = devices_of((*views, out))
    every = (*views, out)
    launch = runtime.prepare(
        graph,
        tuple(view.operand for view in views),
        out.operand,
        None,
        device,
        aligned(every, device),
    )
    if launch.overlaps(views, out):
        raise Error(
            "bind: out shares memory with an operand in another order, which would need a "
            "temporary; call the plan instead",
            rule="A2",
            kind="gpubcast:out overlaps an operand",
        )
    return launch, launch.parameters([view.slot for view in every])


def plan(
    name: str, *shapes: Shape | str, out_layout: Layout | None = None, **attributes: Any
) -> Plan:
    """Plan an operation for given operand shapes.

    Args:
        name: the operation, e.g. ``"add"``.
        shapes: the operands' shapes, or their text.
        out_layout: layout of new results; None for the inferred one.
        attributes: the operation's keywords.

    Raises:
        Error: a rule refuses the operation.

    Example:
        >>> str(plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)).output_shape)
        'f32[2,3]{1,0}'
    """
    check_layout(out_layout, "out_layout")
    known = tuple(map(as_shape, shapes))
    return Plan(name, expression.single(name, attributes), known, out_layout)
