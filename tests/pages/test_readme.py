"""The README's figures are what committed reports give, and follow from each other."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import gpubcast as gb
from bench import readme
from bench.report import text as texts
from bench.schema import load
from bench.targets import Targets
from tools import pictures


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A README with markers, beside the reports."""
    (tmp_path / "bench").mkdir()
    shutil.copytree(repository / "bench/results", tmp_path / "bench/results")
    (tmp_path / "README.md").write_text(f"before\n\n{readme.BEGIN}\nold\n{readme.END}\n\nafter\n")
    return tmp_path


def test_the_readme_of_this_project_is_what_its_reports_give(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    assert readme.main(["--check"]) == 0


def test_the_section_is_written_between_its_markers(checkout: Path) -> None:
    path = checkout / "README.md"
    words = ["--readme", str(path)]
    assert readme.main([*words, "--check"]) == 1
    assert readme.main(words) == 0
    text = path.read_text()
    assert text.startswith(f"before\n\n{readme.BEGIN}\n\n**Broadcasting, ")
    assert text.endswith(f"\n\n{readme.END}\n\nafter\n")
    assert "\nold\n" not in text
    assert readme.main([*words, "--check"]) == 0
    assert readme.main(words) == 0
    assert path.read_text() == text


def test_a_changed_report_is_noticed(checkout: Path) -> None:
    words = ["--readme", str(checkout / "README.md")]
    assert readme.main(words) == 0
    for path, old, new in (
        (readme.COLD, "| all of it | ", "\\g<0>1"),
        (readme.FUNCTIONS["AVX2"], "Geometric mean of NumPy's times to ours: ", "\\g<0>1"),
    ):
        before = (checkout / path).read_text()
        changed = re.sub(re.escape(old), new, before)
        assert changed != before
        (checkout / path).write_text(changed)
        assert readme.main([*words, "--check"]) == 1
        (checkout / path).write_text(before)
    assert readme.main([*words, "--check"]) == 0


def test_a_report_of_a_modified_checkout_is_refused(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--readme", str(checkout / "README.md")]
    for path in (readme.PATTERNS, readme.GRADIENTS, readme.GPU):
        before = (checkout / path).read_text()
        changed = re.sub(r"(revision\W+[0-9a-f]{40})", r"\1-dirty", before)
        assert changed != before
        (checkout / path).write_text(changed)
        assert readme.main(words) == 2
        assert "from a modified checkout" in capsys.readouterr().err
        (checkout / path).write_text(before)


def milliseconds(cell: str) -> float:
    number, unit = re.findall(r"^([\d.]+) ?(ns|us|ms|s)?\b", cell)[0]
    return float(number) * {"ns": 1e-6, "us": 1e-3, "s": 1e3}.get(unit, 1.0)


def test_every_ratio_follows_from_the_times_beside_it(repository: Path) -> None:
    """As far as three digits go."""
    section = readme.section(repository)
    found = 0
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        ratios = [cell for cell in cells if cell.endswith("x)")]
        if not ratios:
            continue
        ours = next(cell for cell in cells[1:] if re.match(r"[\d.]+( [munμ]?s)?$", cell))
        for cell in ratios:
            stated = float(re.findall(r"\(([\d.]+)x\)", cell)[0])
            assert milliseconds(cell) / milliseconds(ours) == pytest.approx(stated, rel=0.012)
            found += 1
    shown = len(readme.CASES) + len(readme.REDUCED) + len(readme.SHOWN)
    assert found == 3 * shown - 1 + 2 * len(readme.ON_GPU)  # NumPy has no erf


def test_the_means_and_what_is_behind_follow_from_the_reports_rows(repository: Path) -> None:
    for path in readme.FUNCTIONS.values():
        page = (repository / path).read_text()
        behind, product, count = [], 1.0, 0
        for name, row in readme.table_of(page).items():
            times = [float(row[x]) for x in ("NumPy", "PyTorch", "jax.jit") if row[x] != "-"]
            if min(times) < 0.985 * float(row["gpubcast"]):
                behind.append(name)
            if row["NumPy"] != "-":
                product *= float(row["NumPy"]) / float(row["gpubcast"])
                count += 1
        (mean,) = re.findall(r"times to ours: ([\d.]+)\.$", page, re.MULTILINE)
        assert float(mean) == pytest.approx(product ** (1 / count), rel=5e-3)
        (said,) = re.findall(r"^Slower than the best of them: (.*)\.$", page, re.MULTILINE)
        assert set(behind) <= set(re.findall(r"([a-z_\d]+ f\d\d) \(", said))


def test_the_page_of_the_patterns_is_what_their_report_gives(repository: Path) -> None:
    report = load(repository / readme.PATTERNS)
    targets = Targets.load(repository / "bench/targets.json")
    page = texts.markdown(report, list(targets.verdicts(report)), targets.processor)
    assert page == (repository / readme.PATTERNS.with_suffix(".md")).read_text(encoding="utf-8")


def test_the_readme_needs_its_markers(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkout / "README.md"
    for text in ("", f"{readme.END}{readme.BEGIN}", f"{readme.BEGIN}{readme.END}{readme.BEGIN}"):
        path.write_text(text)
        assert readme.main(["--readme", str(path)]) == 2
        assert readme.BEGIN in capsys.readouterr().err
        assert path.read_text() == text
    assert readme.main(["--readme", str(checkout / "missing.md")]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_first_calls_need_another_revision_beside_them(repository: Path) -> None:
    page = (repository / readme.COLD).read_text()
    alone = "\n".join(line for line in page.splitlines() if not line.startswith("earlier is "))
    with pytest.raises(gb.Error, match=r"cold-.*: no other revision is beside this one"):
        list(readme.first_calls(alone))


def test_a_row_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    monkeypatch.setattr(readme, "CASES", ("no such case",))
    with pytest.raises(gb.Error, match="no such case, f32, 64Mi"):
        readme.section(repository)


def test_the_picture_is_what_the_module_draws() -> None:
    assert pictures.README.read_text(encoding="utf-8") == pictures.readme()


def test_every_link_leads_to_a_file(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text)
    assert len(links) > 20
    assert [link for link in links if not (repository / link).exists()] == []
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.splitlines() if line.startswith("#")
    }  # fmt: skip
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings
