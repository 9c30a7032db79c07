"""The controller: changes the numbers of agents, predictors and trainers while training runs, to raise TPS."""
