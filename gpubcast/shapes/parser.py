"""The text form of shapes: HLO's grammar, recognised whole.

What gpubcast does not support yet (tiles, dynamic dimensions, tuples ...) is still parsed, so that
the refusal names it. Sources: ``hlo_lexer.cc`` and ``ParseShape`` in XLA's ``hlo_parser.cc``. The
one addition is our layout attribute ``pad(3,5,zero)``, which comes before XLA's attributes.

    shape     = "(" [shape {"," shape}] ")" | type "[" [dim {"," dim}] "]" [layout]
    dim       = int | "<=" int | "?"
    layout    = "{" [int {"," int}] [":" attribute*] "}"
    attribute = pad(...) D(...) T(...)(...) L(n) #(type) *(type) E(n) S(n) SC(d:i,...) P(shape) M(n)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from gpubcast.errors import Error, LayoutError, ShapeError, plain_text
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from gpubcast.shapes.layout import MAX_SIZE, Layout, PaddingValue, check_minor_to_major

# Types that some version of XLA reads and that have no row in the element type table.
_OTHER_TYPES = frozenset(("s1", "u1", "s2", "u2", "f8e3m4", "f8e4m3", "f4e2m1fn", "f8e8m0fnu"))
_NO_ARRAYS = frozenset(("token", "opaque"))
_UNSIGNED = frozenset(("u1", "u2", "u4", "u8", "u16", "u32", "u64"))
_ATTRIBUTES = ("pad", "D", "T", "L", "#", "*", "E", "S", "SC", "P", "M")
_PADDING_WORDS = {value.name.lower(): value for value in PaddingValue}
# Deeper nests than any program has would exhaust the Python stack.
_MAX_NESTING = 64
_WINDOW = 60  # Columns of a long text shown on each side of a caret.

_TOKEN = re.compile(
    r"(?P<skip>[ \t\r\n]+|/\*[^\0]*?\*/|//[^\r\n\0]*)"
    r"|(?P<int>-?[0-9][0-9A-Za-z_.]*)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_.-]*)"
    r"|(?P<mark><=|[][{}(),:?*#+~])"
    r"|(?P<bad>.)",
    re.DOTALL,
)
_INT = re.compile(r"(-?)0*([0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class _Token:
    type: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class ParsedShape:
    """A shape as written, its layout checked against its rank.

    Attributes:
        element_type: the type's row.
        dimensions: the sizes as written; their range is not checked here.
        layout: the layout, row-major where none is written.
        text: the whole text.
        dimensions_at: offset of the first size out of range, else of the first size.
        layout_at: offset of the padding, else of the layout.
    """

    element_type: ElementType
    dimensions: tuple[int, ...]
    layout: Layout
    text: str
    dimensions_at: int
    layout_at: int


def with_caret(error: Error, text: str, offset: int) -> Error:
    """The same error with the line of ``text`` that holds ``offset`` and a caret under it."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : end if end >= 0 else len(text)].rstrip("\r")
    column = offset - start
    left = max(0, column - _WINDOW)
    lead = "..." if left else ""
    tail = "..." if len(line) > column + _WINDOW else ""
    shown = lead + line[left : column + _WINDOW] + tail
    # A tab stays a tab, so that the caret stands under its column.
    before = "".join("\t" if c == "\t" else " " for c in lead + line[left:column])
    message = f"{error}\n  {shown}\n  {before}^"
    return type(error)(message, rule=error.rule, kind=error.kind, operands=error.operands)


def parse_shape_text(text: str) -> ParsedShape:
    """Parse one array shape, e.g. ``"f32[2,3]{0,1:pad(3,5,zero)}"``.

    Raises:
        ShapeError: rule S8 (not the text of a shape), S9 (dynamic dimensions, tuples, ``token[]``
            and ``opaque[]`` are refused by name) or S10 (an element type without a row).
        LayoutError: rules L2 to L7 (an invalid layout), L9 (an attribute refused by name).
    """
    plain = plain_text(text)
    if plain is None:
        raise ShapeError(
            f"the text of a shape must be a str, got {type(text).__name__}",
            rule="S8",
            kind="gpubcast:shape text",
        )
    return _Parser(plain).run()


def _tokens(text: str) -> list[_Token]:
    """The tokens of a text, up to the first that no shape has: behind a comment that does not end
    each further one would be looked through to the end."""
    tokens = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            tokens.append(_Token(match.lastgroup or "bad", match.group(), match.start()))
        if match.lastgroup == "bad":
            break
    return [*tokens, _Token("end", "", len(text))]


