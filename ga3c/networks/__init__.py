"""Networks by name. Each is a Keras model from observations [batch, ...] to the outputs that its algorithm knows.

The first two outputs are (policy [batch, actions.policy_size], value [batch]), or for Q-learning (action values
[batch, actions], the largest of them [batch]), or for DPG (actions [batch, n], their values [batch]). With normalised
values there is a third: the deviation of the targets, [batch].
"""

from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.algorithm_row import AlgorithmRow
from ga3c.settings.catalogue import ALGORITHMS, NETWORKS, preset_for
from ga3c.settings.named_objects import is_name


def resolve(name: str, spec: EnvironmentSpec, algorithm: str = "a3c") -> str:
    """Returns the network that `name` stands for: "auto" is the one that fits the algorithm and the observations.
    A function of the user's own (package.module:function) stays as it is.

    Raises ConfigError where algorithm, network and game do not fit.
    """
    pictures, row = spec.has_pictures, ALGORITHMS[algorithm]
    actions = spec.actions.kind
    if actions not in row.actions or (pictures and not row.pictures):
        raise ConfigError(f"'{spec.name}' has {_unfit(actions, row, algorithm)}.")
    if is_name(name):
        if "dpg-mlp" in row.vectors:
            raise ConfigError(f"--network {name} does not fit --algorithm {algorithm}, whose network has two parts.")
        return name
    fitting = row.pictures if pictures else row.vectors
    if name == "auto" or (name == "compact" and not pictures):  # a preset's compact is for the pictures
        return fitting[-1 if spec.actions.continuous and not pictures else 0]
    if name not in (*row.pictures, *row.vectors):
        raise ConfigError(f"--network {name} does not fit --algorithm {algorithm}: leave --network out.")
    if name in row.pictures and not pictures:
        raise ConfigError(f"--network {name} needs images; '{spec.name}' has vectors: use --network {row.vectors[0]}.")
    return name


def _unfit(actions: str, row: AlgorithmRow, algorithm: str) -> str:
    """Returns what a game has that the algorithm cannot use, and the preset to use instead."""
    if actions in row.actions:
        has, wants = "images", "vectors"
    else:
        has, wants = f"{actions} actions", f"{row.actions[0]} ones"
    return f"{has}, and --algorithm {algorithm} {wants} alone: use --preset {preset_for(actions, algorithm)}"


def build(
    name: str,
    spec: EnvironmentSpec,
    seed: int,
    standardize: bool = False,
    precision: str = "float32",
    has_policy: bool = True,
    **options,
):
    """Returns the network `name` (not "auto") with fresh weights, a keras.Model.

    standardize: networks for images or several parts, and separate-mlp, subtract the mean of the observations so far,
        which they keep in weights that no gradient changes.
    precision: what networks for images compute with, except for their last layers. Weights and outputs are float32.
    has_policy: False for an algorithm that learns values of actions. It is for a function of the user's own.
    options: arguments of dqn and dqn-mlp: `dueling` and `support` (`action_value`); of networks for a policy:
        `normalize_values` (`heads.value`) and `memory` (`recurrent.Memory`), with which it is a `recurrent.Recurrent`.

    Raises ConfigError where the images are too small for it.
    """
    import keras  # here: to look a name up must not load TensorFlow

    from ga3c.networks import action_value, actor_critic, layer_normalized, mlp, own, policy_value
    from ga3c.networks.inputs import Seen

    keras.utils.set_random_seed(seed)
    if is_name(name):
        return own.build(name, spec, has_policy, options)
    seen, actions = Seen.of(spec, standardize), spec.actions
    if name == "mlp":
        return mlp.mlp(seen, actions, **options)
    if name == "separate-mlp":
        return mlp.separate(seen, actions, **options)
    if name == "pqn-mlp":
        return layer_normalized.vectors(seen, actions.count)
    if name == "dqn-mlp":
        return action_value.vectors(seen, actions.count, **options)
    if name == "dpg-mlp":
        return actor_critic.ActorCritic(seen._replace(standardize=False), actions)
    dtype = "float32" if precision == "float32" else f"mixed_{precision}"
    try:
        if name == "dqn":
            network = action_value.images(seen, actions.count, **options, dtype=dtype)
        elif name == "pqn":
            network = layer_normalized.images(seen, actions.count, dtype)
        else:
            network = policy_value.images(name, seen, actions, dtype, **options)
        if any(0 in variable.shape for variable in network.trainable_variables):
            raise ValueError("Nothing is left of the image after the convolutions.")
        return network
    except ValueError as error:
        raise _too_small(name, seen.smallest_picture) from error


def _too_small(name: str, shape: tuple[int, ...]) -> ConfigError:
    smaller = f"{name}-mlp" if f"{name}-mlp" in NETWORKS else "mlp"
    turned = ""
    if shape[0] in (1, 3, 4) and shape[-1] not in (1, 3, 4):
        turned = f" The shape {shape} looks as if channels came first: give [height, width, channels]."
    return ConfigError(
        f"Images of {shape[0]}x{shape[1]} pixels are too small for --network {name}: use --network {smaller}, with "
        f"--no-adapt-spaces.{turned}"
    )
