"""PQN: parallelised Q-learning without replay and without a target network (Gallici et al. 2024)."""

import tensorflow as tf

from ga3c.algorithms import masked, minibatches, schedules
from ga3c.algorithms.ppo import PPO


def act(outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
    """The best action, or with probability `explore` any: epsilon-greedy. Arguments and result as `softmax.act`.

    outputs: action values float32 [batch, actions], and the largest of them [batch].
    """
    q_values, best_values = outputs
    actions = q_values.shape[1]
    whether, which = tf.unstack(tf.random.stateless_uniform((tf.shape(q_values)[0], 2), seed), axis=1)
    best = tf.argmax(q_values, axis=1, output_type=tf.int32)
    taken = tf.where(whether < explore, tf.minimum(tf.cast(which * actions, tf.int32), actions - 1), best)
    probability = explore / actions + tf.where(taken == best, 1.0 - explore, 0.0)
    return {"action": taken, "log_probability": tf.math.log(probability), "value": best_values}


class PQN(PPO):
    """PPO's passes over each batch, with a loss of action values.

    Targets are Peng's Q(lambda): lambda-returns with max_a Q(s, a) for the value of a state, of the newest weights
    before the first epoch (Gallici et al. 2024, algorithm 1).
    """

    act = staticmethod(act)

    def exploration(self, steps: int) -> float:
        """Epsilon after so many steps of play."""
        settings = self._settings
        return schedules.linear(
            steps, settings.exploration_start, settings.exploration_end, settings.exploration_decay_steps
        )

    def update(self, apply, weights, state, learning_rate, batch):
        """As PPO's. The loss is half the mean of (R - Q(s, a))^2 over the valid steps."""
        rows = self._rows(apply, weights, batch)

        def of_minibatch(weights, minibatch):
            q_values, best_values = apply(weights, minibatch["observation"])
            taken = tf.gather(q_values, minibatch["action"], batch_dims=1)
            error, valid = minibatch["return"] - taken, minibatch["valid"]
            loss = 0.5 * masked.mean(tf.square(error), valid)
            return loss, (loss, masked.mean(best_values, valid), masked.root_mean_square(error, valid))

        names = ("loss", "value", "value_error")
        new_weights, state, numbers = minibatches.learn(
            of_minibatch, names, weights, state, learning_rate, rows, self._settings, rectified=True
        )
        numbers |= {
            "explained_variance": masked.explained_variance(rows["return"], rows["value"], rows["valid"]),
            "update_norm": tf.linalg.global_norm([new - old for new, old in zip(new_weights, weights, strict=True)]),
        }
        return new_weights, state, numbers
