"""Games played by a trained agent, or by a person, one decision at a time."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ga3c import environments
from ga3c.environments.checked import blaming
from ga3c.play.drawn_games import DrawnGames
from ga3c.rollout import FORBIDDEN, Actions
from ga3c.settings.game import EnvironmentSettings

EMULATOR_FRAMES_PER_SECOND = 60
HISTORY_STEPS = 300


class Moment(NamedTuple):
    """A view of the games before a step; a game that has just ended shows its end. Arrays are [game, ...]."""

    pictures: np.ndarray  # uint8 [game, height, width, 3]
    shares: np.ndarray  # float32 [game, action], 0 to 1: `shares_of`
    shares_of: str  # "action probabilities", "action values" between the least and the best, "actions" in their bounds
    values: np.ndarray  # float32 [game]: the agent's estimate of the return
    actions: np.ndarray  # [game, ...]: that the agent takes next
    taken: np.ndarray  # bool [game, action]: which of the `shares` belong to them
    scores: np.ndarray  # float64 [game]: true and unclipped
    steps: np.ndarray  # int64 [game]
    ended: np.ndarray  # bool [game]: in the step before
    history: list[float]  # values of the first game, the newest last


class Stage:
    """`count` games of the settings, seeded seed, seed + 1, ...: as the agent sees them, and in colour for people.

    Raises ConfigError, anywhere, where the game's own code fails.
    """

    def __init__(self, settings: EnvironmentSettings, count: int, seed: int, around: Callable = lambda games: games):
        """`around(games)` returns the games to play: what it is given, or that with a recorder, say."""
        kind, name = environments.resolve(settings.game)
        self._screen = None
        if kind == "atari":
            self._games = around(environments.make(settings, count, seed))
            self._screen = screen = environments.screen(settings, self._games, count, seed)
            self._first_pictures, self._next_pictures = screen.reset, screen.step
            self.action_names = screen.action_names
            self.steps_per_second = EMULATOR_FRAMES_PER_SECOND / settings.frame_skip_frames
        else:
            self._games = games = around(DrawnGames(name, settings, count, seed))
            self._first_pictures, self._next_pictures = games.pictures, lambda _: games.pictures()
            self.action_names = names_of(games.spec.actions)
            self.steps_per_second = games.pictures_per_second
        spec = self._games.spec
        self.game, self.actions = spec.name, spec.actions
        self.count = -(-count // spec.players) * spec.players
        self._blame = f"The game '{self.game}' failed"
        self.pictures: np.ndarray | None = None  # as in Moment

    def reset(self) -> np.ndarray:
        """Observations [game, ...]."""
        with blaming(self._blame):
            observations = self._games.reset()
            self.pictures = self._first_pictures()
        return observations

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observations, rewards and whether each game has ended. The step after that restarts it."""
        with blaming(self._blame):
            observations, rewards, terminated, truncated, _ = self._games.step(actions)
            self.pictures = self._next_pictures(actions)
        return observations, rewards, terminated | truncated

    def close(self) -> None:
        self._games.close()
        if self._screen is not None:
            self._screen.close()


def names_of(kind: Actions) -> list[str]:
    """Returns names of the actions: their numbers, or for several choices that of the choice and of the option."""
    if kind.sizes:
        return [f"{choice}: {option}" for choice, size in enumerate(kind.sizes) for option in range(size)]
    return [str(number) for number in range(kind.count or len(kind.low))]


def taken(kind: Actions, actions: np.ndarray) -> np.ndarray:
    """Returns which of the options are these `actions` [game, ...]: bool [game, option], all where they are numbers."""
    if kind.continuous:
        return np.ones((len(actions), len(kind.low)), np.bool_)
    sizes = kind.sizes or (kind.count,)
    first = np.cumsum((0, *sizes[:-1]))  # option of each choice
    marks = np.zeros((len(actions), sum(sizes)), np.bool_)
    np.put_along_axis(marks, actions.reshape(len(actions), -1) + first, True, axis=1)
    return marks


def _shares(
    kind: Actions, policies: np.ndarray, actions: np.ndarray, has_action_values: bool
) -> tuple[np.ndarray, str]:
    """As in Moment."""
    if kind.continuous:
        low, high = np.array(kind.low), np.array(kind.high)
        return np.clip((actions - low) / np.maximum(high - low, 1e-9), 0.0, 1.0), "actions"
    if has_action_values:
        least = np.where(policies > FORBIDDEN / 2, policies, np.inf).min(axis=1, keepdims=True)
        best = policies.max(axis=1, keepdims=True)
        return np.clip((policies - least) / np.maximum(best - least, 1e-9), 0.0, 1.0), "action values"
    return kind.probabilities(policies), "action probabilities"


def moments(
    stage: Stage,
    policy: Callable[[np.ndarray, np.ndarray | None], tuple],
    greedy: bool,
    joystick: Callable[[], int | None],
    has_action_values: bool = False,
) -> Iterator[Moment]:
    """Plays on and on. `policy` gives what `Model.decide` does, of an agent that `has_action_values`.

    `joystick()` is asked before each step: None, or the action of the first game.
    """
    observations = stage.reset()
    scores, steps = np.zeros(stage.count), np.zeros(stage.count, np.int64)
    ended, history, remembered = np.zeros(stage.count, np.bool_), [], None
    while True:
        sampled, policies, values, remembered = policy(observations, remembered)
        actions = (stage.actions.most_likely(policies) if greedy else sampled).astype(stage.actions.dtype)
        shares = _shares(stage.actions, policies, actions, has_action_values)
        history = [*history[1 - HISTORY_STEPS :], float(values[0])]
        marks = taken(stage.actions, actions)
        yield Moment(stage.pictures, *shares, values, actions, marks, scores.copy(), steps.copy(), ended, history)
        if (own := joystick()) is not None and policies[0, own] > FORBIDDEN / 2:
            actions[0] = own
        restarted = ended
        remembered[restarted] = 0
        observations, rewards, ended = stage.step(actions)
        scores = np.where(restarted, 0.0, scores + rewards)
        steps = np.where(restarted, 0, steps + 1)
        if restarted[0]:
            history = []
