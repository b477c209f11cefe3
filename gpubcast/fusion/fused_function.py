"""``fuse``: a function of gpubcast operations becomes one kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from gpubcast.errors import Error, brief, located
from gpubcast.fusion import (
    composed_calls,
    function_pickles,
    label_scope,
    operations,
    valid_lengths,
)
from gpubcast.fusion import trace as fusion_trace
from gpubcast.fusion.arguments import (
    SCALAR,
    Arguments,
    TraceKey,
    arguments_refusal,
)
from gpubcast.fusion.named_statics import NamedStatics, StaticCombinations
from gpubcast.fusion.shown_functions import function_bundle
from gpubcast.fusion.source_lines import outermost, unsupported, where
from gpubcast.fusion.trace import Trace, Tracer
from gpubcast.hlo import composed_axes, labels
from gpubcast.hlo.composed_axes import Composition
from gpubcast.hlo.expression import Expression
from gpubcast.hlo.labels import LabelPattern
from gpubcast.pictures.shown import Shown
from gpubcast.plans import Plan
from gpubcast.runtime import call_cache, eager_call, state
from gpubcast.runtime.array_libraries import library_of
from gpubcast.runtime.entry_point import Call, EntryPoint
from gpubcast.runtime.operands import is_scalar
from gpubcast.runtime.protocols import OutsT
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape

if TYPE_CHECKING:
    from gpubcast.explain.explanation import Explanation


MAX_TRACES = 4096
P = ParamSpec("P")
R = TypeVar("R")
Layouts = Layout | str | tuple[Layout | str | None, ...]
"""The layout of a result, or of several; a text has labels from the slowest to the fastest."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """A traced function: the graph, and the argument and type of each of its parameters."""

    expression: Expression
    sources: tuple[int, ...]
    types: tuple[ElementType, ...]


class Fused(Shown, Generic[P, R]):
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
        text: str | None,
        static: Iterable[str],
        fast_math: bool,
        valid: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> None:
        pattern, self._composition = None, None
        if text is not None:
            pattern, self._composition = composed_axes.read(text, sizes)
        elif not isinstance(sizes, Mapping) or len(sizes):
            raise composed_axes.refusal("sizes= is of labels, and the function has none")
        functools.update_wrapper(self, function)
        self._arguments = Arguments(function, static)
        self._pattern = pattern
        try:
            self._fast_math = bool(fast_math)
        except Exception as error:  # an array's, which has no one truth value
            raise Error(f"fast_math is True or False, not {brief(fast_math)}", rule="T0") from error
        self._name = self._arguments.name
        self._stand_in: Callable[..., Any] | None = None
        self._statics = StaticCombinations(self._arguments.static_names, MAX_TRACES)
        if pattern is not None:
            self._arguments.check_groups(pattern)
        self._valid = valid_lengths.checked(self._arguments, pattern, valid)
        # What a pickle says of it.
        spelled = text if self._composition or pattern is None else str(pattern)
        self._told = (
            spelled,
            self._arguments.static_names,
            self._fast_math,
            dict(valid),
            dict(sizes),
        )

    def __repr__(self) -> str:
        spelled = f" '{self._pattern}'" if self._pattern is not None else ""
        return f"<gpubcast.Fused {self._name}{spelled}>"

    def _shown(self) -> dict[str, str]:
        return function_bundle(repr(self), self._arguments, self._pattern, self._valid)

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
        return _unpickled, (self.by_name, name, *self._told)

    def __copy__(self) -> Fused[P, R]:
        return self

    def __deepcopy__(self, memo: Any) -> Fused[P, R]:
        return self

    # A type checker holds a call to the function's own parameters and annotations; what ``out``
    # and ``out_layout`` add cannot be said beside them.
    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    def __call__(
        self, *args: Any, out: OutsT, out_layout: None = None, **keywords: Any
    ) -> OutsT: ...
    @overload
    def __call__(self, *args: Any, out: None = None, out_layout: Layouts, **keywords: Any) -> R: ...

    def __call__(self, *args: Any, out: Any = None, out_layout: Any = None, **keywords: Any) -> Any:
        """Run the function as one kernel.

        Args:
            args, keywords: the function's own: arrays, Python scalars (passed at run time), None,
                and whatever ``static`` names.
            out: an array that receives the result and is returned; a tuple for several results.
            out_layout: layout of the new array, or its labels from the slowest to the fastest
                (``"col row"``); a tuple for several results.

        Raises:
            Error: a rule refuses an operation; the text names its line.
        """
        if not keywords:
            return _CALLED.call(self, args, out, out_layout)
        library = library_of((*args, *keywords.values()), out)
        if library is None and (named := self._statics.of(self, keywords)) is not None:
            return _CALLED.call(named, args, out, out_layout)
        values = self._arguments.ordered(args, keywords)
        if library is not None:
            return library.call(self._run_ordered, None, values, out, out_layout)
        return self._run_ordered(None, values, out, out_layout)

    def _run_ordered(self, *call: Any) -> Any:
        """A call that named arguments; what it gives is in order."""
        return self._run(call, call[1])

    def _run(self, call: Call, values: tuple[Any, ...]) -> Any:
        """A call, as it was made, with its arguments in order and defaults filled in."""
        what, given, out, out_layout = call
        if any([isinstance(x, Tracer) for x in values]):
            if out is not None or out_layout is not None:
                told = "out and out_layout belong to the outermost fused function"
                raise unsupported(f"{self._name}: {told}")
            return self._inline(values)
        out_layout = self._layouts(out_layout)
        if self._composition is not None:
            return self._run_composed(self._composition, values, out, out_layout)
        # What is static or None by position changes the code: such calls are not looked up.
        prefix = self if what is None else what
        made = call_cache.again(prefix, call) if out_layout is None else None
        if made is not None:
            return made
        views, signature = self._arguments.views(values)
        graph = _graph_of(self, signature)
        operands: list[Any] = [
            self._arguments.scalar(i, values[i], element_type) if views[i] is None else views[i]
            for i, element_type in zip(graph.sources, graph.types, strict=True)
        ]
        whole = graph.sources == tuple(range(len(given)))
        return eager_call.finish(
            graph.expression, call, tuple(operands), out_layout, prefix if whole else None
        )

    def _run_composed(
        self, composition: Composition, values: tuple[Any, ...], out: Any, out_layout: Any
    ) -> Any:
        """A call whose operands and results have other dimensions than labels."""
        views, given = self._arguments.views(values)
        at = self._arguments.array_numbers(values, self._pattern)
        names = [self._arguments.called(i) for i in at]
        seen = composed_calls.seen(composition, [views[i] for i in at], names)
        signature = list(given)
        for i, view in zip(at, seen.views, strict=True):
            views[i] = view
            if view is not None:
                shape = view.operand.shape
                signature[i] = (shape.element_type, shape.rank)
        graph = _graph_of(self, tuple(signature))
        operands = tuple(
            view
            if (view := views[i]) is not None
            else self._arguments.scalar(i, values[i], element_type)
            for i, element_type in zip(graph.sources, graph.types, strict=True)
        )
        return seen.run(graph.expression, values, operands, out, out_layout)

    def _layouts(self, given: Any) -> Any:
        """``out_layout`` with layouts in place of labels (X11)."""
        if type(given) not in (str, tuple, list):
            return given
        pattern = None if self._composition is not None else self._pattern
        return labels.layouts_by_labels(self._name, pattern, given)

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
        if self._composition is not None:
            raise located(
                composed_axes.refusal(
                    f"{self._name}: a plan has the dimensions of its operands, and these labels "
                    "make up dimensions: plan a function whose labels are one dimension each"
                ),
                self._arguments.home,
            )
        return self._plan_of(self._arguments.ordered(args, keywords), self._layouts(out_layout))

    def _described(self, args: Any, out_layout: Any = None, **keywords: Any) -> Plan:
        """What is shown of a call: its plan, of the labels where these make up dimensions."""
        if self._composition is None:
            return self.plan(*args, out_layout=out_layout, **keywords)
        values = self._arguments.ordered(args, keywords)
        at = self._arguments.array_numbers(values, self._pattern)
        names = [self._arguments.called(i) for i in at]
        given = [
            None if x is None or is_scalar(x) else self._arguments.shape(i, x)
            for i, x in ((i, values[i]) for i in at)
        ]
        seen, layouts = composed_calls.described(
            self._composition, given, names, self._layouts(out_layout)
        )
        shapes = {i: shape for i, shape in zip(at, seen, strict=True) if shape is not None}
        return self._plan_of(tuple(shapes.get(i, x) for i, x in enumerate(values)), layouts)

    def _plan_of(self, values: tuple[Any, ...], out_layout: Any) -> Plan:
        graph, shapes = self.graph_for(values)
        given = [i for i, x in enumerate(values) if not self._arguments.is_static(i, x)]
        return Plan(
            self._name,
            graph.expression,
            shapes,
            tuple(out_layout) if isinstance(out_layout, list) else out_layout,
            tuple(given.index(i) for i in graph.sources),
            frozenset(k for k, i in enumerate(graph.sources) if is_scalar(values[i])),
            len(given),
        )

    def graph_for(self, values: tuple[Any, ...]) -> tuple[_Graph, tuple[Shape, ...]]:
        """The graph for arguments in the order of the parameters, and its operands' shapes."""
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
        sources = enumerate(graph.sources)
        return graph, tuple(shapes.get(i) or Shape(graph.types[k], ()) for k, i in sources)

    def explain(
        self, *args: Any, arch: str = "sm_90", source: bool = False, **keywords: Any
    ) -> Explanation:
        """Explain the plan for given shapes or arrays; see ``Plan.explain``."""
        return self._described(args, **keywords).explain(arch=arch, source=source)

    def cuda_source(self, *args: Any, arch: str = "sm_90", **keywords: Any) -> str:
        """The generated CUDA source for given shapes or arrays; no GPU is needed."""
        return self._described(args, **keywords).cuda_source(arch)

    def cpu_source(self, *args: Any, **keywords: Any) -> str:
        """The generated numba source for given shapes or arrays."""
        return self._described(args, **keywords).cpu_source()

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
        if self._composition is not None:
            raise located(
                composed_axes.refusal(
                    f"{self._name}: composed axes and numbers are of arrays, and inside another "
                    "function there are none"
                ),
                where(),
            )
        outputs, packed, _ = self._call_with_labels(
            trace, admitted, where() or self._arguments.home, last=False
        )
        return tuple(outputs) if packed else outputs[0]

    def _call_with_labels(
        self, trace: Trace, values: list[Any], line: str, *, last: bool
    ) -> tuple[list[fusion_trace.ArrayTracer], bool, LabelPattern]:
        assert self._pattern is not None
        home = self._arguments.home
        arrays = self._arguments.array_numbers(values, self._pattern)
        if self._valid and trace.frame.pattern is not None:
            raise located(
                valid_lengths.refusal(
                    f"{self._name}: inside other labels it is the outermost function that says "
                    "valid="
                ),
                line,
            )
        given = [values[i] for i in arrays]
        inner = [x if isinstance(x, Tracer) else None for x in given]
        known = dict(() if self._composition is None else self._composition.sizes)
        depth = len(trace.frames)
        try:
            aligned, pattern = label_scope.enter(trace, self._pattern, inner, line, known)
            valid_lengths.enter(trace, self._valid, aligned, given)
            for i, value in zip(arrays, aligned, strict=True):
                values[i] = values[i] if value is None else value
            outputs, packed = label_scope.results(self._arguments.call(values), home)
            return label_scope.leave(trace, pattern, outputs, home, last=last), packed, pattern
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
                outputs, packed, pattern = self._call_with_labels(
                    trace, values, trace.home, last=True
                )
        graph = trace.graph(outputs, packed=packed, fast_math=self._fast_math, pattern=pattern)
        return _Graph(graph, tuple(trace.sources), tuple(trace.types))


