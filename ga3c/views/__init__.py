"""Views for a person: curves, screens, pages. All of them are drawn from the records of runs."""
