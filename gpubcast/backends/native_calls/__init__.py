"""A repeated call: its record, and the two that replay it, Python and machine code."""
