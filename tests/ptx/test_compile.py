"""The PTX that is executed is the PTX that becomes machine code."""

from __future__ import annotations

import pytest

import gpubcast as gb
from gpubcast.errors import CompileError
from tests.support.ptx import compile as compiler

CALLS = {
    "flat": ("exp", ("f32[100003]",)),
    "rows": ("add", ("bf16[64,1024]", "bf16[1,1024]")),
    "phase": ("mul", ("u8[4096,3]", "u8[1,3]")),
    "xpose": ("sub", ("f64[64,128]", "f64[64,128]{0,1}")),
    "c128": ("div", ("c128[100003]", "c128[100003]")),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_does_not_depend_on_whether_nvrtc_goes_on(name: str, arch: str) -> None:
    function, operands = CALLS[name]
    text = gb.plan(function, *operands).cuda_source(arch)
    alone = compiler.ptx(text, arch)
    assert f".target {arch}" in alone
    assert alone == compiler.ptx(text, arch, assembled=True)


def test_the_two_architectures_have_two_compilers() -> None:
    """Why all is run twice; if one day they have one, once will do."""
    text = gb.plan("neg", "f32[100003]").cuda_source("sm_90")
    said = [compiler.ptx(text, arch).split("Based on NVVM ")[1][:4] for arch in ("sm_90", "sm_100")]
    assert said[0] != said[1]


def test_refused_source_has_nvrtcs_words() -> None:
    with pytest.raises(CompileError, match='identifier "nonsense" is undefined'):
        compiler.ptx('extern "C" __global__ void k() { nonsense; }', "sm_90")
