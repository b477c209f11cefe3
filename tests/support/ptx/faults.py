"""What ends an execution of PTX: text that is not known, and what a GPU would fault on."""

from __future__ import annotations


class RefusedError(Exception):
    """PTX that this interpreter does not know; the message names it."""


class ExecutionFault(AssertionError):
    """What a GPU faults on, never ends, or leaves to chance."""
