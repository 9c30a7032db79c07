"""Where the model runs, and how its functions are compiled for that."""
