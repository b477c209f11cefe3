"""Fused functions as operators of PyTorch, with gradients, vmap and shapes for its compilers."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.library import CustomOpDef, Library

from gpubcast.errors import Error, brief
from gpubcast.fusion.decorator import fuse
from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo.aligned_graph import AlignedGraph
from gpubcast.hlo.batching import batched
from gpubcast.hlo.expression import Expression, Parameter, Size
from gpubcast.hlo.transposition import Transposed, transposed
from gpubcast.plans import Plan
from gpubcast.runtime.operands import is_scalar, operand_of
from gpubcast.shapes.element_types import ELEMENT_TYPES
from gpubcast.shapes.shape import Shape
from gpubcast.torch import tensors

Shapes = tuple[Shape, ...]
# Where a tensor may have a tangent, which PyTorch's kernel for these keys drops without a word.
_WITH_TANGENTS = ("AutogradCPU", "AutogradCUDA")
# Sizes that stand for those that a compiler has not seen.
_PRIMES = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093, 10099, 10103)


def op(
    function: Fused[..., Any],
    *,
    results: int | None = None,
    name: str | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> CustomOpDef:
    """A fused function as an operator of PyTorch: a ``torch.library.custom_op``.

    It takes tensors, one per parameter that ``arguments`` does not name, and gives a tensor, or a
    tuple of them. It has gradients of every order up to the second (operations without a derivative
    refuse them), a rule for ``torch.func.vmap``, and shapes for ``torch.compile``,
    also of sizes that are not known yet. Forward it is what the fused function is, one kernel where
    that is one; backward it is the graph of the gradients (``gradient_plan``).

    Args:
        function: a fused function.
        results: how many results it has; by default as many as its labels say, else one.
        name: the operator's name in ``torch.ops.gpubcast``; by default the function's, with its
            module's in front.
        arguments: values of parameters that are no tensors: static ones, Python scalars, None. They
            are part of the code.

    Raises:
        Error: F5, the function or the arguments are none.
    """
    bound, names = _bound("op", function, arguments)
    pattern = function._pattern
    if results is not None and (type(results) is not int or results < 1):
        raise _refused(f"results is the number of results, 1 or more, not {brief(results)}")
    count = results or (1 if pattern is None else len(pattern.outputs))
    if not (name is None or isinstance(name, str)):
        raise _refused(f"name is a text, not {brief(name)}")
    home = f"{function.__module__}_{function.__qualname__}"  # type: ignore[attr-defined]
    own = _free_name(re.sub(r"[\W_]+", "_", name or home, flags=re.ASCII).strip("_"))
    if not own.isidentifier():
        raise _refused(f"name begins with a letter of ASCII, as {brief(name)} does not")
    graph = functools.lru_cache(4096)(lambda shapes: _expression(bound, shapes))
    return _Operator(own, names, count, graph, bound, 2).definition


def gradient_plan(
    function: Fused[..., Any], *operands: Any, arguments: Mapping[str, Any] | None = None
) -> Plan:
    """The plan of what an operator made from a fused function computes backward.

    Args:
        function: the fused function.
        operands: tensors, arrays or shapes, one per parameter that ``arguments`` does not name.
        arguments: as for ``op``.

    Returns:
        A plan of the operands and then the gradients of the results, which gives the gradients of
        all operands that have one, in a tuple. ``explain()`` shows its kernels.

    Raises:
        ElementTypeError: G1, an operation has no derivative.
    """
    bound, _ = _bound("gradient_plan", function, arguments)
    known = [_shapes((x,))[0] if isinstance(x, Tensor) else x for x in operands]
    plan = bound.plan(*known)
    made = transposed(plan.expression, plan.shapes, conjugated=True)
    if made.expression is None:
        raise _refused(f"{plan.name}: no operand has a gradient")
    given = tuple(plan.output_shapes[k] for k in made.results)
    return Plan(f"gradient of {plan.name}", made.expression, (*plan.shapes, *given))


def _refused(what: str) -> Error:
    return Error(what, rule="F5", kind="gpubcast:arguments")


def _bound(
    caller: str, function: Fused[..., Any], arguments: Mapping[str, Any] | None
) -> tuple[Fused[..., Any], tuple[str, ...]]:
    """The function of its tensors alone, and what these are called."""
    if not isinstance(function, Fused):
        raise _refused(f"{caller} takes a function made by gb.fuse, not {brief(function)}")
    if not (arguments is None or isinstance(arguments, Mapping)):
        raise _refused(f"arguments= is a dictionary of values by name, not {brief(arguments)}")
    given = dict(arguments or {})
    for name, value in given.items():
        if hasattr(value, "dtype") and not is_scalar(value):
            raise _refused(
                f"arguments= has an array for {name!r}, and what it holds is part of the code: "
                "leave it out, and pass a tensor with each call"
            )
    parameters = inspect.signature(function).parameters
    fixed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind not in fixed and name not in given for name, p in parameters.items()):
        raise _refused(
            f"{function!r}: an operator has a fixed number of operands, by position; what can only "
            "be given by name is bound in arguments="
        )
    unknown = [name for name in given if name not in parameters]
    if unknown:
        raise _refused(f"{function!r} has no parameter {unknown[0]!r} to bind in arguments=")
    static = [list(parameters)[i] for i in function._arguments.static]
    for name, parameter in parameters.items():
        if name not in given and (name in static or parameter.default is not parameter.empty):
            if parameter.default is parameter.empty:
                raise _refused(f"{function!r}: bind the static parameter {name!r} in arguments=")
            given[name] = parameter.default
    names = tuple(name for name in parameters if name not in given)
    if not names:
        raise _refused(f"{function!r}: no parameter is left that is a tensor")
    if not given:
        return function, names

    def bound(*operands: Any) -> Any:
        return function(**dict(zip(names, operands, strict=True)), **given)

    bound.__name__ = function.__name__  # type: ignore[attr-defined]
    bound.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return fuse(bound), names


def _free_name(name: str) -> str:
    """A name that no operator has yet."""
    library = torch.ops.gpubcast
    return next(
        made
        for number in itertools.count()
        if not hasattr(library, made := f"{name}_{number}" if number else name)
    )


def _expression(function: Fused[..., Any], shapes: Shapes) -> Expression:
    plan = function.plan(*shapes)
    if plan.arguments != tuple(range(len(shapes))):
        raise _refused(f"{function!r} takes scalars; bind them in arguments=")
    return plan.expression


class _Operator:
    """One custom operator.

    Attributes:
        definition: what PyTorch calls.
    """

    def __init__(
        self,
        name: str,
        operands: tuple[str, ...],
        results: int,
        graph: Callable[[Shapes], Expression],
        function: Fused[..., Any] | None,
        orders: int,
    ) -> None:
        self._name = name
        self._operands = operands
        self._results = results
        self._graph = graph
        self._function = function
        self._orders = orders
        self._plan = functools.lru_cache(4096)(self._new_plan)
        self._gradient = functools.lru_cache(64)(self._new_gradient)
        self._over = functools.lru_cache(64)(self._new_over)
        given = ", ".join(f"Tensor {one}" for one in operands)
        returned = ", ".join(["Tensor"] * results)
        schema = f"({given}) -> {returned if results == 1 else f'({returned})'}"
        self.definition: CustomOpDef = torch.library.custom_op(
            f"gpubcast::{name}", self._run, mutates_args=(), schema=schema
        )
        # Modules that hold an operator are copied; there is one of it in a process.
        self.definition.__deepcopy__ = lambda memo: self.definition
        self.definition.register_fake(self._fake)
        self.definition.register_vmap(self._vmap)
        if orders:
            self.definition.register_autograd(self._backward, setup_context=self._save)
        self._looking = Library("gpubcast", "FRAGMENT")
        for key in _WITH_TANGENTS:
            self._looking.impl(name, self._without_tangents(key), key, with_keyset=True)

    # --- forward ---------------------------------------------------------------------------------

    def _run(self, *given: Tensor) -> Any:
        with torch.no_grad():
            if self._function is not None:
                made = self._function(*given)
            else:
                shapes = tuple([_shape(x.dtype, tuple(x.shape), x.stride()) for x in given])
                made = self._plan(shapes)(*given)
        found = made if isinstance(made, tuple) else (made,)
        if len(found) != self._results:
            raise _refused(
                f"{self._name} has {len(found)} results, and the operator was made with "
                f"results={self._results}"
            )
        return found if self._results > 1 else found[0]

    def _new_plan(self, shapes: Shapes) -> Plan:
        return Plan(self._name, self._graph(shapes), shapes)

    def _fake(self, *given: Tensor) -> Any:
        shapes = _shapes(given)
        plan = self._plan(shapes)
        aligned = AlignedGraph(plan.expression, shapes)

        def size_of(size: Size) -> Any:
            if isinstance(size, int):
                return size
            parameter = aligned.nodes[size[0]]
            assert isinstance(parameter, Parameter)
            return given[parameter.index].shape[size[1]]

        for one, other in aligned.equal:
            torch._check(size_of(one) == size_of(other))
        made = []
        for output, shape in zip(plan.expression.outputs, plan.output_shapes, strict=True):
            sizes = [size_of(size) for size in aligned.values[aligned.new[output]].sizes]
            strides: list[Any] = [0] * len(sizes)
            step: Any = 1
            for d in shape.layout.minor_to_major:
                strides[d] = step
                step = step * sizes[d]
            dtype = tensors.dtype_of(shape.element_type)
            made.append(torch.empty_strided(sizes, strides, dtype=dtype, device=given[0].device))
        return tuple(made) if self._results > 1 else made[0]

    def _without_tangents(self, key: str) -> Callable[..., Any]:
        """PyTorch's kernel for a key, of tensors that have no tangents."""
        kernel = torch.library.get_kernel(f"gpubcast::{self._name}", key)

        def checked(keys: Any, *given: Tensor) -> Any:
            if tensors.have_tangents(given):
                raise tensors.tangent_refusal()
            return kernel.call_boxed(keys, *given)

        return checked

    # --- backward --------------------------------------------------------------------------------

    @staticmethod
    def _save(ctx: Any, inputs: tuple[Tensor, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def _backward(self, ctx: Any, *gradients: Tensor | None) -> Any:
        given = ctx.saved_tensors
        shapes = _shapes(given)
        wanted = tuple(i for i, needed in enumerate(ctx.needs_input_grad) if needed)
        made = self._transposed(shapes, wanted)
        returned: list[Tensor | None] = [None] * len(given)
        if made.expression is not None:
            operator = self._gradient(wanted, made.operands, made.results)
            arrived = [gradients[k] for k in made.results]
            found = operator.definition(*given, *arrived)
            every = found if isinstance(found, (tuple, list)) else (found,)
            for i, gradient in zip(made.operands, every, strict=True):
                returned[i] = gradient
        return returned[0] if len(returned) == 1 else tuple(returned)

    def _transposed(self, shapes: Shapes, wanted: tuple[int, ...]) -> Transposed:
        return transposed(self._graph(shapes), shapes, wanted, conjugated=True)

    def _new_gradient(
        self, wanted: tuple[int, ...], operands: tuple[int, ...], results: tuple[int, ...]
    ) -> _Operator:
        def graph(shapes: Shapes) -> Expression:
            made = self._transposed(shapes[: len(self._operands)], wanted)
            assert made.expression is not None
            return made.expression

        name = _free_name(f"{self._name}_gradient_{'_'.join(map(str, operands))}")
        names = (*self._operands, *(f"gradient_{k}" for k in results))
        return _Operator(name, names, len(operands), graph, None, self._orders - 1)

    # --- vmap ------------------------------------------------------------------------------------

    def _vmap(self, info: Any, in_dims: tuple[int | None, ...], *given: Tensor) -> Any:
        over = tuple(d is not None for d in in_dims)
        moved = [x if d is None else x.movedim(d, 0) for x, d in zip(given, in_dims, strict=True)]
        made = self._over(over).definition(*moved)
        return made, 0 if self._results == 1 else (0,) * self._results

    def _new_over(self, over: tuple[bool, ...]) -> _Operator:
        def graph(shapes: Shapes) -> Expression:
            inner = tuple(
                Shape(s.element_type, s.dimensions[1:]) if has else s
                for s, has in zip(shapes, over, strict=True)
            )
            return batched(self._graph(inner), inner, over)

        name = _free_name(f"{self._name}_batch_{''.join(map(str, map(int, over)))}")
        return _Operator(name, self._operands, self._results, graph, None, self._orders)


# --- shapes --------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def _shape(dtype: torch.dtype, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Shape:
    """The shape of a tensor with strides in elements; its layout is its axis order."""
    name = tensors.ELEMENT_TYPE_OF.get(dtype)
    if name is None:
        raise tensors.lacking(dtype)
    numpy = ELEMENT_TYPES[name].dtype
    operand, _ = operand_of(numpy, sizes, tuple(numpy.itemsize * step for step in strides))
    return operand.shape


def _shapes(given: tuple[Tensor, ...]) -> Shapes:
    """The shapes of tensors. Of a size that a compiler keeps open it is the one that it has seen;
    one that it has not seen is a prime, so that no two are equal."""
    unseen: dict[Any, int] = {}
    return tuple(
        _shape(
            x.dtype,
            tuple([n if type(n) is int else _seen(n, unseen) for n in x.shape]),
            tuple([n if type(n) is int else _seen(n, unseen) for n in x.stride()]),
        )
        for x in given
    )


def _seen(size: Any, unseen: dict[Any, int]) -> int:
    node = size.node
    if node.has_hint():
        return int(node.hint)
    for symbol in sorted(node.expr.free_symbols, key=str):
        unseen.setdefault(symbol, _PRIMES[len(unseen) % len(_PRIMES)])
    return int(node.expr.subs(unseen))
