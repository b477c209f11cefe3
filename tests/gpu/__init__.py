"""Tests on a GPU; most of them also run on the CPU, which tests the tests."""
