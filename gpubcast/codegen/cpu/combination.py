"""How a CPU kernel combines the elements of a reduction by the law of sums (``hlo.sequences``).

A reduction has memory of its own. Where vectors go along the sequence it holds the lanes, then the
results of chunks, then the elements of a chunk that do not lie in a row in memory, then those that
are reductions themselves, then elements of such reductions where they are short. Where vectors go
across sequences, it holds tiles of values that wait to be combined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpubcast.codegen.cpu.parameter_table import INDENT
from gpubcast.codegen.cpu.scalar_code import compute_name, constant, scratch_type
from gpubcast.hlo import ops
from gpubcast.hlo.literals import identity_bits
from gpubcast.hlo.op import Identity
from gpubcast.hlo.sequences import CHUNK, LANES, has_lanes
from gpubcast.planning.plan import Program
from gpubcast.shapes.element_types import ELEMENT_TYPES

_KEYS = {Identity.LOWEST: "key_above", Identity.HIGHEST: "key_below"}
# How many results of chunks are combined one by one: those of 4,096 elements.
_FEW = 8
# Where the parts of the memory begin.
RESULTS, ELEMENTS, INNER, SHORT = (LANES + parts * CHUNK for parts in range(4))


def indented(lines: list[str], levels: int = 1) -> list[str]:
    return [INDENT * levels + line for line in lines]


class Combination:
    """One reduction of a program.

    Attributes:
        value, operand: the numbers of its value and of the value that it reduces.
        sequence: the number of the sequence.
        lacks_identity: whether no value leaves every other as it is.
        has_key: whether elements are combined as integers in the order of floats.
    """

    def __init__(self, program: Program, value: int) -> None:
        instruction = program.code[value - len(program.reads)]
        self.value = value
        (self.operand,) = instruction.args
        self.sequence = instruction.sequence
        self.lacks_identity = instruction.lacks_identity
        self.element_type = instruction.element_type
        self._operation = instruction.op
        self._row = ops.OPS[instruction.op]
        self._key = ""
        self._memory = scratch_type(self.element_type)
        if self.element_type.is_floating and self._row.identity in _KEYS:
            self._key = _KEYS[self._row.identity]
            self._memory = "u64" if self.element_type.compute == "double" else "u32"

        self.has_key = bool(self._key)

    @property
    def identity(self) -> str:
        """The value that changes no other, as it is combined."""
        assert self._row.identity is not None
        bits = identity_bits(self._row.identity, self.element_type)
        return self.entered(constant(self.element_type, bits))

    def entered(self, text: str) -> str:
        """A value as it is combined."""
        return f"{self._key}({text})" if self._key else text

    def allocation(self, memory: str = "scratch", name: str = "t") -> str:
        """The statement that gives it memory."""
        return f"{name}{self.value} = {memory}_{self._memory}()"

    @property
    def lane_bytes(self) -> int:
        """Bytes of a lane."""
        return ELEMENT_TYPES[self._memory].itemsize

    def combined(self, first: str, second: str) -> str:
        """The expression of two values combined."""
        text = self._row.cpu_for(self.element_type).format(
            first, second, bits=self.element_type.bits, type=self.element_type.name
        )
        combined = ELEMENT_TYPES[self._memory] if self._key else self.element_type
        return f"{compute_name(combined)}({text})"

    def load(self, index: str, name: str = "t") -> str:
        return f"load_{self._memory}({name}{self.value}, {index})"

    def store(self, index: str, text: str, name: str = "t") -> str:
        return f"store_{self._memory}({name}{self.value}, {index}, {text})"

    def written(self, index: str, text: str) -> str:
        """The statement that stores a value in a loop that reads operands apart from it."""
        return f"write_own_{self._memory}(t{self.value}, {index}, {text})"

    def load_result(self, index: str) -> str:
        """The value of the reduction of a sequence, from the memory."""
        return f"load_{scratch_type(self.element_type)}(t{self.value}, {index})"

    def store_result(self, index: str, text: str) -> str:
        return f"store_{scratch_type(self.element_type)}(t{self.value}, {index}, {text})"

    def taken(self, index: str, text: str, name: str = "t") -> str:
        """A value combined with one in memory."""
        return self.store(index, self.combined(self.load(index, name), text), name)

    def cleared(self, count: str, first: int = 0) -> list[str]:
        """Lanes that so many elements leave empty as if nothing were in them, where something
        changes no other value; lane 0 is at ``first``."""
        if self.lacks_identity:
            return []
        place = f"{first} + l" if first else "l"
        return [f"for l in range({count}, {LANES}):", INDENT + self.store(place, self.identity)]

    def tree(self, count: str, first: int = 0, name: str = "t") -> list[str]:
        """The lanes of so many elements combined, as ``c<value>``; lane 0 is at ``first``."""
        own, memory = f"c{self.value}", f"{name}{self.value}"
        if has_lanes(self.element_type):
            if first:
                memory += f" + {first * self.lane_bytes}"
            return [f"{own} = lanes_{self._operation}_{self._memory}({memory})"]
        before = f"{first} + " if first else ""
        lanes = f"min({count}, {LANES})"
        return [
            f"half = {LANES // 2}",
            "while half > 0:",
            f"    for l in range(min(half, {lanes} - half)):",
            2 * INDENT + self.taken(f"{before}l", self.load(f"{before}l + half", name), name),
            "    half = half // 2",
            f"{own} = {self.load(str(first), name)}",
        ]

    def from_memory(self, first: int, count: str) -> list[str]:
        """Elements that lie in the memory, two or more, combined as ``c<value>``: many as lanes,
        of which the first are there, and up to ``_FEW`` one by one, since a vector waits until
        elements that have just been stored one by one are in the cache."""
        many = [
            *self.cleared(count, first),
            f"for k in range({LANES}, {count}, {LANES}):",
            f"{INDENT}for l in range(min({LANES}, {count} - k)):",
            2 * INDENT + self.taken(f"{first} + l", self.load(f"{first} + k + l")),
            *self.tree(count, first),
        ]
        return [
            *self._branch(first, count, 0, 1),
            f"c{self.value} = a{self.value}_0",
            f"if {count} > {_FEW}:",
            *indented(many),
        ]

    def _branch(self, first: int, count: str, lane: int, step: int) -> list[str]:
        """Lane ``lane`` of up to ``_FEW`` and all that the tree has combined with it after the step
        in which lanes that are ``step`` apart are combined, as ``a<value>_<lane>``."""
        own, other = f"a{self.value}_{lane}", f"a{self.value}_{lane + step}"
        if step == _FEW:
            return [f"{own} = {self.load(str(first + lane))}"]
        combined = [
            *self._branch(first, count, lane + step, 2 * step),
            f"{own} = {self.combined(own, other)}",
        ]
        if lane + step >= 2:  # two there are
            combined = [f"if {count} > {lane + step}:", *indented(combined)]
        return self._branch(first, count, lane, 2 * step) + combined

    def final(self, text: str) -> str:
        """The expression of the reduction's value, of what its elements came to."""
        if self._key:
            return f"of_{self._key}({text})"
        if self._row.identity is Identity.ZERO and not self.element_type.is_integral:
            text = self.combined(self.identity, text)
        if self.element_type.rounds and not self.element_type.is_floating:
            return f"round_{self.element_type.name}({text})"
        return text


