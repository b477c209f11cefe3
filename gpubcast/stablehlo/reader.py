"""StableHLO text, modules and portable artifacts, read by the bindings inside jaxlib."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

from gpubcast.errors import Error, brief
from gpubcast.stablehlo.module import Function, Operation, StablehloModule

_LOCATION = re.compile(r'"([^"]*)":(\d+):\d+')
_NAMED = re.compile(r'loc\("([^"]+)"')
_ENUMERATED = re.compile(r"#(?:stablehlo|chlo)<\w+ (\w+)>")
# What the bytecode of a portable artifact begins with: its producer and the version.
_PRODUCER, _HEADER = b"StableHLO_v", 64
_RETURNS = ("func.return", "stablehlo.return")


def read(source: Any) -> StablehloModule:
    """A module from text, bytes (a portable artifact, or MLIR's bytecode), a path, a module of
    MLIR's bindings, or what JAX makes: ``jax.stages.Lowered``, ``jax.export.Exported``.

    Raises:
        Error: H1, it is no StableHLO module; H5, jaxlib is not installed.
    """
    context, ir, stablehlo = _bindings()
    with context:
        try:
            parsed = _parsed(source, context, ir, stablehlo)
            return _Reader(ir).module(parsed)
        except Error:
            raise
        except Exception as error:  # whatever MLIR's bindings raise
            raise _no_module(str(error)) from None


def _no_module(why: str) -> Error:
    return Error(f"this is no StableHLO module: {why}", rule="H1", kind="gpubcast:stablehlo text")


def _bindings() -> tuple[Any, Any, Any]:
    try:
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, stablehlo
    except ImportError as error:
        raise Error(
            f"StableHLO is parsed by jaxlib, which cannot be imported ({error}); "
            'pip install "gpubcast[jax]"',
            rule="H5",
            kind="gpubcast:no jaxlib",
        ) from None
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    # What is foreign is refused by its name, not by the parser.
    context.allow_unregistered_dialects = True
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    return context, ir, stablehlo


def _parsed(source: Any, context: Any, ir: Any, stablehlo: Any) -> Any:
    if hasattr(source, "mlir_module_serialized"):
        source = source.mlir_module_serialized
    elif hasattr(source, "compiler_ir"):
        source = source.compiler_ir("stablehlo")
    if isinstance(source, os.PathLike):
        try:
            with open(source, "rb") as file:
                source = file.read()
        except OSError as error:
            raise _no_module(f"{error.filename} cannot be read: {error.strerror}") from None
        if not source.startswith(b"ML\xefR"):
            source = source.decode()
    if isinstance(source, (bytes, bytearray)):
        raw = bytes(source)
        if _PRODUCER in raw[:_HEADER]:
            return stablehlo.deserialize_portable_artifact(context, raw)
        return ir.Module.parse(raw)
    if isinstance(source, str):
        if source.strip() and not set(source) & set("{(\n"):
            raise _no_module(f"{brief(source)} is text; a file is given as pathlib.Path(...)")
        return ir.Module.parse(source)
    if hasattr(source, "operation"):
        # Its context may be another one, whose values outlive no garbage collection here.
        return ir.Module.parse(source.operation.get_asm(enable_debug_info=True))
    raise _no_module(f"{brief(source)} is neither text, bytes, a path nor a module")


class _Reader:
    """Turns the bindings' objects into plain data."""

    def __init__(self, ir: Any) -> None:
        self._ir = ir

    def module(self, parsed: Any) -> StablehloModule:
        functions = {}
        for one in parsed.body.operations:
            operation = one.operation
            if operation.name != "func.func":
                where = _location(operation)
                raise _no_module(f"{operation.name} ({where}) stands beside its functions")
            name = self._ir.StringAttr(operation.attributes["sym_name"]).value
            names = operation.attributes
            public = "sym_visibility" not in names or "private" not in str(names["sym_visibility"])
            functions[name] = self._function(name, operation.regions[0], {}, public)
            fixed = self._fixed(operation, len(functions[name].parameters))
            functions[name] = replace(functions[name], fixed=fixed)
        return StablehloModule(functions)

    def _fixed(self, operation: Any, count: int) -> tuple[int | None, ...]:
        """Which parameters no call gives. The platform of a module that JAX exports for several
        chooses between forms of one function: the first is taken."""
        if "arg_attrs" not in operation.attributes:
            return (None,) * count
        texts = [str(one) for one in operation.attributes["arg_attrs"]]
        return tuple(0 if "_platform_index" in text else None for text in texts)

    def _function(
        self, name: str, region: Any, outer: dict[Any, int], public: bool = True
    ) -> Function:
        blocks = list(region.blocks)
        if not blocks:
            raise _no_module(f"@{name} is declared, and has no body")
        if len(blocks) != 1:
            raise _no_module(f"@{name} has {len(blocks)} blocks; control flow is refused")
        values = dict(outer)

        def number(value: Any) -> int:
            if value not in values:
                values[value] = len(values)
            found: int = values[value]
            return found

        parameters = tuple(number(x) for x in blocks[0].arguments)
        types = tuple(str(x.type) for x in blocks[0].arguments)
        operations: list[Operation] = []
        results: tuple[int, ...] = ()
        for one in blocks[0].operations:
            operation = one.operation
            operands = tuple(values[x] for x in operation.operands)
            if operation.name in _RETURNS:
                results = operands
                continue
            regions = tuple(
                self._function(operation.name, inner, values) for inner in operation.regions
            )
            operations.append(
                Operation(
                    operation.name,
                    operands,
                    tuple(number(x) for x in operation.results),
                    tuple(str(x.type) for x in operation.results),
                    self._attributes(operation),
                    regions,
                    _location(operation) or f"operation {len(operations)} of @{name}",
                )
            )
        return Function(name, parameters, types, tuple(operations), results, public)

    def _attributes(self, operation: Any) -> dict[str, Any]:
        if operation.name.endswith(".constant"):
            return {"value": operation.get_asm(use_local_scope=True)}
        found = {}
        for name in operation.attributes:
            key = name if isinstance(name, str) else name.name
            found[key] = self._attribute(operation.attributes[key])
        return found

    def _attribute(self, value: Any) -> Any:
        ir = self._ir
        if isinstance(value, ir.BoolAttr):
            return bool(value.value)
        if isinstance(value, ir.IntegerAttr):
            return int(value.value)
        if isinstance(value, (ir.StringAttr, ir.FlatSymbolRefAttr)):
            return str(value.value)
        if isinstance(value, (ir.DenseI64ArrayAttr, ir.DenseIntElementsAttr)):
            return tuple(int(n) for n in value)
        matched = _ENUMERATED.fullmatch(str(value))
        return matched[1] if matched else str(value)


def _location(operation: Any) -> str:
    """File and line of the source, or what the producer calls the operation."""
    text = str(operation.location)
    matched = _LOCATION.search(text)
    if matched is not None:
        name = os.path.basename(matched[1])
        return f"line {matched[2]}" if name in ("-", "") else f"{name}:{matched[2]}"
    named = _NAMED.search(text)
    return named[1] if named else ""
