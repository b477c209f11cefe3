"""Links between files of the repository, as links between pages of the site.

Pages are written so that their links hold in a checkout. On the site some of those files are pages
elsewhere, and others are no pages at all: their names are shown without a link.
"""

from __future__ import annotations

import posixpath
import re

# Pages of the site that show a file which is not in docs/.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "bench/README.md": "project/measuring.md",
    "bench/results/README.md": "performance/index.md",
    "cuda_kernels/README.md": "project/cuda-sources.md",
    "examples/README.md": "gallery/index.md",
}

# A script of the gallery has a page; what the scripts share has none.
_EXAMPLE = re.compile(r"examples/(?!gallery\.py)(\w+)\.py")
_LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$", re.MULTILINE | re.DOTALL)


def on_site(text: str, source: str, page: str) -> str:
    """The text of a file, its links as the site has them.

    Args:
        text: Markdown.
        source: the file's path in the repository.
        page: the page's path in ``docs/``.
    """

    def link(found: re.Match[str]) -> str:
        words, target = found.groups()
        path, mark, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return found.group()
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if file in PAGES:
            there = PAGES[file]
        elif example := _EXAMPLE.fullmatch(file):
            there = f"gallery/{example[1]}.md"
        elif file.startswith("docs/"):
            there = file.removeprefix("docs/")
        else:
            return words
        relative = posixpath.relpath(there, posixpath.dirname(page) or ".")
        return f"[{words}]({relative}{mark}{anchor})"

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(link, text[end : fence.start()]), fence.group()]
        end = fence.end()
    return "".join([*parts, _LINK.sub(link, text[end:])])
