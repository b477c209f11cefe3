"""What compiled code calls that is emitted as LLVM instructions.

numba has a decorator for that, which completes numba's own target first (see ``numba_target``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Types the result of a call from the operands' types, and says how to emit it.
Definition = Callable[..., tuple[Any, Callable[..., Any]] | None]


class Intrinsic:
    """What compiled code calls that is emitted as LLVM instructions.

    Attributes:
        definition: takes the typing context and the operands' types; gives a numba signature and a
            function of (target context, LLVM builder, signature, LLVM values) that emits the
            instructions and returns their result. None where it does not take such operands.
        literal: whether the types of constants are to say their values.
    """

    def __init__(self, definition: Definition, *, literal: bool = False) -> None:
        self.definition, self.literal = definition, literal

    def __call__(self, *operands: Any) -> Any:
        raise NotImplementedError(f"{self.definition.__name__} is for compiled code only")
