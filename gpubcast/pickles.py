"""Pickles of 0.1.0, which name modules that have moved: those names still load.

Public classes are pickled as ``gpubcast.<name>`` since, so that no module's place is in a pickle.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

# The module that a pickle may name, and where its contents are now.
MOVED = {
    "gpubcast.bound": "gpubcast.plans",
    "gpubcast.element_types": "gpubcast.shapes.element_types",
    "gpubcast.expression": "gpubcast.hlo.expression",
    "gpubcast.layout": "gpubcast.shapes.layout",
    "gpubcast.shape": "gpubcast.shapes.shape",
}


class _Finder:
    """Finds and loads modules of ``MOVED`` where nothing else does.

    Its base classes of ``importlib.abc`` are left out: they take longer to import than all else
    that the package needs at first.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """A module as any other."""

    def exec_module(self, module: ModuleType) -> None:
        contents = vars(import_module(MOVED[module.__name__]))
        module.__dict__.update({k: v for k, v in contents.items() if not k.startswith("__")})


def install() -> None:
    """Have the old names found; once, however often the package is imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
