"""The README's table of features beside other libraries, written from here and never by hand.

``python -m tools.feature_table`` replaces what stands between the two markers in README.md;
``--check`` only says whether it is what stands there. What a program can find out of a cell is
asked of the libraries in ``tests/interop/test_feature_table.py``; the others name what they were
taken from.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

BEGIN = "<!-- features: begin (written by python -m tools.feature_table) -->"
END = "<!-- features: end -->"
README = Path(__file__).resolve().parents[1] / "README.md"
LIBRARIES = ("gpubcast", "NumPy", "CuPy", "JAX", "PyTorch", "einx", "KeOps")
BACKEND = "as its backend"
"""What is said of einx where it hands the work to the library whose arrays it is given."""

_CUPY = "https://docs.cupy.dev/en/stable/reference/"
_KEOPS = "https://www.kernel-operations.io/keops/"
_EINX = "https://einx.readthedocs.io/en/stable/"


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of the table.

    Attributes:
        name: what is asked.
        cells: what each library answers, in the order of ``LIBRARIES``.
        sources: where the answer of a library was read that no test here can ask.
    """

    name: str
    cells: tuple[str, ...]
    sources: tuple[tuple[str, str], ...] = ()


FEATURES = (
    Feature(
        "arrays of different rank are refused until their axes are aligned",
        ("yes", "no", "no", "`jax.lax`; `jnp` by a flag", "no", "yes", "no"),
        (("CuPy", f"{_CUPY}generated/cupy.add.html"), ("KeOps", f"{_KEOPS}python/api/index.html")),
    ),
    Feature(
        "axes are aligned by name",
        ("yes", "`einsum`", "`einsum`", "`einsum`", "`einsum`", "yes", "i and j"),
        (("KeOps", f"{_KEOPS}python/api/index.html"),),
    ),
    Feature(
        "an expression with reductions in it is compiled to kernels",
        ("yes", "no", "`cupy.fuse`", "`jit`", "`torch.compile`", BACKEND, "one reduction, last"),
        (("einx", _EINX), ("KeOps", f"{_KEOPS}introduction/why_using_keops.html")),
    ),
    Feature(
        "the same kernel serves every size",
        ("yes", "nothing compiled", "yes", "no", "`dynamic=True`", BACKEND, "but the inner one"),
        (
            ("CuPy", f"{_CUPY}generated/cupy.fuse.html"),
            ("einx", _EINX),
            ("KeOps", f"{_KEOPS}api/math-operations.html"),
        ),
    ),
    Feature(
        "the order of dimensions in memory is part of a shape",
        ("yes, with padding", "strides", "strides", "`Layout`", "strides", BACKEND, "no"),
        (("einx", _EINX), ("KeOps", f"{_KEOPS}python/api/index.html")),
    ),
    Feature(
        "a sum has the same bits in every layout and batch",
        ("yes", "no", "not promised", "no", "no", BACKEND, "not promised"),
        (
            ("CuPy", f"{_CUPY}generated/cupy.sum.html"),
            ("einx", _EINX),
            ("KeOps", f"{_KEOPS}python/api/index.html"),
        ),
    ),
    Feature(
        "rows of different lengths",
        ("`valid=`", "`where=`", "no", "`where=`", "`torch.nested`", "no", "`ranges=`"),
        (("KeOps", f"{_KEOPS}python/sparsity.html"),),
    ),
    Feature(
        "what will run can be read before it does",
        ("plan, bytes, source", "no", "no", "HLO, costs", "in its logs", "Python code", "no"),
        (
            ("NumPy", "https://numpy.org/doc/stable/reference/ufuncs.html"),
            ("CuPy", f"{_CUPY}generated/cupy.fuse.html"),
            ("PyTorch", "https://docs.pytorch.org/docs/stable/generated/torch._logging.set_logs.html"),
            ("KeOps", f"{_KEOPS}python/api/index.html"),
        ),
    ),
    Feature(
        "gradients",
        ("in PyTorch and JAX", "no", "no", "yes", "yes", BACKEND, "yes"),
        (("einx", _EINX), ("KeOps", f"{_KEOPS}introduction/why_using_keops.html")),
    ),
    Feature(
        "matrix products",
        ("no", "yes", "yes", "yes", "yes", "yes", "no"),
        (("KeOps", f"{_KEOPS}introduction/why_using_keops.html"),),
    ),
    Feature(
        "one array over several devices",
        ("no", "no", "no", "yes", "`DTensor`", BACKEND, "no"),
        (
            ("NumPy", "https://numpy.org/doc/stable/reference/arrays.html"),
            ("CuPy", "https://docs.cupy.dev/en/stable/user_guide/basic.html"),
            ("einx", _EINX),
            ("KeOps", f"{_KEOPS}python/api/index.html"),
        ),
    ),
    Feature(
        "runs on",
        (
            "CPU; for GPUs see below", "CPU", "GPU", "CPU, GPU, TPU", "CPU, GPU and others",
            BACKEND, "CPU, GPU",
        ),
        (
            ("CuPy", "https://docs.cupy.dev/en/stable/overview.html"),
            ("JAX", "https://docs.jax.dev/en/latest/installation.html"),
            ("PyTorch", "https://pytorch.org/get-started/locally/"),
            ("einx", _EINX),
            ("KeOps", f"{_KEOPS}introduction/why_using_keops.html"),
        ),
    ),
)  # fmt: skip


def table() -> str:
    """The table as Markdown."""
    head = ("", *(f"**{name}**" if name == "gpubcast" else name for name in LIBRARIES))
    lines = [head, ("---",) * len(head), *((one.name, *one.cells) for one in FEATURES)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def replaced(text: str) -> str:
    """A document with the table between the markers, each of which it has once."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or any(mark in before + after for mark in (BEGIN, END)):
        raise SystemExit(f"the file needs these two lines, each once:\n{BEGIN}\n{END}")
    return f"{before}{begin}\n\n{table()}\n\n{end}{after}"


def main(words: list[str]) -> int:
    """Write the table, or check it; 1 where it is not what stands there."""
    before = README.read_text(encoding="utf-8")
    new = replaced(before)
    if "--check" in words:
        return int(new != before)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
