"""Objects that notebooks show as a picture."""

from __future__ import annotations

from typing import Any

from gpubcast import locks


class Shown:
    """An object that notebooks show by its ``_shown``: what ``notebook.bundle`` makes of it."""

    __slots__ = ()

    def _shown(self) -> dict[str, str]:
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self._shown()


def shown_memory(
    text: str,
    head: str,
    name: str,
    dimensions: tuple[int, ...],
    extents: tuple[int, ...],
    strides: tuple[int, ...],
    body: str = "",
) -> dict[str, str]:
    """What notebooks show of something that lies in memory.

    Args:
        text: its ``repr``.
        head: what it is, in a line.
        name, dimensions, extents, strides: see ``memory.Memory``.
        body: more lines.
    """
    # Pictures are for looking at; a program that never does should not load them.
    with locks.compiling():
        from gpubcast.pictures.memory import Memory, picture
        from gpubcast.pictures.notebook import bundle

    drawn = picture(Memory(name, dimensions, extents, strides))
    return bundle(text, head, body, drawn)
