"""What einx lets its elementwise operations leave out, written out."""

from __future__ import annotations

import re
from typing import Any

from gpubcast.errors import plain_text

# Without an arrow, which a text that is written out has.
_WORDS = re.compile(r"[\w\s.,\[\]()]*")
_NAMED = re.compile(r"\b([A-Za-z_]\w*)\.\.\.")


def written_out(text: Any, count: int) -> Any:
    """Labels with all operands and the result; a text in which they are not left out is the same.

    - ``b... c`` is ``... c``, where one name alone stands before an ellipsis.
    - ``a [b]`` is ``a b, b``, where there are two operands: the second has what is in brackets.
    - Without ``->`` the result has the labels of the operand that has those of all others; where
      there is none, or several that differ, nothing is written out, and the text is refused.

    Args:
        text: labels as einx writes them.
        count: the number of operands.
    """
    plain = plain_text(text)
    if plain is None:
        return text
    if len(set(_NAMED.findall(plain))) == 1:
        plain = _NAMED.sub("...", plain)
    if not _WORDS.fullmatch(plain):
        return plain
    groups = plain.split(",")
    if len(groups) == 1 and count == 2 and "[" in plain:
        inside = re.findall(r"\[([^\[\]]*)\]", plain)
        groups = [re.sub(r"[\[\]]", " ", plain), " ".join(inside)]
    names = [set(re.findall(r"[A-Za-z_]\w*|\.\.\.", group)) for group in groups]
    whole = [group for group, own in zip(groups, names, strict=True) if own == set().union(*names)]
    if not plain.strip() or len({" ".join(group.split()) for group in whole}) != 1:
        return plain
    return f"{', '.join(group.strip() for group in groups)} -> {whole[0].strip()}"
