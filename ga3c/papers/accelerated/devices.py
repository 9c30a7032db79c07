"""Runs on several devices: GPUs, or at cpu scale parts of the cores."""

from dataclasses import dataclass

from ga3c.papers.accelerated import Options
from ga3c.papers.replayed import ReplayedRun
from ga3c.settings.presets import agents_of

ON_CORES = "Devices are parts of one CPU here, which share its cores: this shows the wiring, not a speed-up."
GAMES = {"a2c": 16, "a3c": 16, "ppo": 8, "appo": 8}  # on each device (table 2)
ASYNCHRONOUS = {"a3c": "a2c", "appo": "ppo"}  # and what their units learn by
APPO_RATE = 2.5e-4 / 4  # section 5.3


def flag(scale: str, count: int) -> str | None:
    """Of --devices, for so many; None: one is as usual."""
    if count == 1:
        return None
    return f"cpu:{count}" if scale == "cpu" else "gpu:" + ",".join(map(str, range(count)))


def note(options: Options) -> str:
    return ON_CORES if options.scale == "cpu" else ""


def spread(algorithm: str, count: int) -> dict[str, int]:
    """Settings for the games of so many devices: agents on each as there are cores for it, but one at the least."""
    games = GAMES[algorithm]
    agents = max(1, agents_of(games)["agents"] // count)
    return {"agents": agents * count, "envs_per_agent": games // agents}


@dataclass(frozen=True)
class DeviceRun(ReplayedRun):
    """A run of table 2: `algorithm` is one of GAMES."""

    algorithm: str = "a2c"
    device_updates: str | None = None
    learning_rate: float | None = None
    exploration_start: float | None = None
    exploration_end: float | None = None

    @property
    def name(self) -> str:
        game, count = self.game.rpartition(":")[2], (self.devices or "one").replace(":", "").replace(",", "-")
        return f"{game}-{self.algorithm}-{count}-{self.agents}x{self.envs_per_agent}"

    def command(self, directory) -> list[str]:
        """`algorithm` is a name of the paper, which the preset stands for."""
        words = super().command(directory)
        at = words.index("--algorithm")
        return [*words[:at], *words[at + 2 :]]
