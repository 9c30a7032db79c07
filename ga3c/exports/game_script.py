"""A script that plays the game with an exported agent, and with nothing of this program."""

import numpy as np

from ga3c.exports.deployed_agent import NEXT_STATE, STATE, inputs_of
from ga3c.exports.formats import FORMATS, script_name
from ga3c.exports.script_games import game_of
from ga3c.exports.script_observations import shown
from ga3c.play.trained_agent import TrainedAgent

TEMPLATE = '''"""Plays {game} with {file}: python {script} [GAMES]

pip install {packages}{own_modules}
"""

import sys
from pathlib import Path

{imports}

FILE = str(Path(__file__).with_name("{file}"))
{load}
games, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 10, {seed}
{make}
random, scores = np.random.default_rng(seed), []
for game in range(games):
    {reset}
    score, over{no_state} = 0.0, False{first_state}
    while not over:
        shown = {shown}
        {decide}
        {action}
        {step}
        score, over{state} = score + {reward}, {over}{next_state}
    scores.append(score)
    print(f"Game {{game + 1}}: {{score:g}}", flush=True)
print(f"Mean of {{games}} games: {{np.mean(scores):.2f}}")
'''


def script(agent: TrainedAgent, format_name: str, file: str, seed: int) -> str | None:
    """Returns the script; None where a game cannot be made without this program."""
    form, game = FORMATS[format_name], game_of(agent)
    if game is None:
        return None
    seen = shown(agent, game.observation)
    spaces = "from gymnasium import spaces" if "spaces." in seen else ""
    state = any(one.name == STATE for one in inputs_of(agent))
    shape = [1, agent.model.network.recurrent_size] if state else []
    return TEMPLATE.format(
        game=agent.game,
        file=file,
        script=script_name(file),
        packages=f"{form.runtime} {game.packages} numpy",
        own_modules=game.own_modules and f"\nPython must find {game.own_modules} as well, where the game is made.",
        imports=_sorted("import numpy as np", form.imports, game.imports, spaces),
        load=form.load,
        seed=seed,
        make=game.make,
        reset=game.reset,
        no_state=", state" * state,
        first_state=f", np.zeros({shape}, np.float32)" * state,
        shown=seen,
        decide=form.decide,
        action=_action(agent, game.best),
        step=game.step,
        state=", state" * state,
        reward=game.reward,
        over=game.over,
        next_state=f', decided["{NEXT_STATE}"]' * state,
    )


def _sorted(*imports: str) -> str:
    """Returns lines that import something: modules first."""
    lines = {line for text in imports for line in text.split("\n") if line}
    return "\n".join(sorted(lines, key=lambda line: (line.startswith("from"), line.lower())))


def _action(agent: TrainedAgent, best: str) -> str:
    """Returns the lines that choose the action: one sampled from a policy, or the best one."""
    kind = agent.games.spec.actions
    if agent.has_action_values or kind.continuous:
        return f"action = {best}"
    start = agent.games.as_the_game_wants(np.zeros((1, *kind.shape), np.int32))[0] if _counts(agent) else 0
    added = f" + {np.asarray(start).tolist()}" if np.any(start) else ""
    odds = 'odds = decided["probabilities"][0].astype("float64")  # the best action is decided["action"][0]\n        '
    if not kind.sizes:
        return f"{odds}action = random.choice(len(odds), p=odds / odds.sum()){added}"
    shape = list(np.shape(start))
    return (
        f"{odds}choices = np.split(odds, {np.cumsum(kind.sizes)[:-1].tolist()})\n        "
        f"action = np.array([random.choice(len(one), p=one / one.sum()) for one in choices]).reshape({shape}){added}"
    )


def _counts(agent: TrainedAgent) -> bool:
    """Returns whether the game counts its actions in a way of its own."""
    return hasattr(agent.games, "as_the_game_wants")
