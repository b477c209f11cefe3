"""Check the shape of the package: data flows one way, and each thing has one home.

* A module imports only modules before it in ``ORDER`` (imports inside functions count, imports
  under ``if TYPE_CHECKING:`` do not: they say what a value is, and load nothing).
* A library with an owner in ``OWNERS`` is imported by its owner only.
* ``global`` is used in ``runtime.py`` only, where the mutable state lives.
* A file has at most ``MAX_LINES`` lines, tables and generated files apart.

Usage: ``python tools/lint_layers.py [package folder]``; exit status 1 if anything was found.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Top to bottom. A package (codegen, backends) is one entry; its modules may import one another.
# What both speak of, the protocol of a backend, has its own place before them.
ORDER = (
    *("errors", "hashed", "digests", "config", "progress", "alignment"),
    *("element_types", "layout", "shape_text", "shape"),
    *("elementary", "ops", "kinds", "broadcasting", "inference"),
    *("labels", "expression", "reinterpreted", "planning", "building", "partition"),
    *("simplify", "planned"),
    *("families", "nest", "runs", "tiles", "streams", "rows", "phase", "schedule"),
    *("backends.base", "codegen", "backends", "launch", "runtime", "memory"),
    *("operands", "operators", "machine", "arrays", "calls", "traced", "tracing", "labelling"),
    *("eager", "explain", "bound", "arguments", "fusion", "functions"),
    "__init__",
    *("demo", "doctor", "kept", "cli", "__main__"),
    *("array_api", "dask", "stablehlo"),
)
OWNERS = {
    "cupy": "backends/cuda",
    "cupyx": "backends/cuda",
    "cupy_backends": "backends/cuda",
    "numba": "backends/cpu",
    "llvmlite": "backends/cpu",
}
# Documented where they are: Array's operators are looked up in a registry that eager fills.
BACK_EDGES = (("arrays", "eager"),)
STATE = "runtime.py"
MAX_LINES = 450
UNLIMITED = ("ops.py", "functions.py")  # a row is never split off its table; a generated file


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: the file, relative to the package's parent, the line, and what is wrong."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def lint(package: Path) -> tuple[Violation, ...]:
    """Every violation in a package, in the order of files and lines."""
    found: list[Violation] = []
    for path in sorted(package.rglob("*.py")):
        inner = path.relative_to(package).as_posix()
        shown = f"{package.name}/{inner}"
        text = path.read_text(encoding="utf-8")
        found += (
            Violation(shown, line, message)
            for line, message in sorted(_violations(package, inner, text))
        )
    return tuple(found)


def _violations(package: Path, inner: str, text: str) -> Iterator[tuple[int, str]]:
    module = _module(inner.removesuffix(".py").split("/"))
    if module not in ORDER:
        yield 1, f"{module} has no place in ORDER (tools/lint_layers.py)"
        return
    lines = len(text.splitlines())
    if lines > MAX_LINES and inner not in UNLIMITED:
        yield lines, f"{lines} lines; a file has at most {MAX_LINES}"
    for node in _runtime_nodes(ast.parse(text)):
        if isinstance(node, ast.Global) and inner != STATE:
            yield node.lineno, f"global {', '.join(node.names)}: state lives in {STATE}"
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
            for name in dict.fromkeys(_imported(package, inner, node)):
                for message in _import_errors(package, module, inner, name):
                    yield node.lineno, message


def _import_errors(package: Path, module: str, inner: str, name: str) -> Iterator[str]:
    top, *rest = name.split(".")
    owner = OWNERS.get(top)
    if owner is not None and not inner.startswith(f"{owner}/"):
        yield f"imports {top}, which only {package.name}/{owner} may"
    if top != package.name:
        return
    target = _module(rest)
    if target not in ORDER:
        yield f"imports {name}, which has no place in ORDER (tools/lint_layers.py)"
    elif (module, target) in BACK_EDGES:
        return
    elif target != module and ORDER.index(target) > ORDER.index(module):
        yield f"{module} imports {target}, which comes after it"


def _module(parts: list[str]) -> str:
    inner = ".".join(parts[:2])
    return inner if inner in ORDER else parts[0] if parts else "__init__"


def _runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that can run: all but the bodies of ``if TYPE_CHECKING:``."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for alternative in child.orelse:
                yield alternative
                yield from _runtime_nodes(alternative)
        else:
            yield child
            yield from _runtime_nodes(child)


def _imported(
    package: Path, inner: str, node: ast.Import | ast.ImportFrom | ast.Call
) -> Iterator[str]:
    """Full names of the modules that a node imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parents = [package.name, *inner.split("/")[:-1]]
            parents = parents[: len(parents) - (node.level - 1)]
            base = ".".join([*parents, *filter(None, [node.module])])
        # ``from gpubcast import planning`` is the module, if there is one, else a public name.
        for alias in node.names:
            full = f"{base}.{alias.name}"
            yield full if _is_module(package, full) else base
    elif node.args:
        first = node.args[0]
        if (
            ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__")
            and isinstance(first, ast.Constant)
            and isinstance(first.value, str)
        ):
            yield first.value


def _is_module(package: Path, name: str) -> bool:
    path = package.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def main(arguments: list[str]) -> int:
    """Print every violation; 1 if there was one."""
    default = Path(__file__).resolve().parent.parent / "gpubcast"
    package = Path(arguments[0]).resolve() if arguments else default
    found = lint(package)
    print(*found, sep="\n") if found else print(f"{package.name}: one way, top to bottom")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
