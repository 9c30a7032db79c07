"""Systems: the wiring of the stations, one file for each paper.

The `server` runs a system, whichever it is: it calls `start(arrays)` with the weights to go on from, `watch()` every
second, and `stop()`. It reads `model`, `replay` (None without one), `under_way` (its games, where they shall be saved),
`stats`, `counts` (that run now), `chosen_counts` (without a trial), `next_agent`, `games()` (under way, and wanted),
`waiting()` (the lengths of both queues), `agents_core_seconds()`, `watched()` (what a row of the log holds besides, by
name) and `report()` (who waits for whom), `has_all_steps` (whether the steps that were asked for are made, though maybe
not learned from), and `may_end` (whether the run may, then). With `--cluster`, `cluster()` too: pods and nodes, for
JSON.
"""