class _Parser:
    """Recursive descent. Refusals wait until the whole text has proved to be a shape."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0
        self.refusals: list[tuple[Error, int]] = []

    def run(self) -> ParsedShape:
        parsed = self.shape()
        if self.token.type != "end":
            raise self.expected("the end of the text")
        if parsed is None or self.refusals:
            error, offset = self.refusals[0]
            raise with_caret(error, self.text, offset)
        return parsed

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def error(self, message: str) -> Error:
        error = ShapeError(message, rule="S8", kind="gpubcast:shape text")
        return with_caret(error, self.text, self.token.offset)

    def expected(self, what: str, hint: str = "") -> Error:
        token = self.token
        found = _clip(repr(token.text)) if token.text else "the end of the text"
        if self.text.startswith("/*", token.offset):
            found = "a comment without an end"
        return self.error(f"expected {what}, found {found}{hint}")

    def eat(self, text: str) -> bool:
        if self.token.text != text:
            return False
        self.at += 1
        return True

    def need(self, text: str) -> None:
        if not self.eat(text):
            raise self.expected(repr(text))

    def integer(self) -> int:
        match = _INT.fullmatch(self.token.text)
        if match is None:
            long = self.token.type == "int" and self.token.text.lstrip("-").isdigit()
            raise self.expected("an integer of 64 bits" if long else "an integer")
        self.at += 1
        return int(match[1] + match[2])

    def items(self, item: Callable[[], object], end: str) -> None:
        """``[item {"," item}] end``"""
        if self.eat(end):
            return
        item()
        while self.eat(","):
            item()
        if not self.eat(end):
            raise self.expected(f"',' or {end!r}")

    def refuse(self, what: str, start: int, *, rule: str, since: int | None = None) -> None:
        """Note that the text from token ``start`` on is well-formed and not supported.

        ``since``: how many refusals there were before; later ones lie inside this one.
        """
        last = self.tokens[self.at - 1]
        offset = self.tokens[start].offset
        written = _clip(self.text[offset : last.offset + len(last.text)])
        error_type = LayoutError if rule == "L9" else ShapeError
        error = error_type(
            f"{what} {written} are parsed but not supported yet",
            rule=rule,
            kind=f"gpubcast:unsupported {what}",
        )
        if since is not None:
            del self.refusals[since:]
        self.refusals.append((error, offset))

    def shape(self) -> ParsedShape | None:
        """A shape; None, with a refusal noted, when it is not an array of a type we have."""
        self.depth += 1
        if self.depth > _MAX_NESTING:
            raise self.error(f"shapes nest deeper than {_MAX_NESTING}")
        start, since = self.at, len(self.refusals)
        parsed: ParsedShape | None = None
        if self.eat("("):
            self.items(self.shape, ")")
            self.refuse("tuple shapes", start, rule="S9", since=since)
        else:
            parsed = self.array()
        self.depth -= 1
        return parsed

    def array(self) -> ParsedShape | None:
        start, since = self.at, len(self.refusals)
        name = self.token.text
        row = ELEMENT_TYPES.get(name)
        if row is None and name not in _OTHER_TYPES and name not in _NO_ARRAYS:
            near = name.lower() in ELEMENT_TYPES
            raise self.expected(
                "an element type", f"; did you mean {name.lower()!r}?" if near else ""
            )
        self.at += 1
        self.need("[")
        places: list[int] = []
        dimensions: list[int] = []

        def dimension() -> None:
            places.append(self.token.offset)
            dimensions.append(self.dimension())

        self.items(dimension, "]")
        at = self.token.offset
        layout = Layout.default(len(dimensions))
        if self.opens_layout():
            layout, at = self.layout(tuple(dimensions))
        if row is None:
            if name in _NO_ARRAYS:
                self.refuse(f"{name} shapes", start, rule="S9", since=since)
            else:
                self.refuse("element types", start, rule="S10", since=since)
            return None
        misfits = [p for p, d in zip(places, dimensions, strict=True) if not 0 <= d <= MAX_SIZE]
        first = [*misfits, *places, self.tokens[start].offset][0]
        return ParsedShape(row, tuple(dimensions), layout, self.text, first, at)

    def dimension(self) -> int:
        start = self.at
        if self.eat("?"):
            self.refuse("unbounded dimensions", start, rule="S9")
            return 0
        if self.eat("<="):
            bound = self.integer()
            self.refuse("bounded dimensions", start, rule="S9")
            return bound
        return self.integer()

    def opens_layout(self) -> bool:
        """XLA reads ``{`` as a layout only before an integer or a colon."""
        if self.token.text != "{":
            return False
        following = self.tokens[self.at + 1]
        return following.text == ":" or _INT.fullmatch(following.text) is not None

    def layout(self, dimensions: tuple[int, ...]) -> tuple[Layout, int]:
        """The layout and the offset that a message about its padding points at."""
        rank = len(dimensions)
        at = self.token.offset
        self.need("{")
        order: list[int] = []
        places: list[int] = []
        while not order or self.eat(","):
            if self.token.text == ":" and not order:
                break
            places.append(self.token.offset)
            order.append(self.integer())
        places.append(self.token.offset)
        sizes: list[int] | None = None
        size_places: list[int] = []
        value = PaddingValue.INVALID
        carried = ""
        # The place in line of a refused layout is before its refused attributes.
        since = len(self.refusals)
        if self.eat(":"):
            if self.token.text == "pad":
                at = self.token.offset
                sizes, size_places, value = self.padding()
            carried = self.attributes()
        if self.token.text in _ATTRIBUTES:
            raise self.expected(
                "'}'", "; attributes stand at most once, in the order " + " ".join(_ATTRIBUTES)
            )
        self.need("}")
        try:
            check_minor_to_major(tuple(order), rank)
            layout = Layout(tuple(order), sizes, value, carried)
            layout.validate(dimensions)
        except LayoutError as error:
            bad = _offender(error.rule, order, sizes or [], dimensions)
            offset = (places if error.rule in ("L2", "L3", "L4") else [*size_places, at])[bad]
            self.refusals.insert(since, (error, offset))
            return Layout.default(rank), at
        return layout, at

    def padding(self) -> tuple[list[int], list[int], PaddingValue]:
        """``pad(size, ..., value)``: sizes, their offsets, value."""
        self.need("pad")
        self.need("(")
        sizes: list[int] = []
        places: list[int] = []
        value: PaddingValue | None = None

        def item() -> None:
            nonlocal value
            if value is not None:
                raise self.expected("')' after the padding value")
            places.append(self.token.offset)
            value = _PADDING_WORDS.get(self.token.text)
            if value is not None:
                self.at += 1
            elif self.token.type == "word":
                raise self.expected(f"one of {', '.join(_PADDING_WORDS)}")
            else:
                sizes.append(self.integer())

        self.items(item, ")")
        return sizes, places, value or PaddingValue.INVALID

    def attributes(self) -> str:
        """XLA's attributes, each at most once and in this order; those carried, as text."""
        return (
            self.attribute("D", lambda: self.group(self.level))
            + self.attribute("T", lambda: self.groups(self.tile), refused="tiled layouts")
            + self.attribute("L", self.number, neutral=1)
            + self.attribute("#", self.unsigned)
            + self.attribute("*", self.unsigned)
            + self.attribute("E", self.number, neutral=0)
            + self.attribute("S", self.number, neutral=0)
            + self.attribute("SC", lambda: self.groups(self.integer, split=True))
            + self.attribute("P", self.physical, refused="physical shapes")
            + self.attribute("M", self.number, neutral=0)
        )

    def attribute(
        self,
        name: str,
        read: Callable[[], int | None],
        neutral: int | None = None,
        refused: str = "",
    ) -> str:
        """The canonical text of one attribute; XLA drops it where it has its neutral value."""
        start, since = self.at, len(self.refusals)
        if not self.eat(name):
            return ""
        value = read()
        if refused:
            self.refuse(refused, start, rule="L9", since=since)
            return ""
        if value is not None:
            return "" if value == neutral else f"{name}({value})"
        if self.tokens[self.at - 2].text == "(":
            return ""  # an empty list says nothing
        return "".join(token.text for token in self.tokens[start : self.at])

    def number(self) -> int:
        self.need("(")
        value = self.integer()
        self.need(")")
        return value

    def unsigned(self) -> None:
        self.need("(")
        if self.token.text not in _UNSIGNED:
            raise self.expected("an unsigned integer type")
        self.at += 1
        self.need(")")

    def physical(self) -> None:
        self.need("(")
        self.shape()
        self.need(")")

    def group(self, item: Callable[[], object]) -> None:
        self.need("(")
        self.items(item, ")")

    def groups(self, item: Callable[[], object], split: bool = False) -> None:
        """``(item, ...)(item, ...)``; each list of a split starts with ``dimension:``."""
        self.need("(")
        while True:
            if split:
                self.integer()
                self.need(":")
            self.items(item, ")")
            if not self.eat("("):
                return

    def level(self) -> None:
        if self.token.text not in ("D", "C", "S", "H"):
            raise self.expected("a level type, one of D, C, S, H")
        self.at += 1
        self.eat("+")
        self.eat("~")

    def tile(self) -> None:
        if not self.eat("*"):
            self.integer()


def _offender(
    rule: str | None, order: list[int], sizes: list[int], dimensions: tuple[int, ...]
) -> int:
    """Which entry of the list that ``rule`` is about it refuses; its length if one is missing."""
    rank = len(dimensions)
    if rule in ("L2", "L5"):
        return min(rank, len(order if rule == "L2" else sizes))
    if rule == "L3":
        return next(i for i, d in enumerate(order) if not 0 <= d < rank)
    if rule == "L4":
        return next(i for i, d in enumerate(order) if d in order[:i])
    if rule != "L6":
        return -1
    return next(
        i
        for i, (padded, size) in enumerate(zip(sizes, dimensions, strict=True))
        if not max(size, 0) <= padded <= MAX_SIZE
    )


def _clip(text: str) -> str:
    return text if len(text) <= _WINDOW else text[: _WINDOW - 3] + "..."
