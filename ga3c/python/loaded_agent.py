"""`ga3c.load`: a trained agent, asked from Python code."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from ga3c import environments
from ga3c.commands.command_line import check_range
from ga3c.environments import own_games
from ga3c.environments.observations import batch_of
from ga3c.errors import ConfigError
from ga3c.exports.request import Request
from ga3c.machine import check_limits
from ga3c.play import trained_agent
from ga3c.play.trained_agent import TrainedAgent
from ga3c.python.guest import own_random_numbers
from ga3c.records import chosen_runs
from ga3c.records.description import read_settings
from ga3c.settings import named_objects
from ga3c.settings.ranges import RANGES

FIRST_SEED, EPISODES = 1_000, 30  # of the commands that play
OWN = ("game", "wrapper", "network", "own_algorithm")  # settings of a run whose objects can be handed over


def load(
    run: Any,
    *,
    best: bool = False,
    seed: int = FIRST_SEED,
    trust: bool = False,
    environment: Any = None,
    wrapper: Any = None,
    network: Any = None,
    algorithm: Any = None,
) -> "Agent":
    """Returns the agent of a run.

    Args:
        run: what `ga3c.train` returned, the directory of a run, or a checkpoint. The name of a game stands for the
            newest run of this game, or else for the agent that comes with the program.
        best: take the checkpoint with the best mean score of 100 games, and not the newest.
        seed: seeds the sampling of its actions.
        trust: the module of a game, network or algorithm that the run names may be imported, though you have not
            trained with it here.
        environment, wrapper, network, algorithm: those that the run was trained with, where they were defined in a
            script or a notebook of another process. Of several wrappers all, in a list.

    Raises ConfigError.
    """
    check_limits()
    check_range("seed", seed, *RANGES["seed"])
    text = os.fspath(run) if isinstance(run, os.PathLike) else str(run)
    handed_over = environment, wrapper, network, algorithm
    if os.path.isfile(text):  # it raises nothing, whatever the text is
        asked = {"run": None, "game": None, "file": text}
        _give(Path(text).absolute().parent.parent, *handed_over)
    elif os.path.isfile(os.path.join(text, "config.json")):
        asked = {"run": text, "game": None, "file": None}
        _give(Path(text), *handed_over)
    elif os.sep in text and not _is_game(text):
        raise ConfigError(f"There is no run in {text} (no config.json there): name its directory, or a game.")
    else:
        asked = {"run": None, "game": text, "file": None}
        if any(one is not None for one in handed_over):
            _give(chosen_runs.trained(text), *handed_over)
    with own_random_numbers():
        return Agent(trained_agent.load(**asked, seed=seed, best=best, trusted=trust))


def _is_game(text: str) -> bool:
    """Returns whether a text with a slash names a game, as phys2d/CartPole-v1 does, and no directory."""
    with contextlib.suppress(ConfigError):
        return text.startswith("ALE/") or environments.resolve(text)[1] == text
    return False


def _give(run: Path, *things: Any) -> None:
    """Puts objects under the names that the run has for them. Raises ConfigError if it has none for one."""
    handed = {name: one for name, one in zip(OWN, things, strict=True) if one is not None}
    named = own_games.named(read_settings(run)) if handed else {}
    for setting, thing in handed.items():
        names, kind = [name for name, of in named.items() if of == setting], setting.removeprefix("own_")
        several = list(thing) if isinstance(thing, list | tuple) else [thing]
        if not names:
            raise ConfigError(f"{run} was trained with no {kind} of your own: leave it out.")
        if len(several) != len(names):
            raise ConfigError(f"{run} was trained with {len(names)} of {kind} ({', '.join(names)}): hand over as many.")
        for name, one in zip(names, several, strict=True):
            named_objects.give(name, one)


class Agent:
    """A trained agent. Observations are those that the game shows, one or a batch of them."""

    def __init__(self, agent: TrainedAgent):
        self.trained = agent
        self._model, self._games = agent.model, agent.games
        self._kind = agent.games.spec.actions

    @property
    def game(self) -> str:
        """The name of its game."""
        return self.trained.game

    @property
    def steps(self) -> int:
        """The steps that it has learned from."""
        return self.trained.steps

    def act(self, observation: Any, state: Any = None, *, greedy: bool = False, mask: Any = None) -> tuple[Any, Any]:
        """Returns an action as the game wants it, and the agent's state, for the next call.

        For a batch of observations there is an action for each. Actions are sampled from the policy; with `greedy`, and
        for an agent of action values, they are the best ones.

        The state is what an agent with a memory remembers of the game, float32 [size], or [batch, size] for a batch;
        None for an agent without one. `state`: what the call before returned; None, or zeros, at the start of a game.
        `mask`: which actions are allowed, as the game's info["action_mask"] says; None: all are.
        """
        (sampled, policies, _, after), single = self._decided(observation, state, mask)
        actions = (self._kind.most_likely(policies) if greedy else sampled).astype(self._kind.dtype)
        if hasattr(self._games, "as_the_game_wants"):
            actions = self._games.as_the_game_wants(actions)
        remembered = after if after.shape[1] else None
        return (actions[0], None if remembered is None else after[0]) if single else (actions, remembered)

    def probabilities(self, observation: Any, state: Any = None, *, mask: Any = None) -> np.ndarray:
        """Returns the probability of each action, float32 [actions], or [batch, actions] for a batch.

        Where an action is several choices, they are those of the options of each choice, side by side. An agent of
        action values takes the best action: its probability is 1. mask: as in `act`.

        Raises ConfigError for continuous actions.
        """
        if self._kind.continuous:
            raise ConfigError(f"The actions of {self.game} are continuous: no single one has a probability.")
        (_, policies, _, _), single = self._decided(observation, state, mask)
        if self.trained.has_action_values:
            found = np.eye(policies.shape[1], dtype=np.float32)[policies.argmax(axis=1)]
        else:
            found = self._kind.probabilities(policies)
        return found[0] if single else found

    def values(self, observation: Any, state: Any = None, *, mask: Any = None) -> Any:
        """Returns the return that the agent expects from here on: a float, or float32 [batch] for a batch. mask: as in
        `act`."""
        (_, _, values, _), single = self._decided(observation, state, mask)
        return float(values[0]) if single else values

    def _decided(self, observation: Any, state: Any, mask: Any) -> tuple[tuple, bool]:
        """Returns what the model decides (`Model.decide`), and whether there was a single observation."""
        batch, single = self._batch(observation, mask)
        states = None if state is None else np.array(state, np.float32).reshape(len(batch), -1)
        return self._model.decide(batch, states), single

    def _batch(self, observation: Any, mask: Any) -> tuple[np.ndarray, bool]:
        """Returns observations as the network gets them, [batch, ...], and whether there was a single one."""
        if hasattr(self._games, "shown"):
            return self._games.shown(observation, mask)
        space = spaces.Box(0, 255, self._games.spec.observation_shape, np.uint8)
        return batch_of(space, observation)

    def export(
        self,
        *formats: str,
        out: str | os.PathLike,
        quantize: Sequence[str] = (),
        replace: bool = False,
        episodes: int = EPISODES,
        seed: int = FIRST_SEED,
    ) -> Path:
        """Writes the agent for other programs, as `./run.sh export --format` does. Returns the directory.

        Args:
            formats: "saved-model", "tflite", "onnx", "keras", one or several.
            out: the directory to make.
            quantize: "float16", "int8": smaller TFLite files beside the other one.
            replace: replace what an export has left there.
            episodes: games to play for the score, in each way to play.
            seed: the games are seeded seed, seed + 1, ...

        Raises ConfigError.
        """
        check_range("episodes", episodes, 1)
        check_range("seed", seed, *RANGES["seed"])
        request = Request(formats, tuple(quantize), Path(out), replace, episodes, seed)
        request.check()
        from ga3c.exports import bundle  # loads the converters

        bundle.export(self.trained, request)
        return request.out

    def __repr__(self) -> str:
        return f"<Agent {self.trained}>"
