"""How many agents, predictors and trainers there are: they are changed while training runs, and TPS decides."""
