"""Where a command's threads spend their time: python -m tests.benchmarks.sampled REPORT LIMIT train --game Pong ...

A thread looks 200 times a second which line of ga3c each other thread of this process is in. REPORT gets the lines in
which each thread was found most often, with their shares. A line that waits for a GPU is found as often as it waits.
The command is interrupted after LIMIT seconds, and killed after five more.
"""

import atexit
import os
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

from ga3c.__main__ import main

SECONDS_BETWEEN = 0.005
LINES = 14  # of each thread


def sample(found: dict[str, Counter], own: int) -> None:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        while frame and "/ga3c/" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame and ident != own:
            file = frame.f_code.co_filename.rpartition("/ga3c/")[2]
            found[names.get(ident, "?")][f"{file}:{frame.f_lineno} {frame.f_code.co_name}"] += 1


def report(found: dict[str, Counter], out: Path) -> None:
    with out.open("w", encoding="utf-8") as file:
        for name, lines in found.items():
            total = lines.total()
            file.write(f"{name}\n" + "".join(f"  {n / total:6.1%} {line}\n" for line, n in lines.most_common(LINES)))


def keep_sampling(found: dict[str, Counter], out: Path, limit_seconds: float) -> None:
    own, began = threading.get_ident(), time.monotonic()
    next_report, signals = began + 5, [(limit_seconds, signal.SIGINT), (limit_seconds + 5, signal.SIGKILL)]
    while True:
        time.sleep(SECONDS_BETWEEN)
        sample(found, own)
        if time.monotonic() > next_report:  # a run that is killed leaves one, too
            report(found, out)
            next_report += 5
        if signals and time.monotonic() - began > signals[0][0]:
            os.kill(os.getpid(), signals.pop(0)[1])


if __name__ == "__main__":
    found, out, limit_seconds = defaultdict(Counter), Path(sys.argv[1]), float(sys.argv[2])
    threading.Thread(target=keep_sampling, args=(found, out, limit_seconds), daemon=True).start()
    atexit.register(report, found, out)
    sys.exit(main(sys.argv[3:]))
