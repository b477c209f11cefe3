"""Plan once, call often: the callable plan, and the call bound to its buffers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gpubcast import config, locks
from gpubcast.arrays import Array
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import Error, LayoutError, ShapeError, allocates
from gpubcast.hlo import expression, ops
from gpubcast.hlo.expression import Expression
from gpubcast.hlo.operation_names import OperationName
from gpubcast.hlo.verification import check_expression, counts, refused, tuple_of
from gpubcast.planning.plan import BroadcastPlan, Operand
from gpubcast.planning.planner import CallPlan, plan_for
from gpubcast.runtime import call_cache, eager_call, execute, prepare
from gpubcast.runtime.device import device_name
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.operands import is_scalar, output_view, scalar_operand, scalar_view, view_of
from gpubcast.runtime.overlap import check_apart
from gpubcast.runtime.protocols import ArrayLike, OutsT
from gpubcast.runtime.target import cpu_target, cuda_target, target
from gpubcast.runtime.valid_lengths import check_lengths
from gpubcast.runtime.view import View, aligned, devices_of
from gpubcast.schedules.choose import Schedule
from gpubcast.schedules.schedule import Target
from gpubcast.shapes.layout import Layout, check_layout
from gpubcast.shapes.shape import Shape
from gpubcast.shapes.shape_like import ShapeLike, shape_of

if TYPE_CHECKING:
    from gpubcast.explain.explanation import Explanation


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

    __module__ = "gpubcast"

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
        if not self.arguments and type(self.shapes) is tuple:
            object.__setattr__(self, "arguments", tuple(range(len(self.shapes))))
            object.__setattr__(self, "arity", len(self.shapes))
        self._check()
        object.__setattr__(self, "output_shapes", self._call_plan().outputs)

    def __setstate__(self, state: Any) -> None:
        # Results are inferred again and the token is new: a pickle may say anything.
        names = [one.name for one in fields(self) if one.init]
        if type(state) is not list or len(state) < len(names):
            raise refused("a pickle lacks some of its state")
        self.__init__(*state[: len(names)])  # type: ignore[misc]

    def _check(self) -> None:
        """Refuse what no plan has; what depends on shapes is checked by inference."""
        check_expression(self.expression)
        shapes, scalars = self.shapes, self.scalars
        if (
            type(self.name) is not str
            or not tuple_of(shapes, lambda shape: isinstance(shape, Shape))
            or not counts(self.arity)
            or not tuple_of(self.arguments, lambda number: counts(number, self.arity))
            or len(self.arguments) != len(shapes)
            or type(scalars) is not frozenset
            or not all(counts(i, len(shapes)) and not shapes[i].dimensions for i in scalars)
        ):
            raise refused("its name, shapes, arguments or scalars are none")

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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {**self.explain()._repr_mimebundle_(), "text/plain": repr(self)}

    @overload
    def __call__(self, *operands: ArrayLike, out: OutsT, device: str | None = None) -> OutsT: ...
    @overload
    def __call__(
        self, *operands: ArrayLike, out: None = None, device: str | None = None
    ) -> Any: ...

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

    @allocates
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
        outs = []
        for view, copy_back in map(output_view, eager_call.outs_of(self.expression, out)):
            if copy_back is not None:
                raise LayoutError(
                    "bind: the elements of out are not aligned; call the plan instead",
                    rule="A2",
                    kind="gpubcast:unaligned out",
                )
            outs.append(view)
        return _bound(self, views, tuple(outs), out)

    @property
    def broadcast_plans(self) -> tuple[BroadcastPlan, ...]:
        """The normalised plans for operands in the planned layouts, one per kernel."""
        return tuple(one.plan for one in self._call_plan().kernels)

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
        """The only kernel's schedule, as it would be launched now.

        Args:
            arch: a GPU architecture, for aligned operands; None for the CPU, with as many threads
                and the streaming threshold that a launch has.

        Raises:
            Error: there are several kernels, or none, or ``arch`` is not the name of an
                architecture.
        """
        _ = self.broadcast_plan  # refuses several
        found = generated_kernels(self, target(arch))
        if not found:
            raise Error(
                f"{self.name} computes no elements, so no kernel runs",
                rule="A8",
                kind="gpubcast:no kernel",
            )
        return found[0][0]

    def cuda_source(self, arch: str = "sm_90") -> str:
        """The generated CUDA source of every kernel for aligned operands; no GPU is needed.

        Raises:
            Error: ``arch`` is not the name of an architecture.
        """
        return "\n".join(made.text for _, made in generated_kernels(self, cuda_target(arch)))

    def cpu_source(self) -> str:
        """The generated numba source of every kernel, as it would be launched now: with as many
        threads as ``GPUBCAST_THREADS`` allows and the streaming threshold of this machine, or of
        ``GPUBCAST_STREAMING``."""
        return "\n\n".join(made.text for _, made in generated_kernels(self, cpu_target()))

    def explain(self, *, arch: str = "sm_90", source: bool = False) -> Explanation:
        """Alignment, axes, memory and launches of the plan, to print or to show in a notebook.

        A launch is shown as it would be at this moment, on the CPU and on a GPU, which is handed
        aligned memory; ``BoundCall.explain`` shows the launch of given arrays.

        Args:
            arch: the GPU architecture whose launch is shown; no GPU is needed.
            source: whether the text shows the generated source too.

        Raises:
            Error: ``arch`` is not the name of an architecture.
        """
        # Pictures are for looking at; a program that never does should not load them.
        with locks.compiling():
            from gpubcast.explain.explanation import explain

        return explain(
            self.name,
            self.expression,
            self._operands(),
            eager_call.layouts_of(self.expression, self.out_layout),
            arch=arch,
            source=source,
        )

    def _call_plan(self) -> CallPlan:
        layouts = eager_call.layouts_of(self.expression, self.out_layout)
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
    made = call_cache.again(plan._token, call) if operands and device is None else None
    if made is not None:
        return made
    views = plan._views(plan._checked(operands))
    layout = plan.out_layout if out is None else None
    straight = layout is None and device is None and plan.arguments == tuple(range(plan.arity))
    token = plan._token if straight and operands else None
    return eager_call.finish(plan.expression, call, views, layout, token, device)


_CALLED = EntryPoint(_called)


class BoundCall:
    """A launch with every argument packed; calling it runs the kernel and returns ``out``."""

    __module__ = "gpubcast"

    __slots__ = ("_held", "_launch", "_out", "_parameters", "_plan", "_run", "_views")

    def __init__(
        self,
        plan: Plan,
        views: tuple[View, ...],
        launch: Launch,
        parameters: tuple[bytearray, ...],
        out: Any,
        held: Any,
    ) -> None:
        self._plan = plan
        self._views = views
        self._launch = launch
        self._parameters = parameters
        self._out = out
        self._held = held  # temporaries; the views keep the bound memory alive
        self._run = launch.bound(parameters) if config.plain() else None

    def __reduce__(self) -> tuple[Any, ...]:
        raise Error(
            "a bound call belongs to its buffers and its device; copy or pickle the plan",
            rule="A8",
            kind="gpubcast:bound call",
        )

    def __repr__(self) -> str:
        return f"<gpubcast.BoundCall on {device_name(self._launch.device)}>"

    def explain(self, *, source: bool = False) -> Explanation:
        """The plan on the bound arrays, with the kernel that runs: their strides, and on a GPU
        their alignment.

        Args:
            source: whether the text shows the generated source too.
        """
        with locks.compiling():
            from gpubcast.explain.explanation import explain_launch

        plan = self._plan
        return explain_launch(plan.name, plan.expression, self._views, self._launch, source=source)

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


def generated_kernels(plan: Plan, target: Target) -> tuple[tuple[Schedule, KernelSource], ...]:
    """How the kernels of a plan run on a target, for aligned operands in the planned layouts, and
    their sources; none for results without elements."""
    made = (prepare.generated(one, target) for one in plan._call_plan().kernels)
    return tuple(one for one in made if one is not None)


def _bound(plan: Plan, views: tuple[View, ...], outs: tuple[View, ...], out: Any) -> BoundCall:
    every = (*views, *outs)
    device = devices_of(every)
    launch = prepare.prepare(
        plan.expression,
        tuple(view.operand for view in views),
        tuple(view.operand for view in outs),
        None,
        device,
        aligned(every, device),
    )
    misaligned = launch.misaligned(views)
    if misaligned:
        raise LayoutError(
            f"bind: operand {misaligned[0]} is not aligned for the type as which it is "
            "read, and would be copied",
            rule="A8",
            kind="gpubcast:operand cannot be bound",
        )
    check_lengths(plan.expression, views, device)
    check_apart(outs)
    if launch.former_outputs:
        raise LayoutError(
            "bind: out keeps what it holds, and several threads read each of its elements, which "
            "would need a temporary; call the plan instead",
            rule="A2",
            kind="gpubcast:out overlaps an operand",
        )
    if launch.overlaps(views, outs):
        raise LayoutError(
            "bind: out shares memory with an operand in another order, which would need a "
            "temporary; call the plan instead",
            rule="A2",
            kind="gpubcast:out overlaps an operand",
        )
    slots = [view.slot for view in every]
    with launch.backend.on(device[1]):
        held = execute.temporaries(launch, slots)
    return BoundCall(plan, every, launch, launch.parameters(slots), out, held)


@allocates
def plan(
    name: OperationName, *shapes: ShapeLike, out_layout: Layout | None = None, **attributes: Any
) -> Plan:
    """Plan an operation for given operand shapes.

    Args:
        name: the operation, e.g. ``"add"``.
        shapes: the operands' shapes, their text, arrays, or anything else that has a shape and a
            dtype, such as ``jax.ShapeDtypeStruct``.
        out_layout: layout of new results; None for the inferred one.
        attributes: the operation's keywords.

    Raises:
        Error: a rule refuses the operation.

    Example:
        >>> import gpubcast as gb
        >>> str(gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)).output_shape)
        'f32[2,3]{1,0}'
    """
    check_layout(out_layout, "out_layout")
    known = tuple(map(shape_of, shapes))
    row = ops.op(name)
    return Plan(row.name, expression.single(row.name, attributes), known, out_layout)
