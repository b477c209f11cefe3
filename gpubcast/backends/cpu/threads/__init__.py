"""The team of threads that runs a kernel's parts."""
