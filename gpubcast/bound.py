"""Plan once, call often: the callable plan, and the call bound to its buffers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gpubcast import calls, config, eager, expression, runtime
from gpubcast.arrays import Array, output_view, view_of
from gpubcast.codegen import cpu as cpu_code
from gpubcast.codegen import cuda as cuda_code
from gpubcast.errors import Error, LayoutError, ShapeError, brief
from gpubcast.expression import Expression
from gpubcast.families import CpuTarget, CudaTarget, Schedule
from gpubcast.launch import Launch, View, aligned, check_apart, device_name, devices_of
from gpubcast.layout import Layout, check_layout
from gpubcast.operands import is_scalar, scalar_operand, scalar_view
from gpubcast.planned import Planned, plan_for
from gpubcast.planning import BroadcastPlan, Operand
from gpubcast.schedule import schedule
from gpubcast.shape import Shape, as_shape
from gpubcast.streams import ALIGNED

if TYPE_CHECKING:
    from gpubcast.explain import Explanation

# Number of SMs assumed where only an architecture is named: it enters no kernel.
_ANY = 132


def checked_arch(arch: object) -> str:
    """The name of a GPU architecture.

    Raises:
        Error: it is none.
    """
    if isinstance(arch, str) and re.fullmatch(r"sm_[0-9]{2,3}[af]?", arch):
        return arch
    raise Error(
        f"no GPU architecture {brief(arch)}; expected a name such as 'sm_90'",
        rule="T0",
        kind="gpubcast:architecture",
    )


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """An operation or a fused function with its operands' shapes fixed. Device-neutral, hashable,
    picklable.

    Attributes:
        name: what is computed, for messages.
        expression: the graph.
        shapes: the shapes of the graph's parameters.
        out_layout: layout of new results, for several a tuple; None for the inferred ones.
        arguments: for each parameter, the argument of a call that it is.
        scalars: the parameters that are Python scalars, passed by value.
        arity: number of arguments.
        output_shapes: shapes of the results.
    """

    name: str
    expression: Expression
    shapes: tuple[Shape, ...]
    out_layout: Any = None
    arguments: tuple[int, ...] = ()
    scalars: frozenset[int] = frozenset()
    arity: int = 0
    output_shapes: tuple[Shape, ...] = field(init=False, compare=False)
    _token: object = field(init=False, compare=False, default_factory=object)

    def __post_init__(self) -> None:
        if not self.arguments:
            object.__setattr__(self, "arguments", tuple(range(len(self.shapes))))
            object.__setattr__(self, "arity", len(self.shapes))
        object.__setattr__(self, "output_shapes", self._planned().outputs)

    @property
    def output_shape(self) -> Shape:
        """Shape of the result.

        Raises:
            Error: there are several results; see ``output_shapes``.
        """
        if len(self.output_shapes) > 1:
            raise Error(
                f"{self.name} has {len(self.output_shapes)} results; see output_shapes",
                rule="A8",
                kind="gpubcast:several results",
            )
        return self.output_shapes[0]

    def __repr__(self) -> str:
        shapes, results = (", ".join(map(str, x)) for x in (self.shapes, self.output_shapes))
        return f"<gpubcast.Plan {self.name}: ({shapes}) -> {results}>"

    def __call__(self, *operands: Any, out: Any = None, device: str | None = None) -> Any:
        """Run on arrays of the planned dimensions and types.

        Strides that differ from the planned layouts are planned again, with the same result.

        Args:
            operands: one per planned shape.
            out: receives the result and is returned.
            device: where a plan without operands runs; otherwise the operands' device, if given.

        Raises:
            ShapeError: an operand has other dimensions or another type than planned.
        """
        return _CALLED.call(self, operands, out, device)

    def bind(self, *operands: Any, out: Any) -> BoundCall:
        """The call with its buffers fixed: the cheapest launch. It keeps the arrays alive.

        Raises:
            Error: ``out`` shares memory with an operand in another order, or the operands differ
                from the plan.
        """
        views = self._views(self._checked(operands))
        for i, view in zip(self.arguments, views, strict=True):
            x = operands[i]
            if not is_scalar(x) and not isinstance(x, np.generic) and not _shares(x, view):
                raise LayoutError(
                    f"bind: operand {i} would be copied, so that later changes are not seen; bind "
                    "an aligned array of rank 1 and more, a gpubcast Array, or a NumPy scalar",
                    rule="A8",
                    kind="gpubcast:operand cannot be bound",
                )
        targets = []
        for target, copy_back in map(output_view, eager.outs_of(self.expression, out)):
            if copy_back is not None:
                raise LayoutError(
                    "bind: the elements of out are not aligned; call the plan instead",
                    rule="A2",
                    kind="gpubcast:unaligned out",
                )
            targets.append(target)
        return _bound(self.expression, views, tuple(targets), out)

    @property
    def broadcast_plans(self) -> tuple[BroadcastPlan, ...]:
        """The normalised plans for operands in the planned layouts, one per kernel."""
        return tuple(one.plan for one in self._planned().kernels)

    @property
    def broadcast_plan(self) -> BroadcastPlan:
        """The plan of the only kernel.

        Raises:
            Error: there are several; see ``broadcast_plans``.
        """
        plans = self.broadcast_plans
        if len(plans) > 1:
            raise Error(
                f"{self.name} takes {len(plans)} kernels; see broadcast_plans",
                rule="A8",
                kind="gpubcast:several kernels",
            )
        return plans[0]

    def schedule(self, arch: str | None = None) -> Schedule:
        """The only kernel's schedule for aligned operands, on a GPU architecture or (None) on the
        CPU."""
        return _schedule(self.broadcast_plan, arch)

    def cuda_source(self, arch: str = "sm_90") -> str:
        """The generated CUDA source of every kernel; no GPU is needed."""
        checked_arch(arch)
        plans = self.broadcast_plans
        return "\n".join(cuda_code.generate(plan, _schedule(plan, arch)).text for plan in plans)

    def cpu_source(self) -> str:
        """The generated numba source of every kernel."""
        plans = self.broadcast_plans
        return "\n\n".join(cpu_code.generate(plan, _schedule(plan, None)).text for plan in plans)

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
            self.name,
            self.expression,
            self._operands(),
            eager.layouts_of(self.expression, self.out_layout),
            arch=arch,
            source=source,
        )

    def _planned(self) -> Planned:
        layouts = eager.layouts_of(self.expression, self.out_layout)
        return plan_for(self.expression, self._operands(), None, layouts)

    def _operands(self) -> tuple[Operand, ...]:
        return tuple(
            scalar_operand(shape.element_type) if i in self.scalars else Operand.of(shape)
            for i, shape in enumerate(self.shapes)
        )

    def _checked(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(operands) != self.arity:
            raise Error(
                f"{self.name}: the plan takes {self.arity} operands, got {len(operands)}",
                rule="A8",
                kind="gpubcast:number of operands",
            )
        return operands

    def _views(self, operands: tuple[Any, ...]) -> tuple[View, ...]:
        views = []
        for i, shape in zip(self.arguments, self.shapes, strict=True):
            x = operands[i]
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


def _called(plan: Plan, operands: tuple[Any, ...], out: Any, device: str | None) -> Any:
    call = (plan, operands, out, device)
    made = calls.again(plan._token, call) if operands and device is None else None
    if made is not None:
        return made
    views = plan._views(plan._checked(operands))
    layout = plan.out_layout if out is None else None
    straight = layout is None and device is None and plan.arguments == tuple(range(plan.arity))
    token = plan._token if straight and operands else None
    return eager.finish(plan.expression, call, views, layout, token, device)


_CALLED = calls.Door(_called)


class BoundCall:
    """A launch with every argument packed; calling it runs the kernel and returns ``out``."""

    __slots__ = ("_held", "_launch", "_out", "_parameters", "_run")

    def __init__(
        self, launch: Launch, parameters: tuple[bytearray, ...], out: Any, held: Any
    ) -> None:
        self._launch = launch
        self._parameters = parameters
        self._out = out
        self._held = held  # whatever keeps the bound memory alive
        self._run = launch.bound(parameters) if config.plain() else None

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
        if self._run is not None:
            self._run()
            return self._out
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


def _schedule(plan: BroadcastPlan, arch: str | None) -> Schedule:
    target = CpuTarget() if arch is None else CudaTarget(checked_arch(arch), _ANY)
    return schedule(plan, target, (ALIGNED,) * len(plan.accesses))


def _bound(
    graph: Expression, views: tuple[View, ...], outs: tuple[View, ...], out: Any
) -> BoundCall:
    every = (*views, *outs)
    device = devices_of(every)
    launch = runtime.prepare(
        graph,
        tuple(view.operand for view in views),
        tuple(view.operand for view in outs),
        None,
        device,
        aligned(every, device),
    )
    if launch.crooked(views):
        raise LayoutError(
            f"bind: operand {launch.crooked(views)[0]} is not aligned for the type as which it is "
            "read, and would be copied",
            rule="A8",
            kind="gpubcast:operand cannot be bound",
        )
    check_apart(outs)
    if launch.overlaps(views, outs):
        raise LayoutError(
            "bind: out shares memory with an operand in another order, which would need a "
            "temporary; call the plan instead",
            rule="A2",
            kind="gpubcast:out overlaps an operand",
        )
    slots = [view.slot for view in every]
    with launch.backend.on(device[1]):
        held = runtime.temporaries(launch, slots)
    return BoundCall(launch, launch.parameters(slots), out, (views, held))


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
