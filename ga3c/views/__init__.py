"""What a person looks at: curves, screens, pages. All of it is drawn from the records of runs."""
