"""Pictures of memory, alignment, schedules and stages, of plain numbers and texts, as SVG; and what
notebooks show.

A picture takes the colour of the text around it, so that it is right on light and on dark pages and
in print; every one says in words what it shows.
"""
