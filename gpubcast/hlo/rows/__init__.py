"""The rows of the operation table, by group."""
