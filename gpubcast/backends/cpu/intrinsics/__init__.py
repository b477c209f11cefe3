"""What generated CPU code calls, as LLVM code: memory, scalars, vectors, elementary functions."""
