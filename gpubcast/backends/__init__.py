"""Backends: where compiled kernels run. Each implements the protocol in ``base``."""
