"""The emulator on a GPU: its functions compiled a second time, by numba-cuda. Imported only where that is installed."""
