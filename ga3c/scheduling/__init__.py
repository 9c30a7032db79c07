"""How many agents, predictors and trainers there are, and who decides it. Knows no threads but its own."""
