"""Graphs as primitives of JAX: what ``jax.jit``, ``vmap``, ``jvp`` and ``grad`` make of them.

There are two. ``graph_p`` is a graph. ``linear_p`` is one that is linear in its last operands, with
its transpose beside it: the tangents of a graph, whose transpose is its gradients. So JAX composes
them to derivatives of every order, forward, backward, and both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from gpubcast.errors import ElementTypeError
from gpubcast.hlo.batching import batched
from gpubcast.hlo.expression import Expression
from gpubcast.hlo.linearization import linearized
from gpubcast.jax import custom_call
from gpubcast.plans import Plan
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A graph as a parameter of a primitive, which equal graphs share.

    Attributes:
        expression: the graph.
        name: what is computed, for messages.
    """

    expression: Expression
    name: str = field(compare=False)

    def __repr__(self) -> str:
        return self.name

    def plan(self, shapes: tuple[Shape, ...]) -> Plan:
        """Its plan for operands of some shapes."""
        return Plan(self.name, self.expression, shapes)


def element_type_of(x: Any) -> ElementType:
    """The element type of an array of JAX's or NumPy's.

    Raises:
        ElementTypeError: T1, it has none.
    """
    if jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended):
        raise ElementTypeError(
            f"JAX's {x.dtype} is no element type of XLA; the numbers of a key are "
            "jax.random.key_data(key)",
            rule="T1",
            kind="gpubcast:unknown element type",
        )
    return element_type(np.dtype(x.dtype))


def shape_of(x: Any) -> Shape:
    """The shape of an array, of a tracer, or of what JAX knows of one."""
    return Shape(np.dtype(x.dtype), tuple(x.shape))


def _shapes(given: Sequence[Any]) -> tuple[Shape, ...]:
    return tuple(map(shape_of, given))


def _results(graph: NamedGraph, given: Sequence[Any]) -> list[Any]:
    return [
        jax.core.ShapedArray(shape.dimensions, shape.element_type.dtype)
        for shape in graph.plan(_shapes(given)).output_shapes
    ]


def _run(graph: NamedGraph, operands: Sequence[Any]) -> Any:
    return custom_call.run(graph.plan(_shapes(operands)), operands)


graph_p = Primitive("gpubcast")
graph_p.multiple_results = True
linear_p = Primitive("gpubcast_linear")
linear_p.multiple_results = True


def apply(graph: NamedGraph, operands: Sequence[Any]) -> list[Any]:
    """The results of a graph."""
    found: list[Any] = graph_p.bind(*operands, graph=graph)
    return found


# --- one call ------------------------------------------------------------------------------------


@functools.partial(jax.jit, static_argnames=("graph",))
def _compiled(*operands: Any, graph: NamedGraph) -> Any:
    return graph_p.bind(*operands, graph=graph)


@functools.partial(jax.jit, static_argnames=("forward", "backward", "residuals"))
def _compiled_linear(*operands: Any, **said: Any) -> Any:
    return linear_p.bind(*operands, **said)


def _lowered(*operands: Any, graph: NamedGraph) -> Any:
    return _run(graph, operands)


def _lowered_linear(
    *operands: Any, forward: NamedGraph, backward: NamedGraph, residuals: int
) -> Any:
    return _run(forward, operands)


