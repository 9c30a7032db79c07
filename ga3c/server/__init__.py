"""The server starts, serves, saves and stops a system, whichever it is."""
