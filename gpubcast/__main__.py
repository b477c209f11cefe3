"""``python -m gpubcast``."""

from __future__ import annotations

import sys

from gpubcast.cli.main import main

sys.exit(main())