def _at_once(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """What JAX runs outside of a program: compiled under ``jax.disable_jit``, too, as its own
    primitives are."""

    def run(*operands: Any, **said: Any) -> Any:
        with jax.disable_jit(False):
            return compiled(*operands, **said)

    return run


graph_p.def_impl(_at_once(_compiled))
graph_p.def_abstract_eval(lambda *given, graph: _results(graph, given))
mlir.register_lowering(graph_p, mlir.lower_fun(_lowered, multiple_results=True))
linear_p.def_impl(_at_once(_compiled_linear))
linear_p.def_abstract_eval(lambda *given, forward, backward, residuals: _results(forward, given))
mlir.register_lowering(linear_p, mlir.lower_fun(_lowered_linear, multiple_results=True))


# --- derivatives ---------------------------------------------------------------------------------


def _tangents(
    graph: NamedGraph, results: Sequence[Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """The tangents of a graph's results."""
    found: list[Any] = [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in results]
    wanted = tuple(i for i, t in enumerate(tangents) if type(t) is not ad.Zero)
    made = linearized(graph.expression, _shapes(primals), wanted)
    if made is None:
        return found
    given = [tangents[i] for i in made.operands]
    changes = linear_p.bind(
        *primals,
        *given,
        forward=NamedGraph(made.forward, f"tangent of {graph.name}"),
        backward=NamedGraph(made.backward, f"gradient of {graph.name}"),
        residuals=len(primals),
    )
    for k, change in zip(made.results, changes, strict=True):
        found[k] = change
    return found


def _differentiated(primals: Sequence[Any], tangents: Sequence[Any], *, graph: NamedGraph) -> Any:
    results = apply(graph, primals)
    return results, _tangents(graph, results, primals, tangents)


def _linear_differentiated(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    forward: NamedGraph,
    backward: NamedGraph,
    residuals: int,
) -> Any:
    said = {"forward": forward, "backward": backward, "residuals": residuals}
    results = linear_p.bind(*primals, **said)
    if all(type(t) is ad.Zero for t in tangents[:residuals]):
        given = map(ad.instantiate_zeros, tangents[residuals:])
        return results, linear_p.bind(*primals[:residuals], *given, **said)
    return results, _tangents(forward, results, primals, tangents)


def _linear_transposed(
    gradients: Sequence[Any],
    *operands: Any,
    forward: NamedGraph,
    backward: NamedGraph,
    residuals: int,
) -> list[Any]:
    """The gradients of the linear operands; None for the others."""
    found = linear_p.bind(
        *operands[:residuals],
        *map(ad.instantiate_zeros, gradients),
        forward=backward,
        backward=forward,
        residuals=residuals,
    )
    return [*[None] * residuals, *found]


def _not_transposed(gradients: Sequence[Any], *operands: Any, graph: NamedGraph) -> Any:
    raise ElementTypeError(
        f"{graph.name} is not known to be linear, so a call of it has no transpose: take "
        "jax.vjp(f, x)[1], or transpose its tangents, jax.linearize(f, x)[1] [G1]",
        rule="G1",
        kind="gpubcast:no derivative",
    )


ad.primitive_transposes[graph_p] = _not_transposed
ad.primitive_jvps[graph_p] = _differentiated
ad.primitive_jvps[linear_p] = _linear_differentiated
ad.primitive_transposes[linear_p] = _linear_transposed


# --- vmap ----------------------------------------------------------------------------------------


def _over(graph: NamedGraph, operands: Sequence[Any], over: tuple[bool, ...]) -> NamedGraph:
    """A graph over a batch, which some operands have in front."""
    shapes = tuple(
        Shape(shape.element_type, shape.dimensions[1:]) if has else shape
        for shape, has in zip(_shapes(operands), over, strict=True)
    )
    return NamedGraph(batched(graph.expression, shapes, over), graph.name)


def _moved(operands: Sequence[Any], axes: Sequence[int | None]) -> list[Any]:
    return [
        x if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
    ]


def _mapped(operands: Sequence[Any], axes: Sequence[int | None], *, graph: NamedGraph) -> Any:
    given = _moved(operands, axes)
    results = apply(_over(graph, given, tuple(axis is not None for axis in axes)), given)
    return results, [0] * len(results)


def _linear_mapped(
    operands: Sequence[Any],
    axes: Sequence[int | None],
    *,
    forward: NamedGraph,
    backward: NamedGraph,
    residuals: int,
) -> Any:
    # Linear operands and results all have the batch, so that this has a transpose, too.
    given = _moved(operands, axes)
    size = next(x.shape[0] for x, axis in zip(given, axes, strict=True) if axis is not None)
    linear = [
        x if axis is not None else jnp.broadcast_to(x, (size, *x.shape))
        for x, axis in zip(given[residuals:], axes[residuals:], strict=True)
    ]
    over = tuple(axis is not None for axis in axes[:residuals])
    given = [*given[:residuals], *linear]
    wider = _over(forward, given, (*over, *[True] * len(linear)))
    gradients = [*given[:residuals], *_results(wider, given)]
    each = (*over, *[True] * (len(gradients) - residuals))
    found = linear_p.bind(
        *given, forward=wider, backward=_over(backward, gradients, each), residuals=residuals
    )
    return found, [0] * len(found)


batching.primitive_batchers[graph_p] = _mapped
batching.primitive_batchers[linear_p] = _linear_mapped
