"""From a plan and its schedule to source and packed parameters; imports no backend."""
