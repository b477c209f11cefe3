"""The kernels of a call one below the other, with the bytes that each reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpubcast.pictures import svg

_WIDE, _LINE = 230.0, 16.0
_READ, _WRITTEN = "hsl(215 75% 50%/.45)", "hsl(150 60% 40%/.5)"
_BETWEEN = "hsl(25 85% 52%/.6)"


@dataclass(frozen=True, slots=True)
class Moved:
    """An array that a kernel reads or writes.

    Attributes:
        name: what it is called.
        bytes: how many of its bytes.
        written: whether it is written.
        between: whether it is there for another kernel only.
    """

    name: str
    bytes: int
    written: bool
    between: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """One kernel: its name and what it moves."""

    name: str
    moved: tuple[Moved, ...]

    @property
    def bytes(self) -> int:
        """All that it moves."""
        return sum(one.bytes for one in self.moved)


def picture(stages: Sequence[Stage]) -> str:
    """A bar for each array of each kernel, as long as its bytes, as SVG; empty where nothing is
    moved."""
    most = max((one.bytes for stage in stages for one in stage.moved), default=0)
    if not most:
        return ""
    names = [one.name for stage in stages for one in stage.moved]
    left = (max(map(len, names)) + 3 + len("writes ")) * svg.LETTER
    parts, y = [], 12.0
    for number, stage in enumerate(stages):
        parts.append(svg.text(0, y, f"{stage.name}: {stage.bytes:,} bytes"))
        top = y
        for one in stage.moved:
            y += _LINE
            verb = "writes" if one.written else "reads"
            parts.append(svg.text(left - svg.LETTER, y, f"{verb} {one.name}", anchor="end"))
            width = max(_WIDE * one.bytes / most, 1.5)
            colour = _BETWEEN if one.between else _WRITTEN if one.written else _READ
            parts.append(svg.path(svg.boxes([(left, y - 10)], width, 12), fill=colour))
            parts.append(svg.text(left + width + 5, y, f"{one.bytes:,}", faint=True))
        if number + 1 < len(stages):
            parts.append(
                svg.path(svg.arrow(6, top + 6, 6, y + 12), stroke="currentColor",
                         more=' stroke-opacity=".6"')
            )  # fmt: skip
        y += _LINE + 10
    total = f"together {sum(stage.bytes for stage in stages):,} bytes"
    parts.append(svg.text(0, y - 4, total))
    room = left + _WIDE + (len(f"{most:,}") + 2) * svg.LETTER
    heads = [f"{stage.name}: {stage.bytes:,} bytes" for stage in stages]
    room = max(room, (max(map(len, [*heads, total])) + 1) * svg.LETTER)
    return svg.figure(room, y + 2, parts, words(stages))


def words(stages: Sequence[Stage]) -> str:
    """What the picture shows."""
    said = [
        f"{stage.name} "
        + ", ".join(
            f"{'writes' if one.written else 'reads'} {one.bytes:,} bytes of {one.name}"
            for one in stage.moved
        )
        for stage in stages
    ]
    return "; ".join([*said, f"together {sum(stage.bytes for stage in stages):,} bytes"])
