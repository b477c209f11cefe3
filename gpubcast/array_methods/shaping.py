"""Other shapes, element types and copies of an array."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any, Self

import numpy as np

from gpubcast.array_methods.part import Part, refused_keywords
from gpubcast.errors import LayoutError, ShapeError, allocates, brief, shortened
from gpubcast.planning.plan import Operand
from gpubcast.runtime import eager_call, execute, state
from gpubcast.runtime.operands import memory_view, view_of
from gpubcast.runtime.strides import byte_strides
from gpubcast.shapes.element_types import ElementTypeLike, element_type
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape


class Shaping(Part):
    """What a NumPy array says and makes of itself."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """Bytes of the logical elements; ``xla_shape.byte_size`` counts padding too."""
        shape = self._operand.shape
        return shape.num_elements * shape.element_type.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbours along each dimension, as NumPy counts them."""
        return byte_strides(self._operand)

    @property
    def T(self) -> Self:
        """The array with its dimensions reversed, over the same memory."""
        return self.transpose(tuple(reversed(range(self._operand.shape.rank))))

    @property
    def mT(self) -> Self:
        """The array with its last two dimensions exchanged, over the same memory.

        Raises:
            ShapeError: it has fewer.
        """
        rank = self._operand.shape.rank
        if rank < 2:
            raise ShapeError(
                f"a.mT of {self._operand.shape.text(layout=False)}: there are no two dimensions",
                rule="S7",
                kind="gpubcast:matrix rank",
                operands=(self._operand.shape,),
            )
        return self.transpose((*range(rank - 2), rank - 1, rank - 2))

    def transpose(self, permutation: Sequence[int]) -> Self:
        """The array whose dimension i is this one's dimension ``permutation[i]``; same memory."""
        shape = self._operand.shape.transpose(permutation)
        if self._buffer is None:
            order = [operator.index(d) for d in permutation]
            view = memory_view(self.view().transpose(order), self._device)
            assert view is not None  # its elements are where they were
            return type(self)(view.operand, None, view.array, self._device)
        return type(self)(Operand.of(shape), self._buffer, None, self._device)

    @allocates
    def with_layout(self, layout: Layout | None) -> Self:
        """A copy with another layout (None: row-major); padding is filled as it promises."""
        shape = self._operand.shape.with_layout(layout)
        launch, buffers = execute.run(execute.COPY, (view_of(self),), None, (shape.layout,))
        return type(self)(launch.outputs[0], buffers[0], None, launch.device)

    def astype(self, dtype: ElementTypeLike, *, copy: bool = True, **others: Any) -> Self:
        """The elements as another type (``gb.convert_element_type``), in the same layout.

        Args:
            dtype: an XLA name, an ElementType or a NumPy dtype.
            copy: whether an array that has the type already is copied, too; else it is returned.
            others: refused.
        """
        if others:
            raise refused_keywords("astype", "copy", others)
        if not copy and element_type(dtype) is self._operand.shape.element_type:
            return self
        found: Self = eager_call.APPLY.call(
            "convert_element_type", (self,), None, None, element_type(dtype)
        )
        return found

    @allocates
    def reshape(self, *dimensions: Any, copy: bool | None = None, **others: Any) -> Self:
        """The elements, in row-major order of their indices, with other dimensions.

        Args:
            dimensions: sizes, or one sequence of them; one of them may be -1, which is what is
                left.
            copy: None shares the memory where its strides allow that, and else copies; True
                copies always, False never.
            others: refused.

        Returns:
            An array that shares memory, or a row-major copy.

        Raises:
            ShapeError: A10, another number of elements.
            LayoutError: A10, ``copy=False`` and only a copy has these dimensions.
        """
        if others:
            raise refused_keywords("reshape", "copy", others)
        shape = self._operand.shape
        sizes = _sizes(shape, dimensions)
        layout = shape.layout
        if self._buffer is not None and layout == Layout.default(shape.rank):
            source = self.with_layout(layout) if copy else self
            new = Shape(shape.element_type, sizes)
            return type(self)(Operand.of(new), source._buffer, None, self._device)
        if not copy and _shares(shape, self.strides, sizes):
            view = memory_view(self.view().reshape(sizes), self._device)
            assert view is not None
            return type(self)(view.operand, None, view.array, self._device)
        if copy is False:
            raise LayoutError(
                f"a.reshape({sizes}): the elements of {shape} do not lie so that other strides "
                "reach them in this order; leave copy out, or pass copy=True",
                rule="A10",
                kind="gpubcast:reshape copies",
                operands=(shape,),
            )
        return self.with_layout(None).reshape(sizes)

    @allocates
    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars; of rank 0 a scalar."""
        return _numpy(self).tolist()

    @allocates
    def item(self, *index: Any) -> Any:
        """The only element, or the one at an index, as a Python scalar."""
        whole: Any = self
        one = whole[index if len(index) > 1 else index[0]] if index else whole
        return one._one("item").item()


def _numpy(array: Any) -> np.ndarray[Any, Any]:
    return state.backend(array._device[0]).to_host(array.view())


def _sizes(shape: Shape, dimensions: tuple[Any, ...]) -> tuple[int, ...]:
    given: Any = dimensions
    if len(dimensions) == 1 and isinstance(dimensions[0], (tuple, list, np.ndarray)):
        given = dimensions[0]
    try:
        sizes = [operator.index(size) for size in given]
    except Exception:
        raise _reshape_refusal(shape, f"{brief(given)} are no sizes") from None
    if sizes.count(-1) > 1:
        raise _reshape_refusal(shape, f"{tuple(sizes)} leaves more than one size open")
    if -1 in sizes:
        known = -prod(sizes)
        if not known or shape.num_elements % known:
            raise _reshape_refusal(shape, f"nothing fits in place of -1 in {tuple(sizes)}")
        sizes[sizes.index(-1)] = shape.num_elements // known
    if min(sizes, default=0) < 0 or prod(sizes) != shape.num_elements:
        text = shortened(str(tuple(sizes)))
        raise _reshape_refusal(shape, f"{text} are sizes of another number of elements")
    return tuple(sizes)


def _reshape_refusal(shape: Shape, what: str) -> ShapeError:
    return ShapeError(
        f"a.reshape of {shape.text(layout=False)} with {shape.num_elements} elements: {what}",
        rule="A10",
        kind="gpubcast:reshape",
        operands=(shape,),
    )


def _shares(shape: Shape, strides: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Whether strides over the same memory reach the elements in the order of other dimensions.

    NumPy knows, and reads no element to say it; CuPy copies without saying it.
    """
    nothing = np.lib.stride_tricks.as_strided(
        np.empty(0, shape.element_type.dtype), shape.dimensions, strides
    )
    try:
        nothing.reshape(sizes, copy=False)
    except ValueError:
        return False
    return True
