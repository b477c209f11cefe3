"""What tells one processor from another without asking LLVM."""

from __future__ import annotations

import builtins
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llvmlite import binding

from gpubcast.backends.cpu import processor

X86 = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: A Processor
stepping\t: 8
cache size\t: 491520 KB
cpu MHz\t\t: {mhz}
flags\t\t: fpu sse2 {flags}

processor\t: 1
flags\t\t: none
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50\nFeatures\t: fp asimd\nCPU part\t: {part}\n"


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    processor.identity.cache_clear()
    yield
    processor.identity.cache_clear()


def told(
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    asked: Callable[[], Any] = processor.identity,
) -> Any:
    real = builtins.open

    def opened(path: Any, *rest: Any, **more: Any) -> Any:
        if path != "/proc/cpuinfo":
            return real(path, *rest, **more)
        if text is None:
            raise FileNotFoundError(path)
        return io.StringIO(text)

    processor.identity.cache_clear()
    monkeypatch.setattr(builtins, "open", opened)
    found = asked()
    monkeypatch.undo()
    return found


def test_instructions_and_model_decide_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    one = told(monkeypatch, X86.format(mhz="1000", flags="avx512f"))
    assert "flags: fpu sse2 avx512f" in one and not any("MHz" in fact for fact in one)
    assert told(monkeypatch, X86.format(mhz="2000", flags="avx512f")) == one
    assert told(monkeypatch, X86.format(mhz="1000", flags="avx2")) != one
    parts = {told(monkeypatch, ARM.format(part=part)) for part in ("0xd40", "0xd4f", "0xd40")}
    assert len(parts) == 2


@pytest.mark.parametrize(
    ("name", "size", "between"),
    [
        ("rocketlake", "491520 KB", True),
        ("sapphirerapids", "491520 KB", True),
        ("rocketlake", "115200 KB", False),
        ("sapphirerapids", "327680 KB", False),
        ("znver4", "491520 KB", False),
        ("sapphirerapids", "unknown", False),
    ],
)
def test_the_last_cache_tells_a_granite_rapids(
    name: str, size: str, between: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose kernels are others, so that its cache is a part of what tells processors apart."""
    text = X86.format(mhz="1000", flags="avx512f")
    other = text.replace("491520 KB", size)
    assert (told(monkeypatch, other) == told(monkeypatch, text)) is (other == text)
    target = processor._Target("x86_64-unknown-linux-gnu", name, frozenset(("+avx512f",)))
    monkeypatch.setattr(processor, "_target", lambda: target)
    assert told(monkeypatch, other, processor.asks_between) is between


@pytest.mark.parametrize("text", [None, "", "processor\t: 0\nisa\t: rv64\n"])
def test_llvm_is_asked_where_the_system_says_nothing(
    monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    assert told(monkeypatch, text)[0] == binding.get_host_cpu_name()


def test_the_processor_has_a_name() -> None:
    found = processor.processor()
    assert found.model and found.llvm_name == binding.get_host_cpu_name()
    assert set(found.features) <= set(processor._TELLING)
