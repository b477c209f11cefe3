"""Operations with XLA's semantics: the table of operations, the rules, and expression graphs."""
