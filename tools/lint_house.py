"""Check what no other linter knows of this house: who owns state, how long files are, and names.

* Mutable state of a module has a named owner in ``STATE``: a name at module level that is bound to
  a container which is empty or changed somewhere, to a lock, to a context variable or to an object
  that can change; the word ``global``; a cache that grows with what it is asked.
* No import is hidden in a string, and no module imports the package itself, which comes after all
  of them; the command line and the package's own table of names apart (``HIDDEN``).
* A file has at most ``MAX_LINES`` lines, in the package and in ``FOLDERS`` next to it; rows of
  operations and generated files apart.
* No name speaks the dialect that this house had once (``DIALECT``), ``kind`` is that of an error,
  and no two modules define a class of one name.

Which package may import which, and who may import CuPy, numba and llvmlite, is said in the
contracts of import-linter in ``pyproject.toml``.

Usage: ``python tools/lint_house.py [package folder]``; exit status 1 if anything was found.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Who may keep what, and why it is kept there. A module of this list is an owner of state.
STATE = {
    "backends/cpu/jit/object_cache.py": "code that is loaded, and locks held over a fork",
    "backends/calling_thread.py": "whether kernels run on the calling thread alone",
    "backends/cpu/result_pool.py": "memory that results leave behind",
    "backends/cpu/threads/team.py": "the team of threads",
    "locks.py": "the lock that a fork waits for",
    "backends/kernel_store.py": "whether kernels could be stored",
    "backends/cuda/nvrtc.py": "the lock of the compiler",
    "backends/native_calls/build.py": "the process that makes machine code",
    "backends/native_calls/ffi.py": "launches that compiled programs of XLA refer to",
    "runtime/eager_call.py": "the entry point of eager calls",
    "arrays.py": "the entry points of copies and filled arrays",
    "runtime/state.py": "backends, libraries, plans, kernels, recorded calls, the current trace",
    "fusion/fused_function.py": "the entry point of fused calls",
    "jax/primitives.py": "the primitives that JAX knows",
    "plans.py": "the entry point of plans",
}
# Caches without a bound on what they are asked, whose questions are few.
FINITE_CACHES = {
    "backends/kernel_files.py:_patterns": "the devices",
    "backends/cpu/intrinsics/elementary.py:_code": "the formulas",
    "backends/cpu/intrinsics/elementary.py:_is_for_vectors": "the formulas",
    "backends/cuda/backend.py:_target": "the GPUs of a machine",
    "runtime/eager_call.py:keywords": "the operations",
    "runtime/operands.py:scalar_operand": "the element types",
}
# Tables that are filled while their module is loaded, and never after.
REGISTRIES = {
    "hlo/elementary/formula.py:FORMULAS": "one entry per decorated formula",
    "hlo/elementary/formula.py:HELPERS": "one entry per decorated helper",
}
# Modules that load others by name, or use the package as a user does.
HIDDEN = {
    "__init__.py": "a public name loads its module when it is first used",
    "__main__.py": "the command line",
    "pickles.py": "modules that pickles name",
    "cli/": "commands are users of the package",
}
MAX_LINES = 450
# Folders next to the package whose files have that limit, too.
FOLDERS = ("bench", "tests", "tools")
UNLIMITED = ("functions.py", "hlo/rows/")
# A word that no part of a name is, and what the field calls it.
DIALECT = {
    "beside": "background, or another preposition",
    "building": "build",
    "crew": "thread team",
    "crooked": "misaligned",
    "direct": "build",
    "door": "entry point",
    "doors": "entry points",
    "heavy": "expensive, or register-heavy in words",
    "kept": "hoisted, cached or stored",
    "kinds": "types, or what else they are kinds of",
    "known": "call table, or what is known of what",
    "labelled": "with labels, or label_scope",
    "labelling": "label_scope",
    "lasting": "checkpoint",
    "planned": "CallPlan",
    "pretended": "fake",
    "traced": "Tracer, trace or formula code",
    "tracing": "trace",
    "whole": "replay, or what is not cut",
}
# What no module is called: words with another meaning in the field, and adjectives.
DIALECT_MODULES = {
    "eager": "eager_call",
    "fused": "fused_function",
    "lines": "nontemporal_accesses",
    "nontemporal": "nontemporal_accesses",
    "table": "call_table, or whatever table it is",
    "words": "record_layout",
}
# ``kind`` is the kind of an error; these make errors or pass theirs on.
OF_ERRORS = (
    "errors.py", "fusion/source_lines.py", "hlo/broadcasting.py", "hlo/inference.py",
    "hlo/refusals.py", "hlo/type_inference.py", "shapes/layout.py",
)  # fmt: skip
# Functions of the array API standard have a keyword of this name.
OF_STANDARD = ("array_api/dtypes.py", "array_api/info.py")

MUTABLE_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
# What is called makes a value that does not change.
VALUES = frozenset(
    (
        *("Any", "CDLL", "CFUNCTYPE", "Callable", "IntType", "MappingProxyType", "NamedTuple"),
        *("NewType", "ParamSpec", "Path", "Struct", "TypeVar", "VectorType"),
    )
)
MUTATORS = frozenset(
    (
        *("add", "append", "clear", "discard", "extend", "insert", "move_to_end", "pop"),
        *("popitem", "remove", "setdefault", "update"),
    )
)


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: the file, relative to the package's parent, the line, and what is wrong."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class _Module:
    inner: str
    tree: ast.Module
    lines: int


def lint(package: Path) -> tuple[Violation, ...]:
    """Every violation in a package, in the order of files and lines, and after it the files of
    ``FOLDERS`` that are too long."""
    modules = _modules(package, package)
    values = VALUES | {name for module in modules for name in _immutable_classes(module.tree)}
    homonyms = _homonyms(modules)
    found = [
        Violation(f"{package.name}/{module.inner}", line, message)
        for module in modules
        for line, message in sorted(
            {
                *_state(module, values),
                *_imports(module, package),
                *_size(module),
                *_words(module),
                *homonyms.get(module.inner, ()),
            }
        )
    ]
    found += [
        Violation(module.inner, line, message)
        for folder in FOLDERS
        for module in _modules(package.parent / folder, package.parent)
        for line, message in _size(module)
    ]
    return tuple(found)


def _modules(folder: Path, root: Path) -> list[_Module]:
    """The modules of a folder; each is named by its path from ``root``."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
    return [
        _Module(path.relative_to(root).as_posix(), ast.parse(text), len(text.splitlines()))
        for path, text in texts.items()
    ]


