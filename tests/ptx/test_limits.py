"""Edges that ordinary calls do not reach, in NVRTC's code."""

from __future__ import annotations

from tests.emulated import test_limits as bodies

test_nothing_is_read_past_the_last_row = bodies.test_nothing_is_read_past_the_last_row
test_an_operand_that_lies_in_the_padding_of_out = (
    bodies.test_an_operand_that_lies_in_the_padding_of_out
)
test_slots_without_an_element_are_filled = bodies.test_slots_without_an_element_are_filled
test_limits_are_written_as_exact_bits = bodies.test_limits_are_written_as_exact_bits
test_a_call_does_not_reuse_the_kernel_of_another_alignment = (
    bodies.test_a_call_does_not_reuse_the_kernel_of_another_alignment
)
test_vectors_do_not_cross_odd_pitches = bodies.test_vectors_do_not_cross_odd_pitches
