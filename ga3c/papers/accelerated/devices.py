"""Runs on several devices: GPUs, or at cpu scale parts of the cores."""

from dataclasses import dataclass

from ga3c.experiments import tables
from ga3c.papers.accelerated import Options
from ga3c.papers.replayed import ReplayedRun, hours
from ga3c.settings.presets import agents_of

ON_CORES = "Devices are parts of one CPU here, which share its cores: this shows the wiring, not a speed-up."
GAMES = {"a2c": 16, "a3c": 16, "ppo": 8, "appo": 8}  # on each device (table 2)
ASYNCHRONOUS = {"a3c": "a2c", "appo": "ppo"}  # and what their units learn by
APPO_RATE = 2.5e-4 / 4  # section 5.3
PPO_BATCH_STEPS = 2048  # section 5.3: 8 games of 256 steps; with more games in a batch fewer steps of each
EXCHANGE_MINIBATCHES, PULL_STEPS = 4, 64  # section 5.3: the paper exchanges weights after 1 to 4 updates


def flag(scale: str, count: int) -> str | None:
    """Returns the value of --devices for so many; None for one, which needs no flag."""
    if count == 1:
        return None
    return f"cpu:{count}" if scale == "cpu" else "gpu:" + ",".join(map(str, range(count)))


def preset(algorithm: str) -> str:
    """Returns the preset with the constants of the paper, by which the algorithm's units learn."""
    learns_by = ASYNCHRONOUS.get(algorithm, algorithm)
    return "ppo-paper" if learns_by == "ppo" else learns_by


def horizon(algorithm: str, count: int) -> int | None:
    """Returns the steps of a rollout on so many devices; None: those of the preset."""
    if preset(algorithm) != "ppo-paper":
        return None
    return PPO_BATCH_STEPS // (GAMES[algorithm] * (1 if algorithm in ASYNCHRONOUS else count))


def appo(exchange_minibatches: int = EXCHANGE_MINIBATCHES) -> dict[str, object]:
    """Returns settings of APPO's units (section 5.3): a quarter of PPO's rate, no schedule, and their exchange."""
    return {
        "learning_rate": APPO_RATE,
        "learning_rate_schedule": "inverse",
        "learning_rate_decay_steps": 0,
        "device_exchange_minibatches": exchange_minibatches,
        "device_pull_steps": PULL_STEPS,
    }


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
    learning_rate: float | None = None
    learning_rate_schedule: str | None = None
    learning_rate_decay_steps: int | None = None
    device_exchange_minibatches: int | None = None
    device_pull_steps: int | None = None
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


def hours_table(speeds: dict[tuple[str, int], float], paper: dict[str, dict[int, float]], digits: int) -> str:
    """Returns a table of hours: a row for each algorithm, a column for each number of devices.

    `speeds`: steps per second by algorithm and number of devices.
    """
    counts = list(dict.fromkeys(count for _, count in speeds))
    rows = []
    for algorithm in dict.fromkeys(algorithm for algorithm, _ in speeds):
        cells = []
        for count in counts:
            speed, theirs = speeds.get((algorithm, count)), paper[algorithm].get(count)
            own = f"{hours(speed):.{digits}f} h ({speed:,.0f} steps/s)" if speed else "-"
            cells.append(own + (f"; paper {theirs} h" if theirs else ""))
        rows.append([algorithm, *cells])
    return tables.markdown(["algorithm", *(f"{count} device{'s' * (count > 1)}" for count in counts)], rows)
