"""What an array has besides its shape and its memory; ``arrays.Array`` puts the parts together."""
