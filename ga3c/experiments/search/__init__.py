"""A search for settings with Optuna: a study of many trials, each with settings of its own."""
