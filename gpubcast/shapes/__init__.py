"""Element types, layouts and shapes, and their HLO text."""
