"""Pictures of a plan: how operands align, how axes merge, where elements lie, how it is launched.

``collect`` gathers the parts as plain data; ``text``, ``html`` and ``terminal`` draw them.
"""

from gpubcast.explain.collect import Explanation, explain

__all__ = ["Explanation", "explain"]
