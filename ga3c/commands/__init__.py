"""What a person runs: one file for each command, with `run(arguments) -> exit status`."""
