"""PettingZoo's parallel games with one policy for all players: each player is one of a batch's games.

The players of a game stand next to each other in the batch. A player that leaves before the others is absent until the
game begins anew: its rows are no steps.
"""

import contextlib
from functools import partial

import numpy as np
from gymnasium import spaces

from ga3c.environments import action_masks, known_spaces, rendered
from ga3c.environments.action_masks import Masks
from ga3c.environments.checked import blaming, fault_of, is_reward
from ga3c.environments.game_fault import GameFault
from ga3c.environments.parallel_names import maker, shown_name
from ga3c.environments.parts import Parts
from ga3c.environments.restarted import Restarts
from ga3c.errors import ConfigError
from ga3c.layout import MASK
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings, game_arguments


def _made(name: str, settings: EnvironmentSettings, render_mode: str | None):
    """Makes a game with the arguments and the wrappers that the settings name."""
    options = game_arguments(settings) | ({"render_mode": render_mode} if render_mode else {})
    game = maker(name)(**options)
    for wrapper in settings.wrapper:
        game = named_objects.find(wrapper, "--wrapper")(game)
    return game


class ParallelEnvironments:
    """A batch of as many whole games as have `count` players, or a few more. It has the interface of
    `gymnasium.GymnasiumEnvironments`, with a column for each player; and `absent`, bool [columns]."""

    def __init__(
        self,
        name: str,
        settings: EnvironmentSettings,
        count: int,
        seed: int,
        render_mode: str | None = None,
        restarts: Restarts | None = None,
    ):
        """A game whose own code fails is made again by `restarts`, or raises its exception if there is none."""
        self._restarts, self._picture_size = restarts, None
        self._make = partial(_made, name, settings, render_mode)
        with blaming(f"Cannot make the game '{name}'"):
            self._games = [self._make()]
            self._players = tuple(self._games[0].possible_agents)
            games = -(-count // len(self._players))
            self._games += [self._make() for _ in range(games - 1)]
        self._seeds, columns = [one % 2**31 for one in range(seed, seed + games)], games * len(self._players)
        self._adapt, self._anew = settings.adapt_spaces, np.random.SeedSequence(seed)
        self._with_masks = settings.action_masks
        self._over, self._steps = np.ones(games, np.bool_), np.zeros(games, np.int64)
        self.lost, self.absent = np.zeros(columns, np.bool_), np.ones(columns, np.bool_)
        try:
            self._space, self._actions = self._spaces(name)
            actions = known_spaces.actions(name, self._actions, self._adapt)
            divided = self._adapt and settings.observation != "flat"
            known_spaces.check_observations(name, self._space, self._adapt, divided)
            self._use(Parts(self._space, self._adapt, divided, 0), columns)
            with blaming(f"Cannot start the game '{name}'"):
                if self._says_masks():
                    actions = actions._replace(masked=True)
                    self._use(Parts(self._space, self._adapt, divided, actions.policy_size), columns)
                    self.reset()
        except ConfigError:
            self.close()
            raise
        self.spec = EnvironmentSpec(
            name=shown_name(name),
            observation_shape=self._shown.shape[1:],
            observation_dtype=str(self._shown.dtype),
            actions=actions,
            frames_per_step=1,
            layout=self._parts.layout if self._parts.needed else None,
            players=len(self._players),
        )

    def _spaces(self, name: str) -> tuple[spaces.Space, spaces.Space]:
        """Returns the spaces that all players share. Raises ConfigError where they do not."""
        game, found = self._games[0], []
        for kind in ("observation_space", "action_space"):
            with blaming(f"The game '{name}' failed"):
                first, *others = [getattr(game, kind)(player) for player in self._players]
            if any(other != first for other in others):
                raise ConfigError(
                    f"The players of the game '{name}' have different spaces ({kind}), and one policy is for all: wrap "
                    "it, so that all have the same."
                )
            found.append(first)
        return found[0], found[1]

    def _use(self, parts: Parts, columns: int) -> None:
        """Makes the rows of all players, and the observations that lie in them."""
        self._parts, self._rows = parts, np.zeros((columns, parts.layout.size), np.uint8)
        self._masks = [Masks(self._actions if self._with_masks else None) for _ in range(columns)]
        self._shown = parts.as_observations(self._rows)

    def _says_masks(self) -> bool:
        """Starts all games. Returns True if they say which actions are allowed."""
        self.reset()
        return any(mask.given for mask in self._masks)

    def reset(self) -> np.ndarray:
        for game, seed in enumerate(self._seeds):
            self._begin(game, seed)
        return self._shown

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts the games of the marked columns anew (bool [columns], one at the least). Returns all observations."""
        for game in np.flatnonzero(envs.reshape(len(self._games), -1).any(axis=1)):
            self._begin(game)
        return self._shown

    def step(self, actions: np.ndarray):
        columns = len(self._rows)
        rewards = np.zeros(columns)
        terminated, truncated = np.zeros(columns, np.bool_), np.zeros(columns, np.bool_)
        taken = self.as_the_game_wants(actions)
        self.lost[:] = False
        for game in range(len(self._games)):
            playing = ~self.absent[self._columns(game)] & (not self._over[game])  # a step of theirs may be lost
            try:
                if self._over[game]:
                    self._begin(game)
                else:
                    self._play(game, taken, rewards, terminated, truncated)
            except BaseException as error:
                for array in (rewards, terminated, truncated):
                    array[self._columns(game)] = 0
                self._make_anew(game, error, playing)
        return self._shown, rewards, terminated, truncated, np.zeros(columns, np.bool_)

    def as_the_game_wants(self, actions: np.ndarray) -> np.ndarray:
        """Returns the actions of players as the game counts them."""
        return known_spaces.as_the_game_wants(self._actions, actions, self._adapt)

    def shown(self, observation, mask=None) -> tuple[np.ndarray, bool]:
        """Returns an observation of a player, or a batch of them, as the network gets it, as `Parts.shown` says."""
        return self._parts.shown(observation, mask)

    def _columns(self, game: int) -> slice:
        return slice(game * len(self._players), (game + 1) * len(self._players))

    def _begin(self, game: int, seed: int | None = None) -> None:
        observations, infos = self._games[game].reset(seed=seed)
        for column, player in enumerate(self._players, self._columns(game).start):
            self.absent[column] = player not in self._games[game].agents
            if not self.absent[column]:
                self._see(column, observations[player], infos.get(player), "reset()", over=False)
        self._over[game] = not self._games[game].agents

    def _play(self, game: int, taken: np.ndarray, rewards, terminated, truncated) -> None:
        places = dict(zip(self._players, range(len(self._rows))[self._columns(game)], strict=True))
        playing = [player for player, column in places.items() if not self.absent[column]]
        one = int if isinstance(self._actions, spaces.Discrete) else np.asarray
        result = self._games[game].step({player: one(taken[places[player]]) for player in playing})
        observations, earned, ends, cuts, infos = result
        agents = self._games[game].agents
        for player, column in places.items():
            if player in playing:
                if not is_reward(reward := earned.get(player, 0.0)):
                    raise GameFault(f"step() returned the reward {reward!r}, which is no finite number of float32")
                rewards[column], terminated[column] = reward, bool(ends.get(player))
                # Who leaves without an end was cut off.
                truncated[column] = bool(cuts.get(player)) or not (terminated[column] or player in agents)
            over = bool(terminated[column] or truncated[column])
            if player in observations:
                self._see(column, observations[player], infos.get(player), "step()", over)
            elif player in agents and not over:
                raise GameFault(f"step() returned no observation of '{player}', who plays on")
            self.absent[column] = over or player not in agents
        self._over[game], self._steps[game] = not agents, self._steps[game] + 1
        if self._restarts:
            self._restarts.stepped(game)

    def _see(self, column: int, observation, info, call: str, over: bool) -> None:
        """Puts what a player sees into its row. Raises GameFault."""
        if fault := fault_of(self._space, observation):
            raise GameFault(f"{call} returned an observation that {fault}: the observation_space of a player says so")
        mask = self._masks[column].of(info, call, over).get(action_masks.KEY)
        self._rows[column] = self._parts.row(observation, mask if self._parts.layout.has(MASK) else None)

    def _make_anew(self, game: int, error: BaseException, playing: np.ndarray) -> None:
        """Makes a game again whose code failed, as `restarted.Restarted` does; the step of those `playing` is lost."""
        while True:
            if self._restarts is None or isinstance(error, KeyboardInterrupt):
                raise error
            self._restarts.failed(game, error, int(self._steps[game]))
            self._steps[game] = 0
            try:
                _close(self._games[game])
                self._games[game] = self._make()
                self._begin(game, int(self._anew.spawn(1)[0].generate_state(1)[0] >> 1))
                self.lost[self._columns(game)] = playing
                return
            except BaseException as another:
                error = another

    def start_lines(self, network: str) -> list[str]:
        """Returns the lines that a run prints at its start about players, observations, actions and the network."""
        players = f"Players: {len(self._players)}, with one policy; each counts as a game."
        return [players, *known_spaces.start_lines(self._parts.text(), self._actions, self._adapt, network)]

    def pictures(self) -> np.ndarray:
        """Returns the picture of each player's game, uint8 [columns, height, width, 3]."""
        drawn = [game.render() for game in self._games]
        pictures, self._picture_size = rendered.of_one_size(drawn, self._picture_size)
        return np.repeat(pictures, len(self._players), axis=0)

    @property
    def pictures_per_second(self) -> float:
        """The game's own frame rate; 30 if it names none."""
        return rendered.pictures_per_second(getattr(self._games[0], "metadata", {}))

    def close(self) -> None:
        for game in self._games:
            _close(game)


def _close(game) -> None:
    """Closes a game that is not needed any more, whatever its own code does."""
    with contextlib.suppress(ConfigError), blaming("It cannot be closed"):
        game.close()
