"""``fuse``: a function of gpubcast operations becomes one kernel. ``apply``: one labelled call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from gpubcast.errors import Error, ShapeError, brief
from gpubcast.fusion import function_pickles, label_scope, operations
from gpubcast.fusion import trace as fusion_trace
from gpubcast.fusion.arguments import (
    SCALAR,
    Arguments,
    TraceKey,
    arguments_refusal,
    typed_key,
)
from gpubcast.fusion.source_lines import outermost, unsupported, where
from gpubcast.fusion.trace import Trace, Tracer
from gpubcast.hlo import labels
from gpubcast.hlo.expression import Expression
from gpubcast.hlo.labels import LabelPattern
from gpubcast.plans import Plan
from gpubcast.runtime import call_cache, eager_call, state
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.runtime.operands import is_scalar
from gpubcast.runtime.protocols import ArrayLike, OutT
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.shape import Shape

if TYPE_CHECKING:
    from gpubcast.explain.explanation import Explanation


MAX_TRACES = 4096
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Graph:
    """A traced function: the graph, and the argument and type of each of its parameters."""

    expression: Expression
    sources: tuple[int, ...]
    types: tuple[ElementType, ...]


class Fused(Generic[P, R]):
    """A function that runs as one kernel; made by ``gb.fuse``.

    It is called like the function, and with ``out`` and ``out_layout`` beside: one array or Layout,
    for several results a tuple. It is traced once for each combination of the operands' element
    types and ranks, of scalars' types in Python and of static arguments, never for a size. Closures
    and globals are read then.
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
        self._stand_in: Callable[..., Any] | None = None
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

    @property
    def by_name(self) -> Callable[..., Any]:
        """What is pickled in place of the function; see ``function_pickles``."""
        made = function_pickles.stand_in(self._arguments.function, owner=self)
        if self._stand_in is None or self._stand_in.__qualname__ != made.__qualname__:
            self._stand_in = made  # the same one each time
        return self._stand_in

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        name = self._arguments.function.__qualname__
        if protocol < 4 and self.by_name.__qualname__.startswith(f"{name}."):
            return name  # before protocol 4 an attribute is pickled with what it belongs to
        text = None if self._pattern is None else str(self._pattern)
        told = (text, self._arguments.static_names, self._fast_math)
        return _unpickled, (self.by_name, name, *told)

    def __copy__(self) -> Fused[P, R]:
        return self

    def __deepcopy__(self, memo: Any) -> Fused[P, R]:
        return self

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
        return self._run(self._arguments.ordered(args, keywords), None, out, out_layout)

    def _run(self, values: tuple[Any, ...], what: Any, out: Any, out_layout: Any) -> Any:
        """A call with its arguments in order; ``what`` is None where it was given otherwise."""
        if any([isinstance(x, Tracer) for x in values]):
            if out is not None or out_layout is not None:
                raise unsupported(
                    f"{self._name}: out and out_layout belong to the outermost fused function",
                )
            return self._inline(values)
        # What is static or None changes the code, so such calls are not looked up.
        call = (what, values, out, out_layout)
        made = call_cache.again(self, call) if out_layout is None else None
        if made is not None:
            return made
        views, signature = self._arguments.views(values)
        graph = _graph_of(self, signature)
        operands: list[Any] = [
            self._arguments.scalar(i, values[i], element_type) if views[i] is None else views[i]
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
                signature.append((SCALAR, type(x)))
            else:
                shapes[i] = self._arguments.shape(i, x)
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
            assert isinstance(entry, tuple)
            if entry[0] == SCALAR:
                values.append(trace.scalar(i, name, entry[1]))
            elif isinstance(entry[0], ElementType):
                values.append(trace.parameter(i, name, entry[0], entry[1]))
            else:
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


def _unpickled(
    function: Callable[..., Any], name: str, text: str | None, static: Any, fast_math: bool
) -> Fused[..., Any]:
    """The fused function that a pickle says: the module's own where it has it by that name."""
    if not callable(function) or not isinstance(name, str):
        raise arguments_refusal(f"this is no fused function: {brief(function)}, {brief(name)}")
    named = function_pickles.found(getattr(function, "__module__", None), name)
    if isinstance(named, Fused) and named.by_name is function:
        return named
    pattern = None if text is None else labels.parse(text)
    return Fused(function_pickles.again(function, name), pattern, static, fast_math)


def _called(fused: Fused[..., Any], args: tuple[Any, ...], out: Any, out_layout: Any) -> Any:
    values = fused._arguments.ordered(args, {})
    return fused._run(values, fused if values is args else None, out, out_layout)


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
