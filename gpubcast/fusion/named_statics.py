"""Static arguments that calls give by name: with each combination of them a function is another one
to whoever looks up calls."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from gpubcast.fusion.arguments import typed_key


class NamedStatics:
    """A function and static arguments by name; calls with other ones are other calls.

    Attributes:
        function: the function.
        keywords: the arguments.
    """

    __slots__ = ("function", "keywords")

    def __init__(self, function: Any, keywords: Mapping[str, Any]) -> None:
        self.function, self.keywords = function, keywords


class StaticCombinations:
    """The combinations that one function was called with.

    Args:
        names: those of its static parameters.
        most: how many combinations are kept.
    """

    def __init__(self, names: tuple[str, ...], most: int) -> None:
        self._names, self._most = frozenset(names), most
        self._seen: dict[Hashable, NamedStatics] = {}

    def of(self, function: Any, keywords: Mapping[str, Any]) -> NamedStatics | None:
        """What is called where nothing but static arguments of the function is named; None for
        other calls."""
        if not self._names.issuperset(keywords):
            return None
        try:
            key = tuple([(name, typed_key(x)) for name, x in keywords.items()])
            found = self._seen.get(key)
        except TypeError:  # one that cannot be hashed, which is refused by its name
            return None
        if found is None:
            if len(self._seen) >= self._most:
                self._seen.clear()
            found = self._seen.setdefault(key, NamedStatics(function, dict(keywords)))
        return found
