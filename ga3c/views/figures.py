"""Numbers and times as they stand on screens and pages."""

import math
import time


def clock(seconds: float) -> str:
    """1:02:03; a dash where it is not known."""
    if not math.isfinite(seconds):
        return "-"
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def number(value: float, digits: int = 0) -> str:
    """A dash where nothing was measured."""
    return f"{value:,.{digits}f}" if math.isfinite(value) else "-"


def time_of_day(seconds: float) -> str:
    """12:34, local time. `seconds` since the epoch."""
    try:
        return time.strftime("%H:%M", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):
        return "--:--"
