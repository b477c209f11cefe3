"""From an expression and shapes to normalised broadcast plans; nothing is compiled."""
