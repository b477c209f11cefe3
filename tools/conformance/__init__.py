"""Others' conformance suites, run through gpubcast: ``python -m tools.conformance --help``."""
