"""The command line: demo, explain, bench, doctor and cache."""
