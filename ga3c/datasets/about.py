"""The description of a data set: which games, played by whom, and under which settings."""

import contextlib
import json
from dataclasses import dataclass, field
from importlib import metadata

import gymnasium

from ga3c import environments
from ga3c.environments import protocols
from ga3c.environments.atari import display_name, options_of
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import saved_settings
from ga3c.settings.game import EnvironmentSettings, game_arguments
from ga3c.settings.run import Settings, without_paths

MINARI_VERSION = "0.5.4"  # whose format is written
OURS = "ga3c"  # the key of what this program says in the metadata


@dataclass(frozen=True)
class About:
    """The facts about the games of a data set."""

    name: str  # as Minari has it: pong/ga3c-v0
    settings: Settings  # with which the agent was trained, and the games were played
    player: str  # in words
    credits: dict[str, str | list[str]] = field(default_factory=dict)  # author, author_email, code_permalink

    @property
    def own(self) -> dict:
        """The part that this program reads again: JSON."""
        settings = without_paths(self.settings)
        fingerprint = protocols.fingerprint(settings.environment)
        return {"settings": saved_settings.to_dict(settings), "protocol": fingerprint, "player": self.player}

    def metadata(self, spec: EnvironmentSpec) -> dict:
        """Returns the entries of Minari's metadata that say what was recorded."""
        environment = self.settings.environment
        made = game_spec(environment)
        seen = "Observations are those of the agent, rewards the game's own."
        return {
            "dataset_id": self.name,
            "minari_version": MINARI_VERSION,
            "algorithm_name": self.settings.learning.algorithm,
            "description": f"{spec.name}, played by {self.player}. {seen} Protocol {self.own['protocol']}.",
            "requirements": [f"{name}=={metadata.version(name)}" for name in ("gymnasium", "ale-py")],
            **({"env_spec": made} if made else {}),
            **self.credits,
            OURS: self.own,
        }


def settings_of(own: dict) -> Settings:
    """Returns the settings in `About.own`. Raises ConfigError, KeyError or TypeError where there are none."""
    return saved_settings.from_dict(own["settings"], own.get("protocol"))


def game_spec(settings: EnvironmentSettings) -> str | None:
    """Returns the JSON of the game in Gymnasium's registry; None where that does not have it.

    Atari games are ALE's, with the rules of the settings. They show the whole picture, and not what the agent sees.
    """
    kind, name = environments.resolve(settings.game)
    if settings.wrapper:
        return None
    arguments = game_arguments(settings)
    if kind == "atari":
        name, arguments = f"ALE/{display_name(name)}-v5", options_of(settings)
    with contextlib.suppress(gymnasium.error.Error, TypeError, ValueError):
        said = json.loads(gymnasium.spec(name.rpartition(":")[2]).to_json())
        return json.dumps(said | {"kwargs": said["kwargs"] | arguments})
    return None
