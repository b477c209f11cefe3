"""What a suite's cases came to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """One case.

    Attributes:
        case: its file and function.
        operation: what it tests.
        outside: why it is outside of what gpubcast runs; empty for one that ran.
        wrong: what differs; empty where nothing does.
        decision: the decision of docs/rules.md by which it differs.
    """

    case: str
    operation: str
    outside: str = ""
    wrong: str = ""
    decision: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite's score.

    Attributes:
        name: its name.
        source: where it is from, with its revision.
        results: its cases.
    """

    name: str
    source: str
    results: tuple[Result, ...]

    @property
    def failures(self) -> tuple[Result, ...]:
        """Cases that ran, differ, and that no decision explains."""
        return tuple(r for r in self.results if r.wrong and not r.decision)


def counts(results: Iterable[Result]) -> tuple[int, int, int, int]:
    """How many ran, agree, differ by a decision, differ otherwise."""
    ran = [r for r in results if not r.outside]
    agree = sum(not r.wrong for r in ran)
    decided = sum(bool(r.wrong and r.decision) for r in ran)
    return len(ran), agree, decided, len(ran) - agree - decided


def page(suites: Sequence[Suite], versions: str, intro: str) -> str:
    """The page of scores, in Markdown."""
    lines = [intro.rstrip(), "", versions, ""]
    lines.append("| suite | ran | agree | differ by decision | differ | outside |")
    lines.append("|---|--:|--:|--:|--:|--:|")
    for suite in suites:
        outside = sum(bool(r.outside) for r in suite.results)
        cells = " | ".join(map(str, (*counts(suite.results), outside)))
        lines.append(f"| {suite.name} | {cells} |")
    for suite in suites:
        lines += ["", f"## {suite.name}", "", suite.source, ""]
        lines += _operations(suite)
        lines += _differences(suite)
        lines += _outside(suite)
    return "\n".join(lines) + "\n"


def _operations(suite: Suite) -> list[str]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in suite.results:
        if not result.outside:
            groups[result.operation].append(result)
    lines = ["| operation | ran | agree | by decision | differ |", "|---|--:|--:|--:|--:|"]
    for name in sorted(groups):
        cells = " | ".join(map(str, counts(groups[name])))
        lines.append(f"| `{name}` | {cells} |")
    return lines


def _differences(suite: Suite) -> list[str]:
    wrong = [r for r in suite.results if r.wrong]
    if not wrong:
        return []
    lines = ["", "What differs:", ""]
    for result in wrong:
        why = result.decision or "open"
        lines.append(f"- `{result.case}`: {result.wrong} ({why})")
    return lines


def _outside(suite: Suite) -> list[str]:
    reasons = Counter(r.outside for r in suite.results if r.outside)
    if not reasons:
        return []
    listed = ", ".join(f"{name} ({n})" for name, n in sorted(reasons.items()))
    return ["", f"Outside, by what was refused first: {listed}."]
