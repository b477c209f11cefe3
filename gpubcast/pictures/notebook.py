"""What notebooks show of an object: text, HTML and a picture, of at most 20,000 bytes."""

from __future__ import annotations

from html import escape

from gpubcast.pictures import svg

MOST_BYTES = 20_000


def bundle(text: str, head: str, body: str, *pictures: str) -> dict[str, str]:
    """The object as text, as HTML and as an image.

    Args:
        text: its ``repr``.
        head: what it is, in a line.
        body: more of it, a line each: values, labels.
        pictures: SVG, of which the first is the image.
    """
    drawn = [one for one in pictures if one]
    plain = _cut(text)
    lines = f"<pre>{escape(_cut(body))}</pre>" if body else ""
    made = {"text/plain": plain, "text/html": ""}
    while True:
        figures = "".join(f"<div>{one}</div>" for one in drawn)
        made["text/html"] = (
            '<div class="gpubcast" style="font:13px/1.45 ui-monospace,monospace">'
            f"<div>{escape(head)}</div>{lines}{figures}</div>"
        )
        if drawn:
            made["image/svg+xml"] = svg.alone(drawn[0])
        if size(made) <= MOST_BYTES or not drawn:
            return made
        drawn.pop()
        made.pop("image/svg+xml")


def size(made: dict[str, str]) -> int:
    """How many bytes a bundle has."""
    return sum(len(one.encode()) for one in made.values())


def _cut(text: str, most: int = 3000) -> str:
    """A text whose middle is left out where it is long."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n...\n{text[-most // 2 :]}"
