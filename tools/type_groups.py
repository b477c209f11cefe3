"""Element types of an operation in words: whole groups by their name, others one by one."""

from __future__ import annotations

from collections.abc import Iterable

from gpubcast.shapes.element_types import ElementType, categories

GROUPS = {
    "pred": categories("pred"),
    "integers": categories("signed", "unsigned"),
    "signed integers": categories("signed"),
    "unsigned integers": categories("unsigned"),
    "floats": categories("floating"),
    "complex": categories("complex"),
}

MEANING = (
    "Types are named by groups: *integers* are s4, s8, s16, s32, s64 (*signed integers*) and u4, "
    "u8, u16, u32, u64 (*unsigned integers*), *floats* are five f8 types (f8e4m3fn, "
    "f8e4m3fnuz, f8e4m3b11fnuz, f8e5m2, f8e5m2fnuz), f16, bf16, f32 and f64, *complex* is c64 "
    "and c128."
)


def _order(name: str) -> tuple[str, int]:
    return name.rstrip("0123456789"), int("".join(c for c in name if c.isdigit()) or 0)


def in_words(types: Iterable[ElementType]) -> str:
    """The names of the groups that are whole, then the types that are left."""
    left = set(types)
    words = []
    for name, group in GROUPS.items():
        if group <= left:
            words.append(name)
            left -= group
    return ", ".join([*words, *sorted((one.name for one in left), key=_order)])
