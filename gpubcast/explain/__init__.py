"""Pictures of a plan: how operands align, how axes merge, where elements lie, how it is launched.

``explanation`` gathers the parts of a ``picture`` as plain data; ``text``, ``html`` and
``terminal`` draw them.
"""

from __future__ import annotations

from gpubcast.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
