"""The scalar code of a CUDA kernel with reductions: a functor with one part per pass.

A pass walks the elements of a sequence and combines what its reductions take (``terms``,
``combine``), then computes what is the same for a whole row (``row``); the walk after the last pass
computes results that have an element's index (``results``); see ``cuda_kernels/sequences.cuh``.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpubcast.codegen.cuda.functor import constant, cuda_type, expression
from gpubcast.hlo import ops
from gpubcast.hlo.literals import identity_bits
from gpubcast.hlo.op import Identity
from gpubcast.planning.plan import CONSTANT, BroadcastPlan
from gpubcast.schedules.cuda.column_reduction import adjacent, standing
from gpubcast.schedules.cuda.passes import Passes


def sequence_functor(plan: BroadcastPlan, cached: tuple[int, ...]) -> list[str]:
    """The members of the functor, line by line.

    Args:
        cached: values of an element that a pass leaves for later ones.
    """
    return _Functor(plan, cached).lines()


class _Functor:
    """Names: ``v<value>`` in the structs ``Row``, ``Cached``, ``Inner`` and ``Terms<pass>``."""

    def __init__(self, plan: BroadcastPlan, cached: tuple[int, ...]) -> None:
        self.plan = plan
        self.program = plan.program
        self.passes = Passes(plan)
        self.cached = cached
        self.reads = len(plan.reads)
        self.needed = self.program.needed(self.program.results)

    def lines(self) -> list[str]:
        """All members."""
        last = self.passes.count + 1
        loads = [self._mask(self._element_reads(number)) for number in range(1, last + 1)]
        fresh = [
            own & ~self._mask(r for n in range(1, number) for r in self._element_reads(n))
            for number, own in enumerate(loads, 1)
        ]
        nests = [bool(self._inner_of(number)) for number in range(1, last + 1)]
        lines = [
            f"static constexpr int PASSES = {self.passes.count};",
            f"static constexpr u64 LOADS[] = {{{', '.join(map(_word, loads))}}};",
            f"static constexpr u64 FRESH[] = {{{', '.join(map(_word, fresh))}}};",
            f"static constexpr u64 HELD = {_word(self._mask(self.passes.held(self.cached)))};",
            f"static constexpr u64 NESTS = {self._mask(i for i, own in enumerate(nests) if own)};",
            f"static constexpr u64 INNER_LOADS = {_word(self._mask(self.passes.inner_reads))};",
            f"static constexpr u64 STANDS = {_word(self._mask(standing(self.plan)))};",
            f"static constexpr u64 ADJACENT = {_word(self._mask(adjacent(self.plan)))};",
            f"static constexpr u64 FULL = {self._mask(self.passes.full)};",
            self._struct("Row", self._row_values()),
            self._struct("Cached", self.cached),
            self._struct("Inner", self.passes.inner),
        ]
        lines += self._row_part(0)
        if self.passes.inner:
            lines += self._combination(
                "InnerTerms", self.passes.inner, "inner_none()", exchanged=False
            )
            lines += self._inner_terms() + self._inner_results()
        for number in range(1, last):
            chosen = self.passes.reductions(number)
            lines += self._combination(f"Terms{number}", chosen, f"none(Pass<{number}>)")
            lines += self._terms(number, chosen)
            lines += self._row_part(number)
        return lines + self._results(last)

    # --- which values ----------------------------------------------------------------------------

    def _mask(self, numbers: Iterable[int]) -> int:
        mask = 0
        for number in numbers:
            mask |= 1 << number
        return mask

    def _is_constant(self, value: int) -> bool:
        return value >= self.reads and self.program.code[value - self.reads].op == CONSTANT

    def _row_values(self) -> list[int]:
        """The values that are the same for all elements of a row."""
        return [
            v for v in self.needed if self.passes.depth[v] == 0 and not self._is_constant(v)
        ]  # fmt: skip

    def _values(self, number: int, depth: int = 1) -> list[int]:
        """The values that a pass computes for an element, in their order."""
        return self.passes.values(number, self.cached, depth)

    def _inner_of(self, number: int) -> list[int]:
        """The inner reductions that a pass needs."""
        return [v for v in self._values(number) if v in self.passes.inner]

    def _element_reads(self, number: int) -> list[int]:
        """The reads along the sequence that a pass needs."""
        found = set(self._values(number))
        if self._inner_of(number):
            found |= set(self._before_inner())
        return [r for r in range(self.reads) if r in found]

    def _before_inner(self) -> list[int]:
        """The values of an element that its inner sequence needs."""
        operands = tuple(self.passes.operand(v) for v in self.passes.inner)
        needed = self.program.needed(operands, stop=self.passes.every)
        return [v for v in needed if self.passes.depth[v] == 1 and v not in self.passes.inner]

    # --- text ------------------------------------------------------------------------------------

    def _type(self, value: int) -> str:
        return self.program.type_of(value).compute

    def _struct(self, name: str, values: Iterable[int]) -> str:
        members = "".join(f" {self._type(v)} v{v};" for v in values)
        return f"struct {name} {{{members}{' ' if members else ''}}};"

    def _text(self, value: int, local: Iterable[int]) -> str:
        """How a value is called where those of ``local`` are variables."""
        if self._is_constant(value):
            own = self.program.code[value - self.reads]
            assert own.bits is not None
            return constant(own.element_type, own.bits)
        if value in local:
            return f"v{value}"
        if self.passes.depth[value] == 0:
            return f"row.v{value}"
        return f"{'inner' if value in self.passes.inner else 'cached'}.v{value}"

    def _computed(self, values: list[int]) -> list[str]:
        """The statements that compute values from reads and from what is known."""
        lines = []
        for v in values:
            if v < self.reads:
                text = f"get<{v}>(in).value(e)"
            elif v in self.passes.inner:
                text = f"inner.v{v}"
            else:
                own = self.program.code[v - self.reads]
                names = [self._text(a, values) for a in own.args]
                text = expression(self.program, own, v, names)
            lines.append(f"  const {self._type(v)} v{v} = {text};")
        return lines

    # --- reductions ------------------------------------------------------------------------------

    def _combination(
        self, name: str, chosen: list[int], none: str, *, exchanged: bool = True
    ) -> list[str]:
        """What some reductions make of elements: nothing, and two of them combined.

        Args:
            exchanged: whether threads give it to each other, through shuffles and through memory.
        """
        careful = any(self.passes.lacks_identity(v) for v in chosen)
        names = [f"v{v}" for v in chosen] + ["there"] * careful
        types = [self._type(v) for v in chosen] + ["bool"] * careful
        members = "".join(f" {own} {one};" for own, one in zip(types, names, strict=True))
        identities = [self._identity(v) for v in chosen] + ["false"] * careful
        both = [self._combined(v, f"a.v{v}", f"b.v{v}") for v in chosen] + ["true"] * careful
        absent = ["  if (!b.there) return a;", "  if (!a.there) return b;"] if careful else []
        return [
            f"struct {name} {{{members}",
            *(self._table(name, names, types) if exchanged else []),
            "};",
            f"static GB_FN {name} {none} {{ return {{{', '.join(identities)}}}; }}",
            f"static GB_FN {name} combine(const {name}& a, const {name}& b) {{",
            *absent,
            f"  return {{{', '.join(both)}}};",
            "}",
            *(self._exchange(name, names) if exchanged else []),
        ]

    def _identity(self, value: int) -> str:
        own = self.program.type_of(value)
        identity = ops.OPS[self.program.code[value - self.reads].op].identity
        assert identity is not None
        return constant(own, identity_bits(identity, own))

    def _combined(self, value: int, first: str, second: str) -> str:
        own = self.program.type_of(value)
        row = ops.OPS[self.program.code[value - self.reads].op]
        text = row.cuda_for(own).format(
            first, second, bits=own.bits, type=cuda_type(own)
        )  # fmt: skip
        return f"static_cast<{self._type(value)}>({text})"

    def _table(self, terms: str, names: list[str], types: list[str]) -> list[str]:
        """N of them in shared memory, member by member, so that neighbours lie in other banks."""
        values = ", ".join(f"{one}[i]" for one in names)
        return [
            "  template <int N> struct Table {",
            *(f"    {own} {one}[N];" for own, one in zip(types, names, strict=True)),
            f"    GB_FN void put(u32 i, const {terms}& x) {{",
            *(f"      {one}[i] = x.{one};" for one in names),
            "    }",
            f"    GB_FN {terms} at(u32 i) const {{ return {{{values}}}; }}",
            "  };",
        ]

    def _exchange(self, terms: str, names: list[str]) -> list[str]:
        """Those of another thread, and one of two."""
        moved = ", ".join(f"shuffle_xor(x.{one}, mask)" for one in names)
        picked = ", ".join(f"first ? a.{one} : b.{one}" for one in names)
        return [
            f"static GB_FN {terms} moved(const {terms}& x, u32 mask) {{ return {{{moved}}}; }}",
            f"static GB_FN {terms} chosen(bool first, const {terms}& a, const {terms}& b) {{",
            f"  return {{{picked}}};",
            "}",
        ]

    def _terms(self, number: int, chosen: list[int]) -> list[str]:
        """What the reductions of a pass take of an element."""
        careful = any(self.passes.lacks_identity(v) for v in chosen)
        values = self._values(number)
        taken = [self._text(self.passes.operand(v), values) for v in chosen] + ["true"] * careful
        stored = [v for v in self.cached if v in values]
        return [
            "template <class In>",
            f"static GB_FN Terms{number} terms(Pass<{number}>, const In& in, const Row& row, "
            "Cached& cached,",
            "                          const Inner& inner, int e) {",
            *self._computed(values),
            *(f"  cached.v{v} = v{v};" for v in stored),
            f"  return {{{', '.join(taken)}}};",
            "}",
        ]

    def _inner_terms(self) -> list[str]:
        """What the inner reductions take of an element of the inner sequence."""
        operands = tuple(self.passes.operand(v) for v in self.passes.inner)
        needed = self.program.needed(operands, stop=self.passes.every)
        values = [v for v in needed if self.passes.depth[v] and not self._is_constant(v)]
        careful = any(self.passes.lacks_identity(v) for v in self.passes.inner)
        taken = [self._text(v, values) for v in operands] + ["true"] * careful
        return [
            "template <class In>",
            "static GB_FN InnerTerms inner_terms(const In& in, const Row& row, int e) {",
            *self._computed(values),
            f"  return {{{', '.join(taken)}}};",
            "}",
        ]

    def _inner_results(self) -> list[str]:
        results = [self._result(v) for v in self.passes.inner]
        return [
            "static GB_FN Inner inner_results(const InnerTerms& t) {",
            f"  return {{{', '.join(results)}}};",
            "}",
        ]

    def _result(self, value: int) -> str:
        """A reduction's value, of what its elements came to."""
        own, text = self.program.type_of(value), f"t.v{value}"
        identity = ops.OPS[self.program.code[value - self.reads].op].identity
        if identity is Identity.ZERO and not own.is_integral:
            text = self._combined(value, self._identity(value), text)
        if own.rounds and not own.is_floating:
            text = f"round_to<{cuda_type(own)}>({text})"
        return text

    # --- rows and results ------------------------------------------------------------------------

    def _row_part(self, number: int) -> list[str]:
        """What is the same for a row and can be computed after so many passes."""
        values = [v for v in self._row_values() if self.passes.after[v] == number]
        lines = []
        for v in values:
            if v in self.passes.every:
                text = self._result(v)
            elif v < self.reads:
                text = f"get<{v}>(in).value(0)"
            else:
                own = self.program.code[v - self.reads]
                names = [self._text(a, ()) for a in own.args]
                text = expression(self.program, own, v, names)
            lines.append(f"  row.v{v} = {text};")
        head = (
            ["template <class In>", "static GB_FN void row(Pass<0>, const In& in, Row& row) {"]
            if number == 0
            else [f"static GB_FN void row(Pass<{number}>, const Terms{number}& t, Row& row) {{"]
        )
        return [*head, *lines, "}"]

    def _results(self, last: int) -> list[str]:
        values = self._values(last)
        outputs = range(len(self.plan.writes))
        full: list[str] = []
        rows: list[str] = []
        for o in outputs:
            name = self._text(self.program.results[o], values)
            (full if o in self.passes.full else rows).append(f"  get<{o}>(out).keep(k, {name});")
        return [
            "template <class In, class Out>",
            "static GB_FN void results(const In& in, const Row& row, const Cached& cached,",
            "                          const Inner& inner, int e, Out& out, int k) {",
            *(self._computed(values) if full else []),
            *full,
            "}",
            "template <class Out>",
            "static GB_FN void row_results(const Row& row, Out& out) {",
            *(line.replace("keep(k,", "keep(0,") for line in rows),
            "}",
        ]


def _word(mask: int) -> str:
    return f"{mask}ull"
