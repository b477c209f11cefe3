"""A report as text: one line per measurement, against the device's own copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def text(report: dict[str, Any]) -> str:
    """The whole report, readable without a program."""
    return "\n".join(_lines(report)) + "\n"


def summary(case: dict[str, Any]) -> str:
    """One line about one case: what was checked, or what went wrong."""
    if case["error"] is not None:
        return f"{case['name']}: FAILED: {case['error']}"
    checks = ", ".join(f"{size['size']} {_verdict(size['check'])}" for size in case["sizes"])
    return f"{case['name']}: {checks}"


def _verdict(check: dict[str, Any]) -> str:
    if check["ok"]:
        return "ok"
    return f"WRONG ({check['differing']} elements differ from {check['against']})"


def _lines(report: dict[str, Any]) -> Iterator[str]:
    environment = report["environment"]
    if report["dry_run"]:
        yield "DRY RUN on the CPU with tiny sizes: no figure here says anything about a GPU."
    gpu = environment["gpu"]
    device = gpu["name"] if gpu else environment["processor"]
    yield f"{device}; revision {environment['revision']}; {environment['time']}"
    packages = environment["packages"].items()
    yield ", ".join(f"{name} {version}" for name, version in packages if version)
    copy = 0.0
    for ceiling in report["ceilings"]:
        rate = ceiling["bytes"] / ceiling["median"]
        copy = rate if ceiling["name"] == "copy" else copy
        yield f"{ceiling['name']}: {ceiling['bytes'] >> 10} KiB moved, {rate / 1e9:.1f} GB/s"
    for case in report["cases"]:
        yield ""
        yield summary(case)
        for size in case["sizes"]:
            yield from _size(size, copy)
    if report["not_measured"]:
        yield ""
        yield f"not measured, time ran out: {', '.join(report['not_measured'])}"
    if report["lost"]:
        yield f"the device was lost in: {report['lost']}"


def _size(size: dict[str, Any], copy: float) -> Iterator[str]:
    shapes = ", ".join(size["operands"])
    yield f"  {size['size']}: {shapes} -> {size['output']}; {size['schedule']}"
    for entry in size["timings"]:
        name = f"    {entry['who']:10s} {entry['how']:27s}"
        if entry["error"] is not None:
            yield f"{name} failed: {entry['error'].splitlines()[0][:120]}"
            continue
        low, middle, high = (1e6 * entry[key] for key in ("p20", "median", "p80"))
        line = f"{name} {middle:12.2f} us  ({low:.2f} to {high:.2f}, {entry['timer']})"
        if size["size"] != "small" and copy:
            rate = size["bytes"] / entry["median"]
            line += f"  {rate / 1e9:8.1f} GB/s  {100 * rate / copy:6.1f}% of copy"
        yield line