def _unpickled(
    function: Callable[..., Any],
    name: str,
    text: str | None,
    static: Any,
    fast_math: bool,
    valid: Mapping[str, str],
    sizes: Mapping[str, int],
) -> Fused[..., Any]:
    """The fused function that a pickle says: the module's own where it has it by that name."""
    if not callable(function) or not isinstance(name, str):
        raise arguments_refusal(f"this is no fused function: {brief(function)}, {brief(name)}")
    named = function_pickles.found(getattr(function, "__module__", None), name)
    if isinstance(named, Fused) and named.by_name is function:
        return named
    again = function_pickles.again(function, name)
    return Fused(again, text, static, fast_math, valid, sizes)


def _called(
    what: Fused[..., Any] | NamedStatics, args: tuple[Any, ...], out: Any, out_layout: Any
) -> Any:
    fused, keywords = (what, {}) if isinstance(what, Fused) else (what.function, what.keywords)
    values = fused._arguments.ordered(args, keywords)
    return fused._run((what, args, out, out_layout), values)


_CALLED = EntryPoint(_called)


@functools.lru_cache(MAX_TRACES)
def _graph_of(fused: Fused[..., Any], signature: TraceKey) -> _Graph:
    try:
        graph: _Graph = outermost(fused.trace, signature)
    except RecursionError:
        raise arguments_refusal(f"{fused!r} calls itself, or is nested too deeply") from None
    return graph
