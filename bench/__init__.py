"""Measurements: one table of cases, measured in the same way on every device.

``command`` is the command line, ``schema`` the JSON of a report; ``README.md`` names the rest.
"""
