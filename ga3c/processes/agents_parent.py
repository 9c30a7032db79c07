"""The process that agents are forked from. It outlives the server and clears up after it, however that ended.

Only this process imports this file (`agents_start.start`), and the import makes it what it is.
"""

import atexit
import contextlib
import os
import shutil
import signal
import warnings
from multiprocessing import forkserver
from pathlib import Path

from ga3c.machine import adopt_orphans
from ga3c.processes import agent_process
from ga3c.processes.family import kill_descendants


def _clear_up(process: int) -> None:
    """Ends the agents and all that they have started, and removes multiprocessing's temporary folder.

    Called when the server has ended, or has no more use for it: it held the other end of a pipe.
    """
    if os.getpid() != process:  # a fork of it
        return
    with contextlib.suppress(ChildProcessError):  # there is no child any more
        while True:
            kill_descendants(process)
            os.wait()
    address = forkserver._forkserver._forkserver_address  # of its socket: a path, or bytes that are none
    if isinstance(address, str) and Path(address).exists() and Path(address).parent.name.startswith("pymp-"):
        shutil.rmtree(Path(address).parent, ignore_errors=True)


for number in agent_process.SERVER_SIGNALS:  # also where multiprocessing has started this process in a thread
    signal.signal(number, signal.SIG_IGN)
os.setpgrp()  # who kills the server's whole group does not kill who clears up
adopt_orphans()
warnings.filterwarnings("ignore", "forkserver: waitpid returned unexpected pid")  # of one that it has adopted
atexit.register(_clear_up, os.getpid())
