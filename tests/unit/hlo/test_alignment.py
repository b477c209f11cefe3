"""The alignment grid: states of cells, and the text they become."""

from __future__ import annotations

import pytest

from gpubcast.hlo.alignment import (
    LEGAL_SHOWN,
    AlignmentCell,
    CellState,
    alignment_grid,
    legal_assignments,
    render,
    row,
    unplaced,
)


def fits(a: int, b: int) -> bool:
    return a == b or 1 in (a, b)


def test_row_states_one_cell_per_output_dimension() -> None:
    r = row("f32[3,1]", (3, 1), (0, 2), (3, 4, 5))
    assert r.cells == (
        AlignmentCell(CellState.MATCHED, "3"),
        AlignmentCell(CellState.ABSENT, "·"),
        AlignmentCell(CellState.EXPANDED, "1→5"),
    )
    assert row("x", (5, 2), (1, 0), (2, 4), wrong=(0,)).cells == (
        AlignmentCell(CellState.MATCHED, "2"),
        AlignmentCell(CellState.WRONG, "5"),
    )


def test_size_one_to_size_one_is_matched_not_expanded() -> None:
    assert row("f32[1]", (1,), (0,), (1,)).cells == (AlignmentCell(CellState.MATCHED, "1"),)
    assert row("f32[1]", (1,), (0,), (0,)).cells == (AlignmentCell(CellState.EXPANDED, "1→0"),)


def test_unplaced_row() -> None:
    r = unplaced("f32[3]", 2, "note")
    assert r.cells == (AlignmentCell(CellState.UNPLACED, "?"),) * 2
    assert r.note == "note"


def test_grid_refuses_rows_of_another_width() -> None:
    with pytest.raises(ValueError, match="has 2 cells for 3 columns"):
        alignment_grid([unplaced("x", 2)], 3)


def test_render_marks_the_wrong_cell_in_its_column() -> None:
    g = alignment_grid(
        [
            row("f32[2,100]", (2, 100), (0, 1), (2, 100)),
            row("f32[17]", (17,), (1,), (2, 100), wrong=(0,), note="here"),
        ],
        2,
    )
    assert render(g).splitlines() == [
        "  output dimension  0    1",
        "  f32[2,100]        2  100",
        "  f32[17]           ·   17  here",
        "                        ^^",
    ]


def test_render_of_scalars_has_no_columns() -> None:
    assert render(alignment_grid([row("f32[]", (), (), ())], 0)) == "  output dimension\n  f32[]"


def test_legal_assignments_lists_all_and_only_increasing_ones() -> None:
    assert legal_assignments((3,), (2, 3), fits) == (
        "legal broadcast_dimensions: (1,); write broadcast_dimensions=(1,)"
    )
    assert legal_assignments((3,), (3, 3), fits) == "legal broadcast_dimensions: (0,), (1,)"
    assert legal_assignments((3, 2), (3, 2, 3, 2), fits) == (
        "legal broadcast_dimensions: (0, 1), (0, 3), (2, 3)"
    )
    assert legal_assignments((5,), (2, 3), fits).startswith("no broadcast_dimensions are legal")
    assert legal_assignments((3, 2), (2, 3), fits).startswith("no broadcast_dimensions are legal")


def test_legal_assignments_counts_what_it_does_not_list() -> None:
    # 3 of 5 equal dimensions: 10 ways.
    text = legal_assignments((2, 2, 2), (2,) * 5, fits)
    assert text.count("(") == LEGAL_SHOWN == 8
    assert text.endswith("(1, 2, 4) and 2 more")
    # 15 of 30: found by counting, not by listing 155,117,520 of them.
    assert legal_assignments((2,) * 15, (2,) * 30, fits).endswith("and 155117512 more")


def test_legal_assignments_in_any_order() -> None:
    def exact(a: int, b: int) -> bool:
        return a in (1, b)

    assert legal_assignments((2, 3), (3, 2), exact, increasing=False) == (
        "legal broadcast_dimensions: (1, 0); write broadcast_dimensions=(1, 0)"
    )
    assert legal_assignments((2, 2), (2, 2), exact, increasing=False) == (
        "legal broadcast_dimensions: (0, 1), (1, 0)"
    )
    text = legal_assignments((2, 2), (3, 2), exact, increasing=False)
    assert text == "no broadcast_dimensions are legal: (2, 2) does not fit into (3, 2) in any order"
    # 10! assignments are counted, not listed; of 11 dimensions only increasing ones are.
    text = legal_assignments((2,) * 10, (2,) * 10, exact, increasing=False)
    assert text.endswith("and 3628792 more")
    text = legal_assignments((2,) * 11, (2,) * 11, exact, increasing=False)
    assert text.count("(") == 2
