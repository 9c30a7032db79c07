"""Settings of what is learned from what was played: network, targets, loss, optimizer."""

from dataclasses import dataclass
from typing import Literal

Network = Literal["auto", "small", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1", "mlp"]


@dataclass(frozen=True)
class LearningSettings:
    preset: Literal["default", "paper"] = "default"
    """Defaults of the learning and scheduling settings. paper: the paper's constants and one game for each agent."""
    network: Network = "auto"
    """The paper's small or large networks (section 5.1), or a small fully connected one (mlp).
    auto: small for images, mlp for vectors."""
    input_scaling: Literal["standardized", "bytes"] = "standardized"
    """What images are to the network. standardized: less the mean state of the run, over four standard deviations.
    bytes: 0 to 255 becomes 0 to 1."""
    t_max: int = 10
    """Steps of one rollout (paper: t_max)."""
    minimum_batch_steps: int = 320
    """Steps in one model update (paper, section 5.3: minimum training batch size), rounded up to whole rollouts.
    A rollout that the end of its only game cut short counts as a whole one."""
    discount: float = 0.99
    """Discount of future rewards for each step (paper: gamma)."""
    return_lambda: float = 0.95
    """Weight of longer returns against shorter ones in the targets (lambda of GAE). 1: the n-step return (paper)."""
    lag_correction: bool = False
    """A step counts for less the less likely the newest policy is to repeat it (paper: not).
    The weights are those of V-trace (Espeholt et al. 2018)."""
    normalize_advantages: bool = False
    """Advantages of a batch get mean 0 and deviation 1 before they enter the policy's loss."""
    entropy_weight: float = 0.004
    """Weight of the policy's entropy in the loss (paper: beta)."""
    value_weight: float = 0.1
    """Weight of the squared value error in the loss."""
    learning_rate: float = 8e-4
    """Step size of RMSProp (paper: eta)."""
    learning_rate_decay_steps: int = 1_000_000
    """The step size falls as 1 / (1 + steps / this), so to a half after so many. 0: it stays (paper)."""
    rmsprop_decay: float = 0.99
    """Decay of RMSProp's mean square (paper: alpha)."""
    rmsprop_epsilon: float = 1e-5
    """Added to the mean square inside the square root (paper: epsilon of Eq. 3)."""
    gradient_clip_norm: float = 160.0
    """The summed gradient is scaled down to this norm; 0: never (the paper needs none)."""
    log_epsilon: float = 1e-6
    """Added to probabilities inside logarithms (paper: epsilon of Eq. 5)."""
    seed: int = 0
    """Seeds the weights, the games and the sampling of actions.
    0: one is drawn, written into config.json, and kept over a resume."""
