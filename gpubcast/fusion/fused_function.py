"""``fuse``: a function of gpubcast operations becomes one kernel. ``apply``: one labelled call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from gpubcast.arrays import Array
from gpubcast.errors import Error, ShapeError, brief, located
from gpubcast.fusion import label_scope, operations
from gpubcast.fusion import trace as fusion_trace
from gpubcast.fusion.arguments import SCALAR, Arguments, arguments_refusal, typed_key
from gpubcast.fusion.source_lines import outermost, unsupported, where
from gpubcast.fusion.trace import Trace, Tracer
from gpubcast.hlo import labels
from gpubcast.hlo.expression import Expression
from gpubcast.hlo.labels import LabelPattern
from gpubcast.plans import Plan
from gpubcast.runtime import call_cache, eager_call, state
from gpubcast.runtime.array_libraries import library_of
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.runtime.operands import is_scalar, scalar_view, view_of
from gpubcast.runtime.protocols import ArrayLike, OutT
from gpubcast.runtime.view import View
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.shape import Shape, as_shape

if TYPE_CHECKING:
    from gpubcast.explain.explanation import Explanation


MAX_TRACES = 4096
P = ParamSpec("P")
R = TypeVar("R")

# What a traced function depends on, one entry per argument: an element type and a rank, SCALAR for
# a Python scalar, or a static value with its key.
TraceKey = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class _Graph:
    """A traced function: the graph, and the argument and type of each of its parameters."""

    expression: Expression
    sources: tuple[int, ...]
    types: tuple[ElementType, ...]


class Fused(Generic[P, R]):
    """A function that runs as one kernel; made by ``gb.fuse``.

    It is called like the function, and with ``out`` and ``out_layout`` beside (a tuple for several
    results). It is traced once for each combination of the operands' element types and ranks and of
    static arguments, never for a size. Closures and globals are read then.
    """

    __module__ = "gpubcast"

    def __init__(
        self,
        function: Callable[P, R],
        pattern: LabelPattern | None,
        static: Iterable[str],
        fast_math: bool,
    ) -> None:
        functools.update_wrapper(self, function)
        self._arguments = Arguments(function, static)
        self._pattern = pattern
        try:
            self._fast_math = bool(fast_math)
        except Exception as error:  # an array's, which has no one truth value
            raise Error(f"fast_math is True or False, not {brief(fast_math)}", rule="T0") from error
        self._name = self._arguments.name
        if pattern is not None:
            self._arguments.check_groups(pattern)

    def __repr__(self) -> str:
        spelled = f" '{self._pattern}'" if self._pattern is not None else ""
        return f"<gpubcast.Fused {self._name}{spelled}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Fused[P, R]:
        if instance is None:
            return self
        raise arguments_refusal(
            f"{self._arguments.home}: a fused function is no method; use staticmethod"
        )

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined, no-any-return]

    # A type checker holds a call to the function's own parameters and annotations; what ``out``
    # and ``out_layout`` add cannot be said beside them.
    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, out: OutT, out_layout: None = None, **keywords: Any) -> OutT: ...
    @overload
    def __call__(self, *args: Any, out: None = None, out_layout: Any, **keywords: Any) -> R: ...

    def __call__(self, *args: Any, out: Any = None, out_layout: Any = None, **keywords: Any) -> Any:
        """Run the function as one kernel.

        Args:
            args, keywords: the function's own: arrays, Python scalars (passed at run time), None,
                and whatever ``static`` names.
            out: an array that receives the result and is returned; a tuple for several results.
            out_layout: layout of the new array; a tuple for several results.

        Raises:
            Error: a rule refuses an operation; the text names its line.
        """
        if not keywords:
            return _CALLED.call(self, args, out, out_layout)
        values = self._arguments.ordered(args, keywords)
        library = library_of(values, out)
        if library is not None:
            return library.call(self._run, None, values, out, out_layout)
        return self._run(None, values, out, out_layout)

    def _run(self, what: Any, values: tuple[Any, ...], out: Any, out_layout: Any) -> Any:
        """A call with its arguments in order; ``what`` is None where it was given otherwise."""
        if any([isinstance(x, Tracer) for x in values]):
            if out is not None or out_layout is not None:
                told = "out and out_layout belong to the outermost fused function"
                raise unsupported(f"{self._name}: {told}")
            return self._inline(values)
        # What is static or None changes the code, so such calls are not looked up.
        call = (what, values, out, out_layout)
        made = call_cache.again(self, call) if out_layout is None else None
        if made is not None:
            return made
        views, signature = self._views(values)
        graph = _graph_of(self, signature)
        operands: list[Any] = [
            self._named(i, scalar_view, values[i], element_type) if views[i] is None else views[i]
            for i, element_type in zip(graph.sources, graph.types, strict=True)
        ]
        prefix = self if graph.sources == tuple(range(len(values))) else None
        return eager_call.finish(graph.expression, call, tuple(operands), out_layout, prefix)

    def plan(self, *args: Any, out_layout: Any = None, **keywords: Any) -> Plan:
        """Plan the function for given operand shapes.

        Args:
            args, keywords: as in a call, with shapes or their text in place of arrays (an array
                stands for its shape); a Python scalar stands for any of its type.
            out_layout: layout of new results, for several a tuple; None for the inferred ones.

        Returns:
            A plan; it is called with the arguments that are neither None nor static.

        Raises:
            Error: a rule refuses an operation; the text names its line.
        """
        values = self._arguments.ordered(args, keywords)
        shapes: dict[int, Shape] = {}
        signature: list[Hashable] = []
        for i, x in enumerate(values):
            if self._arguments.is_static(i, x):
                signature.append(self._arguments.static_key(i, x))
            elif is_scalar(x):
                signature.append(SCALAR)
            else:
                shapes[i] = self._shape(i, x)
                signature.append((shapes[i].element_type, shapes[i].rank))
        graph = _graph_of(self, tuple(signature))
        given = [i for i, x in enumerate(values) if not self._arguments.is_static(i, x)]
        return Plan(
            self._name,
            graph.expression,
            tuple(
                shapes[i] if i in shapes else Shape(graph.types[k], ())
                for k, i in enumerate(graph.sources)
            ),
            tuple(out_layout) if isinstance(out_layout, list) else out_layout,
            tuple(given.index(i) for i in graph.sources),
            frozenset(k for k, i in enumerate(graph.sources) if i not in shapes),
            len(given),
        )

    def explain(
        self, *args: Any, arch: str = "sm_90", source: bool = False, **keywords: Any
    ) -> Explanation:
        """Explain the plan for given shapes or arrays; see ``Plan.explain``."""
        return self.plan(*args, **keywords).explain(arch=arch, source=source)

    def cuda_source(self, *args: Any, arch: str = "sm_90", **keywords: Any) -> str:
        """The generated CUDA source for given shapes or arrays; no GPU is needed."""
        return self.plan(*args, **keywords).cuda_source(arch)

    def cpu_source(self, *args: Any, **keywords: Any) -> str:
        """The generated numba source for given shapes or arrays."""
        return self.plan(*args, **keywords).cpu_source()

    # --- arguments -------------------------------------------------------------------------------

    def _views(self, values: tuple[Any, ...]) -> tuple[list[View | None], TraceKey]:
        """The arrays as the runtime sees them, and what tracing depends on."""
        views: list[View | None] = []
        signature: list[Hashable] = []
        static = self._arguments.static
        for i, x in enumerate(values):
            if x is None or i in static:
                views.append(None)
                signature.append(self._arguments.static_key(i, x))
            elif is_scalar(x):
                views.append(None)
                signature.append(SCALAR)
            elif isinstance(x, str):
                raise arguments_refusal(
                    f"{self._name}: the argument {self._arguments.called(i)} is the text "
                    f"{brief(x)}, no array; name the parameter in static="
                )
            else:
                view = self._named(i, view_of, x)
                shape = view.operand.shape
                views.append(view)
                signature.append((shape.element_type, len(shape.dimensions)))
        return views, tuple(signature)

    def _named(self, index: int, function: Callable[..., Any], *given: Any) -> Any:
        """What a function makes of an argument, which its refusals name."""
        try:
            return function(*given)
        except Error as error:
            raise located(error, self._arguments.named(index)) from None

    def _shape(self, index: int, x: Any) -> Shape:
        if isinstance(x, Array):
            return x.xla_shape
        if not isinstance(x, (str, Shape)):
            return self._named(index, view_of, x).operand.shape  # type: ignore[no-any-return]
        return self._named(index, as_shape, x)  # type: ignore[no-any-return]

    # --- tracing ---------------------------------------------------------------------------------

    def _inline(self, values: tuple[Any, ...]) -> Any:
        """The function inside another that is being traced."""
        trace = next(x.trace for x in values if isinstance(x, Tracer))
        admitted = [
            x if self._arguments.is_static(i, x) or is_scalar(x) else trace.admit(x)
            for i, x in enumerate(values)
        ]
        if self._pattern is None:
            return self._arguments.call(admitted)
        outputs, packed, _ = self._call_with_labels(
            trace, admitted, where() or self._arguments.home
        )
        return tuple(outputs) if packed else outputs[0]

    def _call_with_labels(
        self, trace: Trace, values: list[Any], line: str
    ) -> tuple[list[fusion_trace.ArrayTracer], bool, LabelPattern]:
        assert self._pattern is not None
        home = self._arguments.home
        arrays = [i for i in range(len(values)) if i not in self._arguments.static]
        if len(arrays) != len(self._pattern.operands):
            raise ShapeError(
                f"{self._name}: '{self._pattern}' has "
                f"{labels.counted(len(self._pattern.operands), 'group')} of operands, and got "
                f"{labels.counted(len(arrays), 'operand')}",
                rule="X4",
                kind="gpubcast:number of labels",
            )
        inner = [x if isinstance(x, Tracer) else None for x in (values[i] for i in arrays)]
        depth = len(trace.frames)
        try:
            aligned, pattern = label_scope.enter(trace, self._pattern, inner, line)
            for i, value in zip(arrays, aligned, strict=True):
                values[i] = values[i] if value is None else value
            outputs, packed = label_scope.results(self._arguments.call(values), home)
            return label_scope.leave(trace, pattern, outputs, home), packed, pattern
        finally:
            # A function may catch what one inside it raises.
            del trace.frames[depth:]

    def trace(self, signature: TraceKey) -> _Graph:
        """Trace the function for a signature."""
        trace = Trace(self._arguments.home, operations.emit_operation, operations.emit_operator)
        values: list[Any] = []
        for i, entry in enumerate(signature):
            name = self._arguments.called(i)
            if entry == SCALAR:
                values.append(trace.scalar(i, name))
            elif isinstance(entry, tuple) and isinstance(entry[0], ElementType):
                values.append(trace.parameter(i, name, entry[0], entry[1]))
            else:
                assert isinstance(entry, tuple)
                values.append(entry[2].value)
        if not any(isinstance(x, fusion_trace.ArrayTracer) for x in values):
            raise arguments_refusal(
                f"{self._name}: no argument is an array, so nothing says what type and device the "
                "result has"
            )
        outputs: list[Any]
        pattern = None
        with state.active_trace(trace):
            if self._pattern is None:
                returned, packed = label_scope.results(self._arguments.call(values), trace.home)
                outputs = [label_scope.result(trace, x, trace.home) for x in returned]
            else:
                outputs, packed, pattern = self._call_with_labels(trace, values, trace.home)
        graph = trace.graph(outputs, packed=packed, fast_math=self._fast_math, pattern=pattern)
        return _Graph(graph, tuple(trace.sources), tuple(trace.types))


def _called(fused: Fused[..., Any], args: tuple[Any, ...], out: Any, out_layout: Any) -> Any:
    values = fused._arguments.ordered(args, {})
    return fused._run(fused if values is args else None, values, out, out_layout)


_CALLED = EntryPoint(_called)


@functools.lru_cache(MAX_TRACES)
def _graph_of(fused: Fused[..., Any], signature: TraceKey) -> _Graph:
    try:
        graph: _Graph = outermost(fused.trace, signature)
    except RecursionError:
        raise arguments_refusal(f"{fused!r} calls itself, or is nested too deeply") from None
    return graph


@overload
def fuse(
    function: Callable[P, R], *, static: Iterable[str] = (), fast_math: bool = False
) -> Fused[P, R]: ...
@overload
def fuse(
    function: str | None = None, *, static: Iterable[str] = (), fast_math: bool = False
) -> Callable[[Callable[P, R]], Fused[P, R]]: ...


def fuse(
    function: Callable[..., Any] | str | None = None,
    *,
    static: Iterable[str] = (),
    fast_math: bool = False,
) -> Any:
    """Make a function of gpubcast operations one kernel. A decorator.

    Args:
        function: the function (``@gb.fuse``), or labels
            (``@gb.fuse("row col, row -> row col")``): one group per array parameter, one per
            result. Operands are then aligned by label, in any order, before the first operation.
        static: names of parameters that are not arrays; their values are part of the code.
        fast_math: allow reassociation and contraction; results may differ in the last places, and
            between devices.

    Returns:
        A ``gb.Fused``.

    Raises:
        ShapeError: rules X1 to X4, the labels are malformed or do not fit the parameters.
        Error: F5, the function cannot be fused.

    Example:
        >>> import gpubcast as gb, numpy as np
        >>> @gb.fuse("row col, row, col -> row col")
        ... def scaled(x, mean, gain):
        ...     return (x - mean) * gain
        >>> x = np.arange(6, dtype="f4").reshape(2, 3)
        >>> scaled(x, x[:, 0], np.float32([1, 2, 3]))
        array([[0., 2., 6.],
               [0., 2., 6.]], dtype=float32)
    """
    if callable(function):
        return Fused(function, None, static, fast_math)
    pattern = None if function is None else labels.parse(function)
    return lambda body: Fused(body, pattern, static, fast_math)


@functools.lru_cache(MAX_TRACES)
def _function_with_labels(
    text: str, function: Callable[..., Any], attributes: tuple[tuple[str, Hashable], ...], key: Any
) -> Fused[..., Any]:
    def call(*operands: Any) -> Any:
        return function(*operands, **dict(attributes))

    call.__name__ = getattr(function, "__name__", "function")
    return Fused(call, labels.parse(text), (), fast_math=False)


@overload
def apply(
    text: str,
    function: Callable[..., Any],
    *operands: ArrayLike,
    out: OutT,
    out_layout: None = None,
    **attributes: Any,
) -> OutT: ...
@overload
def apply(
    text: str,
    function: Callable[..., Any],
    *operands: ArrayLike,
    out: None = None,
    out_layout: Any = None,
    **attributes: Any,
) -> Any: ...


def apply(
    text: str,
    function: Callable[..., Any],
    *operands: Any,
    out: Any = None,
    out_layout: Any = None,
    **attributes: Any,
) -> Any:
    """One operation on operands aligned by label.

    Args:
        text: labels, e.g. ``"b c h w, c -> b c h w"``.
        function: an operation (``gb.mul``), or any function that could be fused.
        operands: one per group of labels.
        out: an array that receives the result and is returned.
        out_layout: layout of the new array.
        attributes: the operation's keywords; they are hashable.

    Raises:
        ShapeError: rules X1 to X8.
        Error: a rule refuses the operation.

    Example:
        >>> import gpubcast as gb, numpy as np
        >>> gb.apply("r c, r -> r c", gb.add, np.ones((2, 2), "f4"), np.float32([1, 2]))
        array([[2., 2.],
               [3., 3.]], dtype=float32)
    """
    if not callable(function):
        raise arguments_refusal(f"apply takes an operation such as gb.mul, not {brief(function)}")
    labels.parse(text)
    given = tuple(sorted(attributes.items()))
    try:
        fused = _function_with_labels(text, function, given, typed_key(given))
    except Error:
        raise
    except Exception:  # whatever a foreign object raises
        shown = brief((getattr(function, "__name__", function), *attributes.values()))
        raise arguments_refusal(f"apply: one of {shown} cannot be hashed") from None
    return fused(*operands, out=out, out_layout=out_layout)
