"""``gpubcast.xarray.apply``: a fused function on what has named dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray

from gpubcast import functions
from gpubcast.errors import ElementTypeError, Error, brief
from gpubcast.fusion.application import apply as apply_with_labels
from gpubcast.fusion.arguments import arguments_refusal
from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo.labels import ELLIPSIS, Group, LabelPattern
from gpubcast.hlo.ops import OPS
from gpubcast.runtime.operands import is_scalar
from gpubcast.xarray import dimensions
from gpubcast.xarray.dimensions import NamedOperand, refused

_NAMED = (xarray.DataArray, xarray.Dataset, xarray.Variable)
_SAME_SIZES = ("exact", "override")
_JOINS = ("exact", "inner", "outer", "left", "right", "override")
_OPERATIONS = frozenset(row.name for row in OPS.values() if row.public and row.rule.reduces is None)


def apply(
    function: Callable[..., Any],
    *operands: Any,
    join: str = "exact",
    dataset_join: str = "exact",
    keep_attrs: bool | str | None = None,
    **keywords: Any,
) -> Any:
    """Run a function on DataArrays, Datasets and Variables, whose dimensions are its labels.

    Dimensions go to labels by name, in any order. What becomes of coordinates, attributes and names
    is what ``xarray.apply_ufunc`` does. An operand whose blocks are Dask's stays lazy, through
    ``gpubcast.dask``; a Dataset is gone through variable by variable.

    Args:
        function: a function made by ``gb.fuse`` with labels, ``...`` included, or an elementwise
            operation such as ``gb.add``, whose labels are the dimensions of its operands.
        operands: its arguments: what has named dimensions, and arrays of other libraries, which
            have theirs in the order of their labels, Python scalars and static values.
        join: ``"exact"`` (coordinates are equal), ``"inner"``, ``"outer"``, ``"left"``,
            ``"right"`` or ``"override"``.
        dataset_join: the same for the names of variables: ``"exact"`` or ``"inner"``.
        keep_attrs: whether results have attributes, or how those of operands are combined; None for
            xarray's own option.
        keywords: further arguments of the function.

    Returns:
        A DataArray, a Dataset or a Variable, with the labels of the result in their order; a tuple
        for several results. The function's own result where no operand has named dimensions.

    Raises:
        ShapeError: V1, dimensions are not the labels; V2, labels are no names; V3, what xarray
            refuses of coordinates or variables; X6, a dimension has two sizes.
        Error: a rule refuses an operation; the text names its line.

    Example:
        >>> import gpubcast as gb, gpubcast.xarray, numpy as np, xarray as xr
        >>> x = xr.DataArray(np.float32([[1, 2], [3, 4]]), dims=("row", "col"))
        >>> gpubcast.xarray.apply(gb.add, x, x.isel(row=0)).values
        array([[2., 4.],
               [4., 6.]], dtype=float32)
    """
    for x in (*operands, *keywords.values()):
        _check_type(x)
    if isinstance(function, Fused):
        call = _of_fused(function, operands, keywords)
    elif inspect.isfunction(function) and vars(functions).get(function.__name__) is function:
        call = _of_operation(function, operands, keywords)
    else:
        raise arguments_refusal(
            "gpubcast.xarray.apply takes a function made by gb.fuse or an operation such as "
            f"gb.add, not {brief(function)}"
        )
    if not call.operands:
        return call.run(())
    return call.applied(join, dataset_join, keep_attrs)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call whose operands are separated from its other arguments.

    Attributes:
        name: the function's name.
        pattern: its labels.
        operands: those with named dimensions.
        run: calls the function with arrays in place of these.
    """

    name: str
    pattern: LabelPattern
    operands: tuple[NamedOperand, ...]
    run: Callable[[Sequence[Any]], Any]

    def applied(self, join: str, dataset_join: str, keep_attrs: bool | str | None) -> Any:
        """The results of ``xarray.apply_ufunc``, which has every label as a core dimension; those
        of ``...`` are its loop's dimensions, or where a result lacks them core dimensions too."""
        for keyword, value in (("join", join), ("dataset_join", dataset_join)):
            # xarray looks at it where there are two of what is joined.
            if value not in _JOINS:
                raise refused(
                    f"{self.name}: {keyword}= is one of {', '.join(_JOINS)}, not {brief(value)}",
                    "V3",
                )
        if any(_is_lazy(one.value) for one in self.operands):
            import gpubcast.dask  # noqa: F401, has the blocks' arrays recognised
        dimensions.check(self.name, self.pattern, self.operands, join in _SAME_SIZES)
        groups = [one.group for one in self.operands]
        outputs = self.pattern.outputs
        loops = all(ELLIPSIS in group for group in outputs)
        free = () if loops else self._free_dimensions()
        packed = False
        failure: list[BaseException] = []

        def on_arrays(*arrays: Any) -> Any:
            nonlocal packed
            given = [
                _moved(x, group, loops, arrives=True)
                for x, group in zip(arrays, groups, strict=True)
            ]
            try:
                made = self.run(given)
            except Exception as error:
                failure.append(error)
                raise
            packed = isinstance(made, tuple)
            found = tuple(
                _moved(x, group, loops, arrives=False)
                for x, group in zip(made if packed else (made,), outputs, strict=True)
            )
            return found if len(found) > 1 else found[0]

        try:
            made = xarray.apply_ufunc(
                on_arrays,
                *[one.value for one in self.operands],
                input_core_dims=[_filled(group, free) for group in groups],
                output_core_dims=[_filled(group, free) for group in outputs],
                join=join,
                dataset_join=dataset_join,
                keep_attrs=keep_attrs,
                dask="allowed",
            )
        except Error:
            raise
        except Exception as error:
            if any(error is one for one in failure):
                raise
            raise refused(
                f"{self.name}: xarray refuses the operands: {' '.join(str(error).split())}",
                "V3",
            ) from error
        results = tuple(
            one.transpose(*[... if dim == ELLIPSIS else dim for dim in group])
            if loops and ELLIPSIS in group[1:]
            else one
            for one, group in zip(made if len(outputs) > 1 else (made,), outputs, strict=True)
        )
        return results if packed else results[0]

    def _free_dimensions(self) -> tuple[Hashable, ...]:
        """The dimensions of ``...``, in the order of the first operand that has it."""
        found = [
            (shown, one.remaining(sizes))
            for one in self.operands
            if ELLIPSIS in one.group
            for _, shown, sizes in one.variables()
        ]
        for shown, left in found:
            if set(left) != set(found[0][1]):
                raise refused(
                    f"{self.name}: '...' stands for other dimensions in {found[0][0]} than in "
                    f"{shown}, and a result lacks it: call it for each variable, as "
                    "x.map(lambda one: gpubcast.xarray.apply(f, one)) does",
                    "V1",
                )
        return found[0][1] if found else ()


