"""Networks by name. Each maps a batch of observations to (policy logits [batch, actions], value [batch])."""

from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec


def resolve(name: str, spec: EnvironmentSpec) -> str:
    """The network that `name` stands for; "auto" picks the one that fits the observations. Raises ConfigError."""
    is_image = len(spec.observation_shape) == 3
    if name == "auto":
        return "small" if is_image else "mlp"
    if name != "mlp" and not is_image:
        raise ConfigError(f"--network {name} needs images; '{spec.name}' has vectors: use --network mlp.")
    return name


def build(name: str, spec: EnvironmentSpec, seed: int, standardize: bool = False):
    """The network `name` (not "auto") with fresh weights, a keras.Model.

    With `standardize` one for images takes the mean state off, which it keeps in weights that are not trained.

    Raises ConfigError where the images are too small for it.
    """
    import keras  # here: to look a name up must not load TensorFlow

    from ga3c.networks import a3c, mlp

    keras.utils.set_random_seed(seed)
    if name == "mlp":
        return mlp.mlp(spec.observation_shape, spec.actions)
    try:
        if name == "small":
            return a3c.small(spec.observation_shape, spec.actions, standardize)
        return a3c.large(spec.observation_shape, spec.actions, standardize, first_stride=int(name.rpartition("-")[2]))
    except ValueError as error:
        size = "x".join(map(str, spec.observation_shape[:2]))
        raise ConfigError(f"Images of {size} pixels are too small for --network {name}: use --network mlp.") from error
