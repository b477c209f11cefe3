"""Check a built site: ``python -m tools.site.check build/docs/html``.

Every link within the site leads to a page and to a place that is there, and no page needs the
network: styles, scripts and pictures are the site's own.
"""

from __future__ import annotations

import posixpath
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads with a page, by element.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
# Links of the <head> that nothing is loaded from.
NAMED = frozenset(("canonical", "next", "prev", "search", "index", "author", "copyright"))


class Page(HTMLParser):
    """The links of a page, the places that links may lead to, and what is loaded with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        kept = tag != "link" or given.get("rel") not in NAMED
        if kept and given.get(LOADED.get(tag, "")):
            self.loaded.append(given[LOADED[tag]])


def _html(folder: Path) -> list[Path]:
    """The pages; what the theme keeps among its styles is none."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]


def faults(folder: Path) -> list[str]:
    """What is wrong with the site in a folder, a line for each link."""
    pages = {
        path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in _html(folder)
    }
    found = []
    for name, page in pages.items():
        for target in page.loaded:
            if urlsplit(target).netloc:
                found.append(f"{name}: loads {target} from the network")
        for target in dict.fromkeys((*page.links, *page.loaded)):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            there = there if parts.path else name
            if not (folder / there).is_file():
                found.append(f"{name}: {target} leads to no file")
                continue
            places = pages[there].places if there in pages else set()
            if there in pages and parts.fragment and unquote(parts.fragment) not in places:
                found.append(f"{name}: {target} leads to no place of that page")
    return found


def main(arguments: list[str]) -> int:
    """Print the faults of a site; 1 if there are any."""
    (folder,) = map(Path, arguments)
    found = faults(folder)
    print(*found, sep="\n", end="\n" if found else "")
    pages = len(_html(folder))
    print(f"{pages} pages, {len(found)} faults")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
