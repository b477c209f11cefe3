"""The command line: ``gpubcast demo | explain | bench | doctor | cache``.

Exit codes: 0 done; 1 a check failed; 2 the call was refused, or the arguments are wrong; 130
interrupted; 141 the reader of a pipe has gone.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import gpubcast as gb
from gpubcast.cli import stablehlo
from gpubcast.fusion.fused_function import Fused
from gpubcast.hlo import ops
from gpubcast.hlo.attributes import Attribute
from gpubcast.typing import OperationName

REFUSED, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
SMALLEST_DEMO = 8
# Large enough that no case is special at its size.
WARM_BYTES = 1 << 22


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        # A stream that cannot show an arrow shows a question mark; nothing stops for it.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if words[:1] == ["bench"]:
            code: int = _bench("command").run(words[1:], "gpubcast bench")
        else:
            given = parser().parse_args(words)
            code = given.run(given)
        sys.stdout.flush()
    except gb.Error as error:
        print(error, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more on its way out, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code


def parser() -> argparse.ArgumentParser:
    """The commands and their options; those of operations come from the operation table."""
    top = argparse.ArgumentParser(
        prog="gpubcast",
        description="Elementwise operations with XLA's broadcasting rules, on GPUs and CPUs.",
    )
    top.add_argument("--version", action="version", version=f"gpubcast {gb.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="run, check and time broadcast operations here")
    demo.add_argument("--device", choices=("cpu", "cuda"), help="default: a GPU if one is usable")
    demo.add_argument(
        "--size", type=_size, default=2048, metavar="N", help="side of the matrices (2048)"
    )
    demo.set_defaults(run=_demo)

    explain = commands.add_parser(
        "explain",
        help="show how an operation is planned and launched",
        description="Show how operands align, how axes merge, where elements lie in memory and "
        "how kernels are launched. Nothing is run, and no GPU is needed.",
        epilog="example: gpubcast explain add 'f32[2,3]' 'f32[3]' --broadcast-dimensions 1",
    )
    explain.add_argument("op", metavar="OP", help="an operation, e.g. add")
    explain.add_argument("shapes", nargs="*", metavar="SHAPE", help="e.g. 'f32[8,1]{0,1}'")
    _add_attributes(explain)
    explain.add_argument("--layout", help="of the result, e.g. '{0,1:pad(3,5,zero)}'")
    explain.add_argument("--arch", default="sm_90", help="GPU architecture (sm_90)")
    explain.add_argument("--source", action="store_true", help="show the generated source too")
    explain.add_argument("--html", type=Path, metavar="FILE", help="write HTML instead of text")
    explain.add_argument("--json", action="store_true", help="for machines")
    explain.set_defaults(run=_explain)

    # Its options are its own: main hands over to it before this parser reads them.
    commands.add_parser("bench", help="measure operations beside NumPy and other libraries")

    doctor = commands.add_parser("doctor", help="report what is installed and whether it works")
    doctor.add_argument("--json", action="store_true", help="for machines")
    doctor.set_defaults(run=_doctor)
    _add_cache(commands.add_parser("cache", help="list, make and remove compiled kernels"))
    stablehlo.add(commands.add_parser("stablehlo", help="run and explain StableHLO modules"))
    return top


def _add_cache(cache: argparse.ArgumentParser) -> None:
    actions = cache.add_subparsers(required=True, metavar="ACTION")
    listing = actions.add_parser("ls", help="show what is kept and where")
    listing.set_defaults(run=_cache_list)
    warming = actions.add_parser(
        "warm",
        help="compile kernels beforehand",
        description="Compile the kernels of an operation or of a fused function on given shapes, "
        "or those of the benchmark's cases, into the cache. A kernel serves all sizes of its "
        "pattern; where a size is ?, every pattern that sizes decide on is made. No GPU is needed.",
        epilog="examples: gpubcast cache warm add 'f32[64,64]' 'f32[1,64]' --arch sm_90; "
        "gpubcast cache warm my.module:layernorm 'f32[?,?]' 'f32[?]' 'f32[?]'",
    )
    warming.add_argument(
        "op", nargs="?", metavar="OP",
        help="an operation, or module:function; default: the benchmark's cases",
    )  # fmt: skip
    warming.add_argument(
        "shapes", nargs="*", metavar="SHAPE", help="e.g. 'f32[8,1]{0,1}' or 'f32[?,?]'; or a number"
    )
    warming.add_argument(
        "--arch",
        action="append",
        metavar="sm_90",
        help="a GPU architecture; may be repeated; default: those of the GPUs that are here",
    )
    warming.add_argument("--no-cpu", action="store_true", help="no kernels of this processor")
    _add_attributes(warming)
    warming.set_defaults(run=_cache_warm)
    clearing = actions.add_parser("clear", help="remove compiled kernels")
    clearing.add_argument("--device", choices=("cpu", "cuda"), help="default: both")
    clearing.set_defaults(run=_cache_clear)


def _add_attributes(command: argparse.ArgumentParser) -> None:
    for name, attribute in _keywords().items():
        flag = f"--{name.replace('_', '-')}"
        python = attribute.type.python
        if python is bool:
            command.add_argument(flag, dest=f"attribute_{name}", action="store_const", const=True)
        else:
            read = int if python is int else _value
            command.add_argument(flag, dest=f"attribute_{name}", type=read, metavar="VALUE")


def _attributes(given: argparse.Namespace) -> dict[str, Any]:
    """The keywords that were given."""
    named = {name: getattr(given, f"attribute_{name}") for name in attribute_names()}
    return {name: value for name, value in named.items() if value is not None}


def attribute_names() -> tuple[str, ...]:
    """The keywords that operations take, each once."""
    return tuple(_keywords())


def _keywords() -> dict[str, Attribute]:
    """The keywords that operations take, by name; one that several take has one type."""
    return {attribute.name: attribute for row in ops.OPS.values() for attribute in row.keywords}


def _value(text: str) -> Any:
    """A list of integers (``1``, ``1,2``, ``(1, 2)``, empty) or a word."""
    inner = re.sub(r"\s", "", text).removeprefix("(").removesuffix(")")
    if re.fullmatch(r"(-?\d+(,-?\d+)*,?)?", inner):
        return tuple(int(number) for number in inner.split(",") if number)
    return text


def _size(text: str) -> int:
    if not text.isdigit() or int(text) < SMALLEST_DEMO:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least {SMALLEST_DEMO}")
    return int(text)


def _demo(given: argparse.Namespace) -> int:
    from gpubcast.cli import demo

    return demo.run(given.device, given.size)


def _bench(name: str) -> ModuleType:
    """A module of the benchmarks, imported when asked for: a wheel has them as ``_bench``, and a
    checkout as the folder ``bench`` beside the package."""
    packaged = f"{gb.__name__}._bench"
    return import_module(f"{packaged if find_spec(packaged) else 'bench'}.{name}")


def _doctor(given: argparse.Namespace) -> int:
    from gpubcast.cli import doctor

    return doctor.run(machine_readable=given.json)


def _cache_list(given: argparse.Namespace) -> int:
    from gpubcast import config
    from gpubcast.cli import cache as cli_cache

    found = cli_cache.cached()
    print(config.cache_dir())
    for one in found:
        count = len(one.files)
        plural = "s" * (count != 1)
        print(
            f"  {one.device:4} {one.arch:8} {count:6,} kernel{plural:1} {one.num_bytes:12,} bytes"
        )
    if not found:
        print("  empty")
    return 0


def _cache_warm(given: argparse.Namespace) -> int:
    from gpubcast.backends.cuda import driver
    from gpubcast.cli import cache as cli_cache
    from gpubcast.runtime.target import checked_arch

    archs = [checked_arch(arch) for arch in given.arch or ()]
    if not archs:
        archs = sorted({gpu.arch for gpu in driver.probe().gpus})
    if given.no_cpu and not archs:
        raise gb.Error("nothing to make: name a GPU architecture with --arch")
    if given.op is not None:
        from gpubcast.cli import open_shapes
        from gpubcast.runtime.target import cpu_target

        make = _planner(given.op, _attributes(given))
        plans = list(open_shapes.plans(make, given.shapes, cpu_target().streaming_bytes))
    else:
        cases = [case for case in _bench("cases").CASES if not case.huge]
        plans = [case.within(WARM_BYTES, t).plan for case in cases for t in case.dtypes]
    count, total = 0, 0.0
    for one in cli_cache.warm(plans, archs, not given.no_cpu):
        count, total = one.total, total + one.seconds
        place = f"{one.number:{len(str(one.total))}}/{one.total}"
        print(f"{place} {one.arch:8} {1e3 * one.seconds:8.1f} ms  {one.name}", flush=True)
    print(f"{count} kernels in {total:.1f} s")
    return 0


def _planner(name: str, attributes: dict[str, Any]) -> Callable[..., gb.Plan]:
    """What plans operands: an operation by its name, or a fused function as ``module:function``."""
    module, colon, function = name.partition(":")
    if not colon:
        # What is no operation's name is refused when it is planned.
        operation = cast(OperationName, name)
        return lambda *operands: gb.plan(operation, *operands, **attributes)
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found: Any = import_module(module)
        for part in function.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise gb.Error(f"{name} cannot be imported: {error}") from error
    if not isinstance(found, Fused):
        raise gb.Error(f"{name} is no fused function; decorate it with gpubcast.fuse")
    return lambda *operands: found.plan(*operands, **attributes)


def _cache_clear(given: argparse.Namespace) -> int:
    from gpubcast.cli import cache as cli_cache

    removed = cli_cache.clear(given.device)
    count = removed.kernels
    print(f"removed {count:,} kernel{'s' * (count != 1)}, {removed.num_bytes:,} bytes")
    if removed.left:
        print("left alone, since gpubcast did not write it:")
        for path in removed.left:
            print(f"  {path}")
    return 0


def _explain(given: argparse.Namespace) -> int:
    attributes = _attributes(given)
    plan = gb.plan(given.op, *given.shapes, **attributes)
    if given.layout is not None:
        result = gb.Shape.parse(plan.output_shape.text(layout=False) + given.layout)
        plan = gb.plan(given.op, *given.shapes, out_layout=result.layout, **attributes)
    explanation = plan.explain(arch=given.arch, source=given.source)
    if given.html is None:
        if given.json:
            print(explanation.to_json(indent=2))
        else:
            explanation.print()
        return 0
    try:
        given.html.write_text(explanation.html(), encoding="utf-8")
    except OSError as error:
        raise gb.Error(f"{given.html} cannot be written: {error.strerror}") from error
    print(f"wrote {given.html}")
    return 0
