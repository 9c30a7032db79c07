"""The commands that a person runs: a file for each, with `run(arguments) -> exit status`."""

COMMANDS = {
    "train": "train an agent (the default)",
    "watch": "look at a run that goes on or has ended",
    "play": "watch a trained agent play",
    "evaluate": "measure a trained agent over many games",
    "list": "list all runs: state, steps, score, settings of their own",
    "games": "list the games there are",
    "compare": "train several settings over several seeds and compare them",
    "zoo": "train on each of a list of games, for one table of scores",
    "tune": "search for the settings that learn fastest",
    "dataset": "record games of a trained agent as a data set (Minari)",
    "export": "put a trained agent into a small directory, to ship or to keep",
    "plot": "draw the curves of one or more runs",
    "report": "write a page about a run, to send to somebody",
    "dashboard": "see all runs in a browser",
    "doctor": "check what this machine has, and measure its speed",
    "benchmark": "measure how fast this machine trains, and how fast it could",
    "reproduce": "make a figure or table of a paper again",
    "help": "show this; COMMAND --help shows its options",
}
VERSION = "--version"
