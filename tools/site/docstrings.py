"""Docstrings in the house's style as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap

_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Example|Yields):$")
_HEADS = {"Args": "Arguments", "Example": "Example"}
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *.]*): (.*)$", re.DOTALL)


def markdown(text: str | None) -> str:
    """The docstring of a function or a class, its sections as lists, its sessions as code."""
    found: list[str] = []
    for head, body in _sections(inspect.cleandoc(text or "")):
        if head == "Example":
            found.append(f"```python\n{body}\n```")
            continue
        if head:
            found.append(f"**{_HEADS.get(head, head)}**")
        found.append(_entries(body) if head in ("Args", "Attributes", "Raises") else _prose(body))
    return "\n\n".join(found)


def _sections(text: str) -> list[tuple[str, str]]:
    """Heads and what stands below them; the text before the first has none."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        head = _SECTION.match(line)
        if head:
            found.append((head.group(1), []))
        else:
            found[-1][1].append(line)
    every = ((head, textwrap.dedent("\n".join(lines)).strip("\n")) for head, lines in found)
    return [(head, body) for head, body in every if body.strip()]


def _code(text: str) -> str:
    return text.replace("``", "`")


def _prose(text: str) -> str:
    parts = []
    for part in text.split("\n\n"):
        session = textwrap.dedent(part).lstrip().startswith(">>>")
        parts.append(f"```python\n{textwrap.dedent(part)}\n```" if session else _code(part))
    return "\n\n".join(parts)


def _entries(text: str) -> str:
    """One item for each entry; its further lines are indented."""
    items: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and items:
            items[-1] += f" {line.strip()}"
        else:
            items.append(line.strip())
    listed = []
    for item in items:
        entry = _ENTRY.match(item)
        listed.append(f"- `{entry.group(1)}`: {_code(entry.group(2))}" if entry else _code(item))
    return "\n".join(listed)
