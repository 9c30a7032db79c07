"""What the figures of Ape-X DQN share at cpu scale: a game that is learned in a minute, so with three seeds."""

SCALE = {"game": ("CartPole-v1",), "seconds": 90.0, "seeds": 3}
# With the preset's constants it would be learned too slowly.
CONSTANTS = "--batch 64 --replay-minimum-transitions 1000 --target-updates 200 --learning-rate 0.001"
FLAGS = f"--agents 2 --envs-per-agent 16 {CONSTANTS}"