def _imports(module: _Module, package: Path) -> Iterator[tuple[int, str]]:
    if module.inner.startswith(tuple(HIDDEN)):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in ("import_module", "__import__"):
                yield node.lineno, f"{called} hides an import from the linter"
        if isinstance(node, ast.Import) and any(one.name == package.name for one in node.names):
            yield node.lineno, f"imports {package.name} itself, which comes after every module"
        if isinstance(node, ast.ImportFrom) and node.module == package.name:
            for one in node.names:
                path = package / one.name
                if not path.is_dir() and not path.with_suffix(".py").exists():
                    yield node.lineno, f"imports {one.name} from {package.name}, its last module"


def _size(module: _Module) -> Iterator[tuple[int, str]]:
    if module.lines > MAX_LINES and not module.inner.startswith(UNLIMITED):
        yield module.lines, f"{module.lines} lines; a file has at most {MAX_LINES}"


def _words(module: _Module) -> Iterator[tuple[int, str]]:
    names = {name: 1 for name in re.split(r"[/.]", module.inner.removesuffix(".py"))}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.setdefault(node.name, node.lineno)
        elif isinstance(node, ast.arg):
            names.setdefault(node.arg, node.lineno)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.attr, node.lineno)
    for one in (name for part in ast.walk(module.tree) for name in _assignments(part)):
        names.setdefault(one.id, one.lineno)
    for name, line in names.items():
        yield from ((line, f"{name}: {what}") for what in dialect(name))
    stem = module.inner.rpartition("/")[2].removesuffix(".py")
    if stem in DIALECT_MODULES:
        yield 1, f"{stem}: no module's name; say {DIALECT_MODULES[stem]}"
    bound = [(one.arg, one.lineno) for one in ast.walk(module.tree) if isinstance(one, ast.arg)]
    bound += [(one.id, one.lineno) for one in ast.walk(module.tree) if isinstance(one, ast.Name)]
    for name, line in bound:
        if name == "kind" and module.inner not in (*OF_ERRORS, *OF_STANDARD):
            yield line, "kind is the kind of an error: say what it is a type of"


