"""What XLA and jax.lax say of reductions, asked of JAX 0.10.2: ``tests/corpora/reductions.jsonl``.

Run as a program (``python -m tests.support.xla_reductions``), which needs JAX and imports nothing
of gpubcast, this module writes the file again, byte for byte; its form is in
``tests/corpora/README.md``. Two layers speak. *xla* is XLA's HLO parser, which infers the shape of
an instruction that states none (``ShapeInference::InferReduceShape`` and, of the reducer,
``InferBinaryOpShape``), then XLA's CPU compiler. *jax* is ``jax.lax``: its own checks in Python, up
to the lowering to StableHLO, and its initial values; *jnp* is ``jax.numpy`` before it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import reduction_cases as cases
from tests.support.reduction_cases import Array, dtype_of, hexadecimal

FILE = Path(__file__).resolve().parents[1] / "corpora" / "reductions.jsonl"
VERSION = "0.10.2"

REDUCE = """HloModule m
reducer {{
  a = {type}[] parameter(0)
  b = {type}[] parameter(1)
  ROOT c = {opcode}(a, b)
}}
ENTRY e {{
  x = {operand} parameter(0)
  i = {type}[] {initial}
  ROOT r = reduce(x, i), dimensions={{{axes}}}, to_apply=reducer
}}
"""
# XLA's own lowering of ArgMax and ArgMin (xla/hlo/builder/lib/arithmetic.cc): the index is s32,
# and converted last.
ARG = """HloModule m
reducer {{
  a = {type}[] parameter(0)
  i = s32[] parameter(1)
  b = {type}[] parameter(2)
  j = s32[] parameter(3)
  first = compare(a, b), direction={direction}
  equal = compare(a, b), direction=EQ
  value = select(first, a, b)
  index = select(first, i, j)
  least = minimum(i, j)
  chosen = select(equal, least, index)
  ROOT pair = tuple(value, chosen)
}}
ENTRY e {{
  x = {operand} parameter(0)
  y = s32[{dims}] iota(), iota_dimension={axis}
  i = {type}[] parameter(1)
  z = s32[] constant(0)
  r = reduce(x, y, i, z), dimensions={{{axis}}}, to_apply=reducer
  {root} get-tuple-element(r), index=1{convert}
}}
"""

_SHAPE = re.compile(
    r"\b(?:pred|bool|[a-z]{1,2}\d+[a-z\d]*|u?int\d+|b?float\d+\w*|complex\d+)\[[\d,]*\](?:\{[^}]*\})?"
)
# XLA's upper-case names, and the dtypes that jax found, not those that its texts always name.
_TYPE = re.compile(
    r"\b(?:PRED|[SUFC]\d+[A-Z\d]*|BF16)\b"
    r"|(?<=accept dtype )\w+|(?<=but got )[a-z]\w+|(?<=int, got )\w+"
)


def template(message: str) -> str:
    """The message with shapes, lists, operations, types and numbers blanked: its kind."""
    text = re.sub(r"\breduce_\w+", "<op>", message)
    text = re.sub(r"\bfor operation \w+", "for operation <op>", text)
    text = re.sub(r"^(?:lt|gt)(?= does not accept)", "<op>", text)
    text = _SHAPE.sub("<shape>", text)
    text = re.sub(r"(?<=shape[ =])\([\d, ]*\)", "<list>", text)
    text = re.sub(r"(?<=axes )\([-\d, ]*\)|(?<=: )\([-\d, ]*\)$", "<list>", text)
    text = _TYPE.sub("<type>", text)
    return re.sub(r"(?<![\w<])-?\d+\b", "<n>", text)


def refusal(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "template": template(message), "message": message}}


class Xla:
    """XLA without JAX in front: HLO text is parsed, inferred, compiled and run."""

    def __init__(self) -> None:
        import jax
        from jax._src import xla_bridge
        from jaxlib import _hlo, _jax

        self.jax, self.hlo, self.extension = jax, _hlo, _jax
        self.client = xla_bridge.get_backend("cpu")

    def text(self, op: str, operand: str, given: dict[str, Any], initial: str) -> str:
        kind, dims = re.match(r"(\w+)\[([\d,]*)\]", operand).groups()  # type: ignore[union-attr]
        if op in cases.OPCODES:
            axes = ",".join(map(str, given["axes"]))
            opcode = cases.OPCODES[op]
            return REDUCE.format(
                type=kind, opcode=opcode, operand=operand, axes=axes, initial=initial
            )
        axis, to, root, convert = given["axis"], given["index_dtype"], "ROOT g =", ""
        if to != "s32":
            left = [n for d, n in enumerate(dims.split(",")) if d != axis]
            root, convert = "g =", f"\n  ROOT c = {to}[{','.join(left)}] convert(g)"
        return ARG.format(
            type=kind, direction="GE" if op == "argmax" else "LE", operand=operand, dims=dims,
            axis=axis, root=root, convert=convert,
        )  # fmt: skip

    def inferred(self, op: str, operand: str, given: dict[str, Any]) -> dict[str, Any]:
        """The shape that XLA infers, or its refusal."""
        try:
            module = self.hlo.hlo_module_from_text(
                self.text(op, operand, given, "parameter(1)")
            ).to_string()
        except RuntimeError as e:
            found = re.search(r"failed to infer shape for opcode: [\w-]+, error: (.*)", str(e))
            if found is None:
                raise
            return refusal(str(e).split(":")[0], found[1])
        return {"ok": re.search(r"ROOT %[rgc] = (\S+) ", module.split("ENTRY")[1])[1]}  # type: ignore[index]

    def compiled(self, op: str, operand: str, given: dict[str, Any], initial: str) -> Any:
        module = self.hlo.hlo_module_from_text(self.text(op, operand, given, initial))
        proto = self.hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        mlir = self.extension.mlir.xla_computation_to_mlir_module(proto)
        devices = self.extension.DeviceList(tuple(self.client.local_devices()[:1]))
        return self.client.compile_and_load(mlir, devices, self.extension.CompileOptions())

    def value(self, op: str, x: Array, axes: Sequence[int], initial: str) -> Array:
        operand = f"{cases.name_of(x.dtype)}[{','.join(map(str, x.shape))}]"
        program = self.compiled(op, operand, {"axes": list(axes)}, f"constant({initial})")
        results = program.execute_sharded([self.jax.device_put(x)])
        return np.asarray(results.disassemble_into_single_device_arrays()[0][0])


class Lax:
    """jax.lax: what its checks in Python say, and its values."""

    def __init__(self) -> None:
        import jax

        self.jax = jax

    def function(self, op: str, given: dict[str, Any]) -> Callable[[Any], Any]:
        if "axes" in given:
            return functools.partial(getattr(self.jax.lax, op), axes=tuple(given["axes"]))
        to = dtype_of(given["index_dtype"])
        return functools.partial(getattr(self.jax.lax, op), axis=given["axis"], index_dtype=to)

    def inferred(self, op: str, operand: str, given: dict[str, Any]) -> dict[str, Any]:
        """The shape that jax.lax infers, or the refusal of its checks or of its lowering."""
        kind, dims = re.match(r"(\w+)\[([\d,]*)\]", operand).groups()  # type: ignore[union-attr]
        sizes = tuple(int(n) for n in dims.split(",") if n)
        x = self.jax.ShapeDtypeStruct(sizes, dtype_of(kind))
        function = self.function(op, given)
        try:
            out = self.jax.eval_shape(function, x)
            self.jax.jit(function).lower(x)
        except Exception as e:
            text = str(e)
            if text.startswith("Cannot lower jaxpr with verifier errors"):
                return refusal("StableHLO", text.splitlines()[1].strip())
            return refusal(type(e).__name__, text.splitlines()[0])
        name, order = cases.name_of(out.dtype), ",".join(map(str, range(len(out.shape))[::-1]))
        layout = f"{{{order}}}" if out.shape else ""
        return {"ok": f"{name}[{','.join(map(str, out.shape))}]{layout}"}

    def value(self, op: str, x: Array, given: dict[str, Any]) -> Array:
        return np.asarray(self.jax.jit(self.function(op, given))(x))

    def numpy_value(self, op: str, x: Array, given: dict[str, Any]) -> Array:
        """That of jax.numpy, which accumulates f16 and bf16 in f32 and rounds once."""
        function = getattr(self.jax.numpy, op.removeprefix("reduce_"))
        return np.asarray(function(x, axis=tuple(given["axes"])))


def shape_rows(xla: Xla, lax: Lax) -> Iterator[dict[str, Any]]:
    for tag, op, operand, given, layers in cases.shapes():
        common = {"part": "shape", "tag": tag, "op": op, "operand": operand, **given}
        if "xla" in layers:
            yield {**common, "source": "xla", **xla.inferred(op, operand, given)}
        if "jax" in layers:
            yield {**common, "source": "jax", **lax.inferred(op, operand, given)}


def value_rows(xla: Xla, lax: Lax) -> Iterator[dict[str, Any]]:
    for tag, op, x, given in cases.values():
        source = "jax" if cases.jax_takes(op, cases.name_of(x.dtype)) else "xla"
        if tag == "accumulate" and x.dtype in (dtype_of("f16"), dtype_of("bf16")):
            source, out = "jnp", lax.numpy_value(op, x, given)
        elif source == "jax":
            out = lax.value(op, x, given)
        else:
            out = xla.value(op, x, given["axes"], cases.initial(op, cases.name_of(x.dtype)))
        row = {
            "part": "value", "tag": tag, "op": op, "type": cases.name_of(x.dtype),
            "dims": list(x.shape), **given, "source": source, "bits": hexadecimal(x),
            "out": {
                "type": cases.name_of(out.dtype), "dims": list(out.shape), "bits": hexadecimal(out)
            },
        }  # fmt: skip
        departs = cases.departures(op, x, given, out)
        yield row | ({"quirk": departs} if departs else {})


def write() -> None:
    """Ask XLA and jax, and write the file."""
    import jax

    assert jax.__version__ == VERSION, f"JAX {jax.__version__} is not {VERSION}"
    jax.config.update("jax_enable_x64", True)
    xla, lax = Xla(), Lax()
    rows = [*shape_rows(xla, lax), *value_rows(xla, lax)]
    with FILE.open("w", encoding="utf-8") as file:
        for i, row in enumerate(rows):
            text = json.dumps({"id": f"reductions/{i:05}", **row}, separators=(",", ":"))
            file.write(text + "\n")


if __name__ == "__main__":
    write()
