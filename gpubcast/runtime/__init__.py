"""A call on arrays: operands, a prepared launch from the caches, overlap, and the launch itself."""
