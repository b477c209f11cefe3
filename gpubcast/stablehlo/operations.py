"""What gpubcast calls the operations of StableHLO and CHLO."""

from __future__ import annotations

from gpubcast.hlo import rules
from gpubcast.hlo.ops import OPS

_RULES = (rules.UNARY, rules.BINARY, rules.SELECT, rules.CLAMP)
# What StableHLO has no operation for, CHLO's names where they are not the opcode's.
_CHLO = {
    "next_after": "nextafter",
    "erf_inv": "erf_inv",
}
_OTHER = {"reduce_precision", "round_nearest_afz", "round_nearest_even", "compare"}

ELEMENTWISE = {
    **{
        f"{dialect}.{row.opcode.replace('-', '_')}": row.name
        for row in OPS.values()
        if row.public and row.rule in _RULES and row.opcode not in (None, "compare")
        for dialect in ("stablehlo", "chlo")
        if row.opcode is not None
    },
    **{f"chlo.{theirs}": ours for theirs, ours in _CHLO.items()},
    "stablehlo.round_nearest_afz": "round",
    "stablehlo.round_nearest_even": "round",
    "stablehlo.compare": "compare",
}
"""Operations on elements at the same place, with the name of the row."""
