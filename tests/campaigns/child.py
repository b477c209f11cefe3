"""The process of one seed: ``python -m tests.campaigns.child CAMPAIGN SEED LOG [FAULT]``."""

from __future__ import annotations

import importlib
import os
import random
import sys
import traceback
import warnings
from pathlib import Path

import gpubcast as gb
from tests.campaigns.log import Log


def main(name: str, seed: str, path: str, fault: str = "") -> None:
    """Run a campaign's seed, with a fault planted or none."""
    # Repeated calls and large expressions warn as they should.
    warnings.simplefilter("ignore", gb.CacheWarning)
    warnings.simplefilter("ignore", gb.SplitWarning)
    until: tuple[str, ...] = ()
    if fault:
        from tests.campaigns import planted_faults

        planted = planted_faults.PLANTED[fault]
        planted.plant()
        until = planted.found
    log = Log(Path(path), until)
    log.note("the begin")
    importlib.import_module(f"tests.campaigns.{name}").run(log, random.Random(int(seed)))
    log.end()


if __name__ == "__main__":
    status = 1
    try:
        main(*sys.argv[1:])
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # Arrays that are still alive would be freed by a handler that is gone already.
        os._exit(status)
