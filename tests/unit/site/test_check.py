"""The check of a built site, and the links between the repository's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import check, links

GOOD = (
    '<h1 id="top">x</h1><a href="#top">up</a><a href="sub/b.html#b">b</a><img src="_static/x.svg">'
)


def built(folder: Path, page: str) -> Path:
    (folder / "sub").mkdir()
    (folder / "_static").mkdir()
    (folder / "_static/x.svg").write_text("<svg/>")
    (folder / "a.html").write_text(page)
    (folder / "sub/b.html").write_text('<p id="b"></p><a href="../a.html">a</a>')
    return folder


def test_a_good_site_has_no_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([str(built(tmp_path, GOOD))]) == 0
    assert capsys.readouterr().out == "2 pages, 0 faults\n"


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="c.html">', "a.html: c.html leads to no file"),
        ('<a href="#no">', "a.html: #no leads to no place of that page"),
        ('<a href="sub/b.html#no">', "a.html: sub/b.html#no leads to no place of that page"),
        ('<img src="no.svg">', "a.html: no.svg leads to no file"),
        ('<script src="https://cdn.example/x.js">', "loads https://cdn.example/x.js from the net"),
        ('<link rel="stylesheet" href="//cdn.example/x">', "loads //cdn.example/x from the net"),
    ],
)
def test_a_fault_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str, fault: str
) -> None:
    assert check.main([str(built(tmp_path, page))]) == 1
    assert fault in capsys.readouterr().out


def test_a_folder_without_pages_is_no_site(tmp_path: Path) -> None:
    assert check.main([str(tmp_path)]) == 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[a](rules.md#x)", "[a](../rules.md#x)"),
        ("[a](../examples/README.md)", "[a](../gallery/index.md)"),
        ("[a](../examples/softmax.py)", "[a](../gallery/softmax.md)"),
        ("[a](../examples/gallery.py)", "a"),
        ("[a](../gpubcast/nn.py)", "a"),
        ("[a](#here) [b](https://x.org/y)", "[a](#here) [b](https://x.org/y)"),
        ("```\n[a](../no.md)\n```", "```\n[a](../no.md)\n```"),
    ],
)
def test_links_of_files_lead_to_pages(text: str, written: str) -> None:
    assert links.on_site(text, "docs/x.md", "project/x.md") == written


def test_every_page_for_a_file_is_for_one_that_is_there(repository: Path) -> None:
    for source in links.PAGES:
        assert (repository / source).is_file(), source