def _is_lazy(x: Any) -> bool:
    """Whether the elements of what has named dimensions are in Dask's blocks."""
    return bool(x.chunksizes)


# --- the two kinds of functions ------------------------------------------------------------------


class _Argument:
    """Stands for an argument while its place is looked for."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _of_fused(
    fused: Fused[..., Any], operands: tuple[Any, ...], keywords: Mapping[str, Any]
) -> _Call:
    own = fused._arguments
    given = own.ordered(
        tuple(map(_Argument, operands)), {name: _Argument(x) for name, x in keywords.items()}
    )
    values = [x.value if isinstance(x, _Argument) else x for x in given]
    at = [i for i in range(len(values)) if i not in own.static]
    named = [i for i in at if isinstance(values[i], _NAMED)]
    for i in own.static:
        if isinstance(values[i], _NAMED):
            raise arguments_refusal(f"{own.name}: the static argument {own.called(i)} is an array")
    if not named:
        args, rest = own.apart(values)
        return _Call(own.name, LabelPattern((), ()), (), lambda _: fused(*args, **rest))
    if fused._pattern is not None:
        fused._arguments.array_numbers(values, fused._pattern)
    pattern = dimensions.pattern_of(fused, [at.index(i) for i in named])

    def run(arrays: Sequence[Any]) -> Any:
        filled = list(values)
        for i, x in zip(named, arrays, strict=True):
            filled[i] = x
        args, rest = own.apart(filled)
        return fused(*args, **rest)

    found = tuple(
        NamedOperand(own.called(i), pattern.operands[at.index(i)], values[i]) for i in named
    )
    return _Call(own.name, pattern, found, run)


def _of_operation(
    operation: Callable[..., Any], operands: tuple[Any, ...], keywords: Mapping[str, Any]
) -> _Call:
    """An elementwise operation, whose labels are the dimensions of its operands."""
    name = operation.__name__
    row = OPS.get(name)
    count = 0 if row is None else len(row.rule.operands)
    if row is None or name not in _OPERATIONS or not count > 0:
        raise arguments_refusal(
            f"gpubcast.xarray.apply takes elementwise operations, and gb.{name} is none: write it "
            "in a function with labels, as gb.fuse('row col -> row')"
        )
    options = [one.name for one in row.attributes if one.positional]
    if not count <= len(operands) <= count + len(options):
        raise arguments_refusal(
            f"{name} has the operands {', '.join(row.rule.operands)}, which are given by position"
        )
    arrays = operands[:count]
    attributes = dict(zip(options, operands[count:], strict=False))
    named = [i for i, x in enumerate(arrays) if isinstance(x, _NAMED)]
    if not named:
        return _Call(name, LabelPattern((), ()), (), lambda _: operation(*operands, **keywords))
    datasets = any(isinstance(x, xarray.Dataset) for x in arrays)
    groups: list[Group] = []
    for i, x in enumerate(arrays):
        if i not in named and not (is_scalar(x) or np.ndim(x) == 0):
            raise refused(
                f"{name}: the dimensions of {row.rule.operands[i]}, {brief(x)}, have no names: "
                "pass xarray.DataArray(x, dims=...), or a function with labels",
                "V2",
            )
        groups.append(() if i not in named else (ELLIPSIS,) if datasets else tuple(x.dims))
    every = tuple(dict.fromkeys(dim for group in groups for dim in group))
    for dim in () if datasets else every:
        if not (type(dim) is str and dim.isascii() and dim.isidentifier()):
            raise refused(
                f"{name}: the dimension {brief(dim)} is no label, which is a Python identifier of "
                f"ASCII letters: rename it with x.rename({{{brief(dim)}: 'name'}})",
                "V2",
            )
    pattern = LabelPattern(tuple(groups), (every,))

    def run(given: Sequence[Any]) -> Any:
        filled = list(arrays)
        for i, x in zip(named, given, strict=True):
            filled[i] = x
        return apply_with_labels(str(pattern), operation, *filled, **attributes, **keywords)

    found = tuple(NamedOperand(row.rule.operands[i], pattern.operands[i], arrays[i]) for i in named)
    return _Call(name, pattern, found, run)


def _check_type(x: Any) -> None:
    """Refuse what is xarray's and no array (A3)."""
    if isinstance(x, _NAMED) or (type(x).__module__ or "").partition(".")[0] != "xarray":
        return
    how = (
        "x.map_over_datasets(lambda one: gpubcast.xarray.apply(f, one))"
        if isinstance(x, xarray.DataTree)
        else "x.map(lambda part: gpubcast.xarray.apply(f, part))"
    )
    raise ElementTypeError(
        f"{type(x).__name__} of xarray is no operand: map the function over its parts: {how}",
        rule="A3",
        kind="gpubcast:foreign kind",
    )


# --- dimensions ----------------------------------------------------------------------------------


def _filled(group: Group, free: Sequence[Hashable]) -> list[Hashable]:
    return [dim for label in group for dim in (free if label == ELLIPSIS else (label,))]


def _moved(x: Any, group: Group, loops: bool, *, arrives: bool) -> Any:
    """An array with the dimensions of ``...`` where its group has it, which is in front as it
    arrives from xarray and as it goes back there. A view."""
    if not loops or ELLIPSIS not in group or group[0] == ELLIPSIS:
        return x
    rank = x.ndim
    count = rank - len(group) + 1
    before = group.index(ELLIPSIS)
    # As it arrives: the axes of '...', those before it, those after it.
    order = (*range(count, count + before), *range(count), *range(count + before, rank))
    if not arrives:
        order = (*range(before, before + count), *range(before), *range(before + count, rank))
    return x.transpose(order)
