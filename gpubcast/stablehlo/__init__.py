"""The door for StableHLO: modules of openxla's interchange format, run as gpubcast's kernels."""
