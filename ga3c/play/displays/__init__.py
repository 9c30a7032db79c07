"""Displays of play: a window, a terminal, a video.

A display has `show(moment, status)`, `keys(seconds)` (the keys that were pressed or let go within that time, as
pairs of name and whether it went down; see `ga3c.play.keyboard`) and `close()`. `live`: somebody looks on while it
plays. `covers_output`: nothing may be printed meanwhile.
"""
