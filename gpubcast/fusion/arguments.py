"""The arguments of a fused function: their order, and which of them are static."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.arrays import Array
from gpubcast.errors import ElementTypeError, Error, ShapeError, brief, located, plain_text
from gpubcast.hlo.labels import LabelPattern, counted
from gpubcast.runtime.array_libraries import is_lazy
from gpubcast.runtime.operands import is_operand, is_scalar, scalar_view, view_of
from gpubcast.runtime.view import View
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.shape import Shape, as_shape
from gpubcast.shapes.shape_like import is_shape_like, shape_of

# What a traced function depends on, one entry per argument: an element type and a rank, SCALAR and
# a Python scalar's type, or a static value with its key.
TraceKey = tuple[Hashable, ...]
SCALAR = "scalar"
_STATIC = "static"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def arguments_refusal(what: str) -> Error:
    """The refusal of a function or of its arguments (F5)."""
    return ElementTypeError(what, rule="F5", kind="gpubcast:arguments")


class Arguments:
    """The parameters of a function.

    Attributes:
        function: the function.
        name: the function's name.
        home: the function as messages name it, with its line.
        static: positions of the parameters that ``static=`` names.
    """

    def __init__(self, function: Callable[..., Any], static: Iterable[str]) -> None:
        self.name = getattr(function, "__name__", "function")
        self.home = _home(function, self.name)
        self.function = function
        signature = _signature(function, self.home)
        # Arguments are numbered with those of *args last, so that every other has one number.
        self._signature = signature
        self._parameters = tuple(
            sorted(signature.parameters.values(), key=lambda p: p.kind is p.VAR_POSITIONAL)
        )
        self._names = tuple(p.name for p in self._parameters)
        self._fixed = all(p.kind in _POSITIONAL for p in self._parameters)
        named = _static_names(self.home, self._names, static)
        self.static = frozenset(i for i, name in enumerate(self._names) if name in named)

    def check_groups(self, pattern: LabelPattern) -> None:
        """Compare labels with the parameters, where their number is fixed.

        Raises:
            ShapeError: X4, not one group per array parameter.
        """
        if any(p.kind is p.VAR_POSITIONAL for p in self._parameters):
            return
        arrays = [name for i, name in enumerate(self._names) if i not in self.static]
        if len(pattern.operands) != len(arrays):
            raise ShapeError(
                f"{self.home}: '{pattern}' has {counted(len(pattern.operands), 'group')} of "
                f"operands, one per array parameter, and the array parameters are "
                f"{', '.join(arrays) or 'none'}; a scalar has an empty group, and static= names "
                "what is no array",
                rule="X4",
                kind="gpubcast:number of labels",
            )

    def array_numbers(self, values: Sequence[Any], pattern: LabelPattern | None) -> list[int]:
        """The parameters that labels are for.

        Raises:
            ShapeError: X4, not one group of labels for each.
        """
        assert pattern is not None
        found = [i for i in range(len(values)) if i not in self.static]
        if len(found) != len(pattern.operands):
            raise ShapeError(
                f"{self.name}: '{pattern}' has {counted(len(pattern.operands), 'group')} of "
                f"operands, and got {counted(len(found), 'operand')}",
                rule="X4",
                kind="gpubcast:number of labels",
            )
        return found

    @property
    def signature(self) -> str:
        """The parameters as text."""
        return ", ".join(self._names)

    def array_names(self, count: int) -> list[str]:
        """What the first operands are called."""
        arrays = [i for i in range(count + len(self.static)) if i not in self.static]
        return [self.called(i) for i in arrays[:count]]

    def group_of(self, name: str) -> int | None:
        """The number of an array parameter among those that have labels; None for none."""
        arrays = [
            parameter.name
            for i, parameter in enumerate(self._parameters)
            if i not in self.static and parameter.kind is not parameter.VAR_POSITIONAL
        ]
        return arrays.index(name) if name in arrays else None

    def ordered(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call in the order of the parameters, defaults filled in.

        Raises:
            ElementTypeError: F5, the function does not take them.
        """
        if self._fixed and not keywords and len(args) == len(self._names):
            return args
        try:
            bound = self._signature.bind(*args, **keywords)
        except TypeError as error:
            raise arguments_refusal(f"{self.name}: {error}") from None
        bound.apply_defaults()
        values: list[Any] = []
        for parameter in self._parameters:
            value = bound.arguments[parameter.name]
            values += value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        return tuple(values)

    def apart(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments in the order of the parameters, as a call has them: by position and by name."""
        args, keywords = [], {}
        for parameter, value in zip(self._parameters, values, strict=False):
            if parameter.kind is parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                args.append(value)
        if self._parameters and self._parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            args += values[len(self._parameters) - 1 :]
        return args, keywords

    def call(self, values: list[Any]) -> Any:
        """The function itself, on arguments in the order of the parameters."""
        args, keywords = self.apart(values)
        return self.function(*args, **keywords)

    def called(self, index: int) -> str:
        """What an argument is called."""
        last = len(self._names) - 1
        if index >= last and self._parameters[last].kind is inspect.Parameter.VAR_POSITIONAL:
            return f"{self._names[last]}[{index - last}]"
        return self._names[index]

    def named(self, index: int) -> str:
        """An argument as messages name it."""
        return f"the argument {self.called(index)} of {self.home}"

    @property
    def static_names(self) -> tuple[str, ...]:
        """The names in ``static=``, in the order of the parameters."""
        return tuple(name for i, name in enumerate(self._names) if i in self.static)

    def views(self, values: tuple[Any, ...]) -> tuple[list[View | None], TraceKey]:
        """The arrays as the runtime sees them, and what tracing depends on."""
        views: list[View | None] = []
        signature: list[Hashable] = []
        for i, x in enumerate(values):
            if x is None or i in self.static:
                views.append(None)
                signature.append(self.static_key(i, x))
            elif is_scalar(x):
                views.append(None)
                signature.append((SCALAR, type(x)))
            elif isinstance(x, str):
                raise arguments_refusal(
                    f"{self.name}: the argument {self.called(i)} is the text {brief(x)}, no array; "
                    "name the parameter in static="
                )
            else:
                view = self._view(i, x)
                shape = view.operand.shape
                views.append(view)
                signature.append((shape.element_type, len(shape.dimensions)))
        return views, tuple(signature)

    def _view(self, index: int, x: Any) -> View:
        try:
            return view_of(x)
        except Error as error:
            raise located(error, self.named(index)) from None

    def scalar(self, index: int, x: Any, element_type: ElementType) -> View:
        """A scalar argument as the runtime sees it.

        Raises:
            ElementTypeError: it does not fit the type.
        """
        try:
            return scalar_view(x, element_type)
        except Error as error:
            raise located(error, self.named(index)) from None

    def shape(self, index: int, x: Any) -> Shape:
        """The shape that an argument is or has.

        Raises:
            Error: it has none.
        """
        if isinstance(x, Array):
            return x.xla_shape
        if is_shape_like(x) and (is_lazy(x) or not is_operand(x)):
            return shape_of(x)
        if not isinstance(x, (str, Shape)):
            return self._view(index, x).operand.shape
        try:
            return as_shape(x)
        except Error as error:
            raise located(error, self.named(index)) from None

    def is_static(self, index: int, x: Any) -> bool:
        """Whether an argument is part of the code: None, or named in ``static=``."""
        return x is None or index in self.static

    def static_key(self, index: int, x: Any) -> Hashable:
        """A static argument, with a key that tells it from every other.

        Raises:
            ElementTypeError: F5, it cannot be hashed.
        """
        try:
            hash(x)
        except Exception:  # whatever a foreign object raises
            raise arguments_refusal(
                f"{self.name}: the static argument {self.called(index)} is {brief(x)}, which "
                "cannot be hashed; pass a tuple, a string or a number"
            ) from None
        return (_STATIC, typed_key(x), _StaticValue(x))


class _StaticValue:
    """A static value beside its key, which alone says whether two are the same (NaN is not)."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _StaticValue)

    def __hash__(self) -> int:
        return 0


def _home(function: Callable[..., Any], name: str) -> str:
    """The function as messages name it."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename.startswith(config.PACKAGE_ROOT):
        return name
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _signature(function: Callable[..., Any], home: str) -> inspect.Signature:
    if not inspect.isfunction(function):
        raise arguments_refusal(f"fuse takes a plain function, not {brief(function)}")
    unfused = ("generatorfunction", "coroutinefunction", "asyncgenfunction")
    if any(getattr(inspect, f"is{name}")(function) for name in unfused):
        raise arguments_refusal(f"{home}: a fused function is no generator and no coroutine")
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise arguments_refusal(f"{home}: a fused function has no **{parameter.name}")
        if parameter.name in ("out", "out_layout"):
            raise arguments_refusal(
                f"{home}: the parameter {parameter.name} is the fused call's own"
            )
    return signature


def _static_names(home: str, names: tuple[str, ...], static: Iterable[str]) -> frozenset[str]:
    text = plain_text(static)
    try:
        # An iterable need not have an end.
        given = [static] if text is not None else list(islice(static, len(names) + 1))
    except Exception:  # whatever a foreign object raises
        raise arguments_refusal(
            f"{home}: static is a sequence of names, not {brief(static)}"
        ) from None
    found = [plain_text(name) for name in given]
    for name, one in zip(found, given, strict=True):
        if name not in names:
            raise arguments_refusal(
                f"{home}: static names {brief(one)}, and the parameters are {', '.join(names)}"
            )
    if len(given) > len(names):
        raise arguments_refusal(f"{home}: static has more names than there are parameters")
    return frozenset(name for name in found if name is not None)


def typed_key(x: Any) -> Hashable:
    """A key for a static value that keeps 1, 1.0 and True, and 0.0 and -0.0, apart."""
    if isinstance(x, tuple):
        return type(x), tuple(map(typed_key, x))
    if isinstance(x, frozenset):
        return type(x), frozenset(map(typed_key, x))
    if isinstance(x, np.generic):
        return type(x), x.tobytes()
    return type(x), repr(x) if isinstance(x, (float, complex)) else x
