"""Programs of JAX that another process has compiled."""

from __future__ import annotations

import subprocess
import sys

from tests.support import doors

doors.library("jax")


def test_a_key_is_the_same_in_another_process() -> None:
    code = (
        "import gpubcast as gb, gpubcast.jax, jax, numpy as np\n"
        "f = gb.fuse('i, i -> i')(lambda x, y: x + y)\n"
        "x = np.ones(8, 'f4')\n"
        "print(jax.jit(lambda x: gpubcast.jax.call(f, x, x)).lower(x).as_text())"
    )
    texts = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert "key = " in texts[0].stdout and texts[0].stdout == texts[1].stdout


def test_without_jax_and_jaxlib_it_is_said_what_to_install() -> None:
    code = (
        "import sys\n"
        "sys.modules['jax'] = sys.modules['jaxlib'] = None\n"
        "import gpubcast as gb\n"
        "for name, given in (('from_jax', (abs, 'f32[2]')), ('from_stablehlo', ('',))):\n"
        "    try:\n"
        "        getattr(gb, name)(*given)\n"
        "    except gb.Error as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count('pip install "gpubcast[jax]"') == 2


def test_nothing_of_jax_is_loaded_before_it_is_asked_for() -> None:
    code = "import gpubcast as gb, sys; gb.add([1], [2]); gb.Fused; print('jaxlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
