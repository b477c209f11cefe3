"""Measurements: one table of cases, measured in the same way on every device.

``cases`` holds the table, ``peers`` how users of other libraries write each case, ``timing`` the
clocks, ``environment`` what a measurement was made on, ``gpu_report`` the report for a GPU.
"""
