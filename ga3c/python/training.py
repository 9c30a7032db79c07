"""`ga3c.train`: what ./run.sh does, from Python."""

import threading
from collections.abc import Callable
from typing import Any

from ga3c.commands.train import Host
from ga3c.commands.train import train as train_as_asked
from ga3c.commands.train_options import Start, parse_settings
from ga3c.environments import own_games
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.machine import check_limits
from ga3c.python.guest import guest
from ga3c.python.trained_run import Run
from ga3c.python.words import words_of
from ga3c.records.console import Console
from ga3c.views.progress_bar import ProgressBar


def train(
    environment: Any = None,
    *,
    network: Any = None,
    algorithm: Any = None,
    on_row: Callable[[dict[str, float]], Any] | None = None,
    **settings: Any,
) -> Run:
    """Trains an agent, and returns its run when that has ended. Ctrl-C ends it, too: it is saved and returned.

    Args:
        environment: a game by name; a Gymnasium environment, as its class or as a function that makes one
            (`environment_arguments`: its arguments, a dict); or a ready `gymnasium.vector.VectorEnv`.
        network: the name of a network, or a function (space of observations, actions) -> Keras model.
        algorithm: the name of an algorithm; an object of the protocol `ga3c.algorithms.algorithm.Algorithm`; or a class
            or function that makes one from the settings and the game's actions.
        on_row: is called with each row of the log, by column, a few seconds after it was written. True ends the run.
        settings: any setting of `./run.sh --help-all` by its name: steps=100_000, preset="ppo", seed=1.

    Raises ConfigError for a wrong setting, with the line that the command prints, and TrainingFailed.
    """
    here = own_games.here()
    if on_row is not None and not callable(on_row):
        raise ConfigError(f"on_row is {on_row!r}: give a function of a row.")
    with guest():
        check_limits()
        start = parse_settings(words_of(environment, network, algorithm, settings))
        host, signals = _host_of(start, on_row)
        try:
            ended = train_as_asked(start, here, lambda: host)
        finally:
            signals.restore()
            host.console.close()
    if ended.failure:
        raise TrainingFailed(ended.failure)
    if not ended.saved:
        raise TrainingFailed(f"The last checkpoint of {ended.path} could not be written.")
    return Run(ended.path)


class _Signals:
    """The signals of the process, while a run has them. Outside of the main thread it leaves them alone."""

    def __init__(self):
        self._taken = None

    def take(self, server) -> "_Signals":
        from ga3c.server.signals import Signals

        if threading.current_thread() is threading.main_thread():
            self._taken = Signals(server, second_ends=False)
        return self

    @property
    def status(self) -> int:
        return self._taken.status if self._taken else 0

    @property
    def count(self) -> int:
        return self._taken.count if self._taken else 0

    def restore(self) -> None:
        if self._taken:
            self._taken.restore()


def _host_of(start: Start, on_row: Callable | None) -> tuple[Host, _Signals]:
    run, signals = start.settings.run, _Signals()
    as_command = run.console != "auto"
    bar = ProgressBar(run, on_row, Console() if as_command else None)

    def look(server) -> None:
        bar.seconds_before = server.system.stats.seconds_before
        if bar.look():
            server.request_stop()

    return Host(bar, signals.take, look, has_screen=as_command), signals
