"""Runs the PTX that NVRTC makes of a kernel on NumPy, all threads of a launch at once.

``parser`` reads the text, ``opcodes`` says what an instruction computes, ``translation`` turns
basic blocks into Python, ``memory`` holds the state spaces and refuses accesses outside of them,
``execution`` decides which threads run which block and where they wait for each other, ``races``
finds accesses that nothing orders, ``traffic`` counts sectors and bank conflicts. ``compile`` asks
NVRTC, and ``backend`` is the device behind gpubcast's backend protocol.

Source: Parallel Thread Execution ISA, https://docs.nvidia.com/cuda/parallel-thread-execution.
"""
