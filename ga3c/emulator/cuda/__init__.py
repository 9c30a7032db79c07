"""The emulator on a GPU: numba-cuda compiles its functions a second time. Imported only if numba-cuda is installed."""
