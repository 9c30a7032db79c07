"""Networks by name. Each maps a batch of observations to (policy [batch, actions.policy_size], value [batch]).

Those of Q-learning give action values and the largest of them instead, those of DPG actions and their values
(`networks.dpg`).
"""

from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec

# Algorithms that learn action values, and their networks.
OF_VALUES = {"pqn": "pqn", "dqn": "dqn", "c51": "dqn", "dpg": "dpg"}
CONTINUOUS = ("a2c", "a2c-vtrace", "ppo", "appo", "dpg")  # algorithms that have continuous actions, too


def resolve(name: str, spec: EnvironmentSpec, algorithm: str = "a3c") -> str:
    """The network that `name` stands for; "auto" picks the one that fits algorithm and observations.

    Raises ConfigError.
    """
    is_image, own = len(spec.observation_shape) == 3, OF_VALUES.get(algorithm)
    if spec.actions.continuous and algorithm not in CONTINUOUS:
        raise ConfigError(
            f"'{spec.name}' has continuous actions, and --algorithm {algorithm} discrete ones alone: "
            "use --preset ppo-continuous."
        )
    if algorithm == "dpg" and (is_image or not spec.actions.continuous):
        has, wants = ("images", "vectors") if is_image else ("discrete actions", "continuous ones")
        preset = "ppo-continuous" if spec.actions.continuous else "apex-dqn"
        raise ConfigError(f"'{spec.name}' has {has}, and --algorithm dpg {wants} alone: use --preset {preset}.")
    if name == "auto":
        vectors = f"{own}-mlp" if own else "separate-mlp" if spec.actions.continuous else "mlp"
        return (own or "small") if is_image else vectors
    if (name.removesuffix("-mlp") if name.startswith(tuple(OF_VALUES)) else None) != own:
        raise ConfigError(f"--network {name} does not fit --algorithm {algorithm}: leave --network out.")
    if not name.endswith("mlp") and not is_image:
        vectors = f"{own}-mlp" if own else "mlp"
        raise ConfigError(f"--network {name} needs images; '{spec.name}' has vectors: use --network {vectors}.")
    return name


def build(
    name: str, spec: EnvironmentSpec, seed: int, standardize: bool = False, precision: str = "float32", **options
):
    """The network `name` (not "auto") with fresh weights, a keras.Model. `options`: of dqn and dqn-mlp, see there.

    `precision`: what networks for images compute with, but for their last layers; weights and outputs are float32.

    With `standardize` one for images, or separate-mlp, takes the mean state off, which it keeps in weights that are
    not trained.

    Raises ConfigError where the images are too small for it.
    """
    import keras  # here: to look a name up must not load TensorFlow

    from ga3c.networks import action_value, actor_critic, layer_normalized, mlp, policy_value

    keras.utils.set_random_seed(seed)
    if name == "mlp":
        return mlp.mlp(spec.observation_shape, spec.actions)
    if name == "separate-mlp":
        return mlp.separate(spec.observation_shape, spec.actions, standardize)
    if name == "pqn-mlp":
        return layer_normalized.vectors(spec.observation_shape, spec.actions.count)
    if name == "dqn-mlp":
        return action_value.vectors(spec.observation_shape, spec.actions.count, **options)
    if name == "dpg-mlp":
        return actor_critic.ActorCritic(spec.observation_shape, spec.actions)
    dtype = "float32" if precision == "float32" else f"mixed_{precision}"
    try:
        if name == "dqn":
            network = action_value.images(
                spec.observation_shape, spec.actions.count, standardize, **options, dtype=dtype
            )
        elif name == "pqn":
            network = layer_normalized.images(spec.observation_shape, spec.actions.count, standardize, dtype)
        elif name == "small":
            network = policy_value.small(spec.observation_shape, spec.actions, standardize, dtype)
        else:
            stride = int(name.rpartition("-")[2])
            network = policy_value.large(spec.observation_shape, spec.actions, standardize, stride, dtype)
        if any(0 in variable.shape for variable in network.trainable_variables):
            raise ValueError("Nothing is left of the image after the convolutions.")
        return network
    except ValueError as error:
        smaller = f"{name}-mlp" if name in OF_VALUES.values() else "mlp"
        size = "x".join(map(str, spec.observation_shape[:2]))
        first, last = spec.observation_shape[0], spec.observation_shape[-1]
        turned = ""
        if first in (1, 3, 4) and last not in (1, 3, 4):
            shape = spec.observation_shape
            turned = f" The shape {shape} looks as if channels came first: give [height, width, channels]."
        raise ConfigError(
            f"Images of {size} pixels are too small for --network {name}: use --network {smaller}, with "
            f"--no-adapt-spaces.{turned}"
        ) from error
