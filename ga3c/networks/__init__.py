"""Networks by name. Each maps a batch of observations to (policy logits [batch, actions], value [batch]).

Those of PQN give action values and the largest of them instead.
"""

from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec


def resolve(name: str, spec: EnvironmentSpec, algorithm: str = "a3c") -> str:
    """The network that `name` stands for; "auto" picks the one that fits algorithm and observations.

    Raises ConfigError.
    """
    is_image, of_values = len(spec.observation_shape) == 3, algorithm == "pqn"
    if name == "auto":
        return ("pqn" if is_image else "pqn-mlp") if of_values else ("small" if is_image else "mlp")
    if name.startswith("pqn") != of_values:
        raise ConfigError(f"--network {name} does not fit --algorithm {algorithm}: leave --network out.")
    if not name.endswith("mlp") and not is_image:
        vectors = "pqn-mlp" if of_values else "mlp"
        raise ConfigError(f"--network {name} needs images; '{spec.name}' has vectors: use --network {vectors}.")
    return name


def build(name: str, spec: EnvironmentSpec, seed: int, standardize: bool = False):
    """The network `name` (not "auto") with fresh weights, a keras.Model.

    With `standardize` one for images takes the mean state off, which it keeps in weights that are not trained.

    Raises ConfigError where the images are too small for it.
    """
    import keras  # here: to look a name up must not load TensorFlow

    from ga3c.networks import a3c, mlp, pqn

    keras.utils.set_random_seed(seed)
    if name == "mlp":
        return mlp.mlp(spec.observation_shape, spec.actions)
    if name == "pqn-mlp":
        return pqn.vectors(spec.observation_shape, spec.actions)
    try:
        if name == "pqn":
            return pqn.images(spec.observation_shape, spec.actions, standardize)
        if name == "small":
            return a3c.small(spec.observation_shape, spec.actions, standardize)
        return a3c.large(spec.observation_shape, spec.actions, standardize, first_stride=int(name.rpartition("-")[2]))
    except ValueError as error:
        smaller = "pqn-mlp" if name == "pqn" else "mlp"
        size = "x".join(map(str, spec.observation_shape[:2]))
        raise ConfigError(
            f"Images of {size} pixels are too small for --network {name}: use --network {smaller}."
        ) from error