def dialect(name: str) -> Iterator[str]:
    """What is wrong with the words that a name or a key is made of."""
    for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name):
        if word.lower() in DIALECT:
            yield f"say {DIALECT[word.lower()]} for {word.lower()!r}"


def _homonyms(modules: list[_Module]) -> dict[str, list[tuple[int, str]]]:
    """Per module, the classes whose names an earlier module has given to its own."""
    homes: dict[str, str] = {}
    found: dict[str, list[tuple[int, str]]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                home = homes.setdefault(node.name, module.inner)
                if home != module.inner:
                    what = f"{node.name} is a class of {home}, too: two things, two names"
                    found.setdefault(module.inner, []).append((node.lineno, what))
    return found


def _assignments(node: ast.AST) -> Iterator[ast.Name]:
    """The names that a module or a class binds."""
    if not isinstance(node, ast.Module | ast.ClassDef):
        return
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            bound = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (
                name for target in bound for name in ast.walk(target) if isinstance(name, ast.Name)
            )


def _state(module: _Module, values: frozenset[str]) -> Iterator[tuple[int, str]]:
    if module.inner in STATE:
        return
    tables: dict[str, int] = {}
    for node in module.tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)]
        if names == ["__all__"]:
            continue
        what = _mutable(node.value, values)
        shown = ", ".join(names)
        if what == "table":
            tables |= dict.fromkeys(names, node.lineno)
        elif what and f"{module.inner}:{shown}" not in REGISTRIES:
            yield node.lineno, f"{shown} is {what}: state has an owner in STATE"
    for part in ast.walk(module.tree):
        if isinstance(part, ast.Global):
            yield part.lineno, f"global {', '.join(part.names)}: state has an owner in STATE"
        changed = _changed(part)
        if changed in tables and f"{module.inner}:{changed}" not in REGISTRIES:
            yield tables[changed], f"{changed} is changed: state has an owner in STATE"
    for statement in (*module.tree.body, *_methods(module.tree)):
        if isinstance(statement, ast.FunctionDef):
            yield from _caches(module, statement)


def _methods(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from node.body


def _caches(module: _Module, node: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    for decorator in node.decorator_list:
        text = ast.unparse(decorator).removeprefix("functools.")
        unbounded = text == "cache" or text in ("lru_cache(None)", "lru_cache(maxsize=None)")
        asked = node.args.args or node.args.vararg or node.args.kwonlyargs or node.args.posonlyargs
        if unbounded and asked and f"{module.inner}:{node.name}" not in FINITE_CACHES:
            yield node.lineno, f"the cache of {node.name} has no bound: name one, or who asks"


def _mutable(value: ast.expr, values: frozenset[str]) -> str:
    """What makes a value of a module able to change: "" where nothing does, "table" for a
    container with contents, which is a constant unless something changes it."""
    if isinstance(value, MUTABLE_DISPLAYS):
        empty = not getattr(value, "elts", getattr(value, "keys", True))
        return "an empty container" if empty else "table"
    if isinstance(value, ast.BinOp):
        return _mutable(value.left, values) or _mutable(value.right, values)
    if not isinstance(value, ast.Call):
        return ""
    name = ast.unparse(value.func).rpartition(".")[2].partition("[")[0]
    if name in ("dict", "list", "set", "OrderedDict", "defaultdict", "deque"):
        return "table" if value.args or value.keywords else "an empty container"
    made_by_class = name[:1].isupper() or name == "local"
    return f"an object of {name}" if made_by_class and name not in values else ""


def _changed(node: ast.AST) -> str | None:
    """The name of a container that a node changes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr in MUTATORS and isinstance(owner, ast.Name):
            return owner.id
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return node.value.id if isinstance(node.value, ast.Name) else None
    return None


def _immutable_classes(tree: ast.Module) -> Iterator[str]:
    """Frozen dataclasses, enumerations and named tuples."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        decorated = any("frozen=True" in ast.unparse(one) for one in node.decorator_list)
        bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        if decorated or bases & {"Enum", "NamedTuple", "Structure"}:
            yield node.name


def main(arguments: list[str]) -> int:
    """Print every violation; 1 if there was one."""
    default = Path(__file__).resolve().parent.parent / "gpubcast"
    package = Path(arguments[0]).resolve() if arguments else default
    found = lint(package)
    print(*found, sep="\n") if found else print(f"{package.name}: state, sizes and names are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
