"""What a report looks like: in a terminal, as a page, a picture, Markdown and CSV."""
