"""Measurements: one table of cases, measured in the same way on every device.

``cases`` holds the table, ``peers`` how users of each library write it, ``checks`` what is right,
``timing``, ``ceilings`` and ``memory`` the measuring, ``runner`` a run, ``report`` what it shows;
``README.md`` names them all.
"""
