"""Every rule that the code cites is in docs/rules.md, and every rule there is cited and tested."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ID = re.compile(r"[A-Z]\d{1,2}[a-z]?")


def documented() -> set[str]:
    """Ids that head an entry of docs/rules.md, without B5 and D5, which only group others."""
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    ids = set(re.findall(rf"^\s*- \*\*({ID.pattern})\*\*", text, re.MULTILINE))
    return {i for i in ids if not any(o[:-1] == i and o[-1].isalpha() for o in ids)}


def refused(source: str) -> set[str]:
    """Ids in a ``raise`` statement, as an argument of a call in a class of errors, or as rule=."""
    ids: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise):
            values = [n for n in ast.walk(node) if isinstance(n, ast.Constant)]
        elif isinstance(node, ast.keyword) and node.arg == "rule":
            values = [n for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
        elif isinstance(node, ast.Call):
            values = [
                a
                for i, a in enumerate(node.args)
                if isinstance(a, ast.Constant)
                and any(ast.unparse(b).endswith("Error") for b in node.args[:i])
            ]
            values += [
                a
                for a in node.args
                if isinstance(a, ast.Constant) and ast.unparse(node.func) == "_type_error"
            ]
        else:
            continue
        ids |= {v.value for v in values if isinstance(v.value, str) and ID.fullmatch(v.value)}
    return ids


def sources() -> dict[str, str]:
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "gpubcast").rglob("*.py"))
    }


def test_the_collector_sees_every_form() -> None:
    assert refused('raise f("no", rule="Q1")') == {"Q1"}
    assert refused('x = E("no", rule="Q2a")') == {"Q2a"}
    assert refused('raise refused("Q3", kind)') == {"Q3"}
    assert refused('integers(v, "dims", ShapeError, "Q4")') == {"Q4"}
    assert refused('x = "Q5"; f("Q6")') == set()


def test_every_id_in_the_code_is_documented() -> None:
    missing = {
        f"{i} ({name})" for name, text in sources().items() for i in refused(text) - documented()
    }
    assert missing == set()


def test_every_documented_id_is_in_the_code() -> None:
    cited = set().union(*map(refused, sources().values()))
    # R rules refuse nothing; the docstrings of the code that follows them name them.
    for name in ("inference", "result_layout"):
        cited |= set(re.findall(r"\bR\d\b", sources()[f"gpubcast/hlo/{name}.py"]))
    assert documented() - cited == set()
    assert len([i for i in documented() if i[0] in "BDCTR"]) >= 10 + 8 + 7 + 9 + 4


def test_every_documented_id_is_exercised_by_a_test() -> None:
    tests = "\n".join(
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if path != Path(__file__)
    )
    exercised = set(re.findall(rf'"({ID.pattern})"', tests))
    exercised |= set(re.findall(r"def test_(R\d)_", tests))
    assert documented() - exercised == set()


def test_every_kind_of_our_own_is_documented() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(gpubcast:[^`]*)` \|", text, re.MULTILINE))
    used = {
        node.value
        for source in sources().values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"gpubcast:[a-z][a-z _-]*[a-z]", node.value)
    }
    assert len(used) > 40
    assert used <= listed
    # Those put together at run time: keywords, integer atan2, what text holds.
    assert listed - used == {
        "gpubcast:integer atan2", "gpubcast:missing keyword",
        "gpubcast:unsupported <words>",
    }  # fmt: skip