def lanes_at_once(chosen: list[Combination], *, reads: bool = False) -> str:
    """The number of lanes of all reductions of a pass that are combined at a time, by the bytes of
    one, rounded up to a power of two; keys count twice, since elements are made keys in further
    registers. Elements that are ``reads`` alone need no registers beside those of lanes."""
    every = sum(one.lane_bytes * (1 + one.has_key) for one in chosen)
    keys = any(one.has_key for one in chosen)
    prefix = "KEYS" if keys else "READS" if reads and len(chosen) == 1 else "LANES"
    return f"{prefix}_OF_{1 << (every - 1).bit_length()}"


def full_chunk(
    chosen: list[Combination],
    elements: Callable[[str], list[str]],
    at_once: str,
    ahead: list[str],
    between: Sequence[tuple[range, list[str]]] = (),
) -> list[str]:
    """The elements of a whole chunk, which ``elements`` calls ``b<value>`` at a place of it,
    combined as ``c<value>``. ``ahead`` is what is asked for before an element for each lane;
    ``between``, for processors that ask between vectors, are parts of all lanes and what is asked
    for before each. As many lanes as there are registers for take one element after
    another in the order of memory, in a short loop: processors read ahead by what an
    instruction read before (measured on Zen 4; a loop without a branch was half as fast)."""
    if any(one.lacks_identity for one in chosen):
        first = elements("g + l")
        first += [one.store("l", f"b{one.value}", "w") for one in chosen]
        begin = LANES
    else:
        first = [one.store("l", one.identity, "w") for one in chosen]
        begin = 0
    more = elements("step + l") + [one.taken("l", f"b{one.value}", "w") for one in chosen]
    ends = [one.store("g + l", one.load("l", "w"), "u") for one in chosen]
    walk = [*ahead, f"for l in range({at_once}):", *indented([*more, "rolled()"])]
    if between:
        parts = []
        for lanes, asked in between:
            loop = f"for l in range({lanes.start}, {lanes.stop}):"
            parts += [*asked, loop, *indented([*more, "rolled()"])]
        walk = ["if FETCHES_BETWEEN:", *indented(parts), "else:", *indented(walk)]
    return [
        f"for g in range(0, {LANES}, {at_once}):",
        f"    for l in range({at_once}):",
        *indented([*first, "rolled()"], 2),
        f"    for k in range({begin}, opaque({CHUNK}), {LANES}):",
        "        step = opaque(k) + g",
        *indented(walk, 2),
        f"    for l in range({at_once}):",
        *indented([*ends, "rolled()"], 2),
        "    rolled()",
        *(line for one in chosen for line in one.tree(str(CHUNK), name="u")),
    ]


def short_chunk(
    chosen: list[Combination],
    count: str,
    elements: Callable[[str], list[str]],
    at_once: str,
    ahead: Callable[[str], list[str]] = lambda place: [],
) -> list[str]:
    """The same of a chunk of ``count`` elements. ``ahead`` is what is asked for before an element
    for each lane from one on."""
    simple = _short_chunk(chosen, count, elements, ahead)
    if any(one.lacks_identity or not has_lanes(one.element_type) for one in chosen):
        return simple
    masked = _masked_chunk(chosen, count, elements, at_once, ahead)
    return ["if MASKS:", *indented(masked), "else:", *indented(simple)]


def _short_chunk(
    chosen: list[Combination],
    count: str,
    elements: Callable[[str], list[str]],
    ahead: Callable[[str], list[str]],
) -> list[str]:
    """Lanes in memory, which loops as long as there are elements go over."""
    # The first element of each lane, and the identity in those that have none.
    body = elements("l") + [one.store("l", f"b{one.value}") for one in chosen]
    some = [f"for l in range(min({LANES}, {count})):", *indented(body)]
    some += [line for one in chosen for line in one.cleared(count)]
    body = elements("k + l") + [one.taken("l", f"b{one.value}") for one in chosen]
    return [
        *ahead("0"),
        *some,
        f"for k in range({LANES}, {count}, {LANES}):",
        *indented(ahead("k")),
        f"    for l in range(min({LANES}, {count} - k)):",
        *indented(body, 2),
        *(line for one in chosen for line in one.tree(count)),
    ]


def _masked_chunk(
    chosen: list[Combination],
    count: str,
    elements: Callable[[str], list[str]],
    at_once: str,
    ahead: Callable[[str], list[str]],
) -> list[str]:
    """Lanes in registers, as those of a whole chunk, where processors leave out elements of a
    vector: the last element of some lanes is the identity. Loops over the rest of a row's elements
    would go over lanes in memory, and what they store one by one vectors would wait for. The lanes
    are others than those of a whole chunk, and not where the last elements are: where LLVM makes
    shorter vectors of some, it makes them of all in the same memory."""
    first = [one.store("l", one.identity, "q") for one in chosen]
    each = elements("step + l")
    taken = [one.taken("l", f"b{one.value}", "q") for one in chosen]
    none = [f"b{one.value} = {one.identity}" for one in chosen]
    ends = [one.store("g + l", one.load("l", "q"), "y") for one in chosen]
    asked = ahead("k")
    if asked:
        asked = [f"for k in range(0, {count}, {LANES}):", *indented(asked)]
    return [
        *asked,
        f"even = {count} & {-LANES}",
        f"for g in range(0, {LANES}, {at_once}):",
        f"    for l in range({at_once}):",
        *indented([*first, "rolled()"], 2),
        f"    for k in range(0, opaque(even), {LANES}):",
        "        step = opaque(k) + g",
        f"        for l in range({at_once}):",
        *indented([*each, *taken, "rolled()"], 3),
        "    step = opaque(even) + g",
        f"    if step < {count}:",
        f"        for l in range({at_once}):",
        f"            if step + l < {count}:",
        *indented(each, 4),
        "            else:",
        *indented(none, 4),
        *indented([*(one.store("l", f"b{one.value}", "z") for one in chosen), "rolled()"], 3),
        f"        for l in range({at_once}):",
        *indented([*(one.taken("l", one.load("l", "z"), "q") for one in chosen), "rolled()"], 3),
        f"    for l in range({at_once}):",
        *indented([*ends, "rolled()"], 2),
        "    rolled()",
        *(line for one in chosen for line in one.tree(str(CHUNK), name="y")),
    ]
