"""``python -m gpubcast``."""

import sys

from gpubcast.cli import main

sys.exit(main())
