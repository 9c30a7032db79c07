"""The program from Python: `ga3c.train`, `ga3c.load`, `ga3c.evaluate`. README.md has the page about it."""
