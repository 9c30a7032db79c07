"""V-trace: targets for steps that an older policy took (Espeholt et al. 2018, section 4.1), as a pure function."""

from typing import NamedTuple

import tensorflow as tf

from ga3c.algorithms.returns import Played, after, backwards
from ga3c.settings.learning import LearningSettings


class Targets(NamedTuple):
    """Targets, float32 [time, columns]; constants to the gradient. Rows that are not valid hold no meaning."""

    values: tf.Tensor  # v_t, which V(s_t) is to approach
    advantages: tf.Tensor  # rho_t (r_t + discount v_{t+1} - V(s_t)), the weight of the policy's gradient


def targets(played: Played, log_ratios: tf.Tensor, settings: LearningSettings) -> Targets:
    """v_t = V(s_t) + delta_t + discount c_t (v_{t+1} - V(s_{t+1})), from the end of the rollout backwards, with

    delta_t = rho_t (r_t + discount V(s_{t+1}) - V(s_t)), rho_t = min(rho_limit, pi(a_t) / mu(a_t)) and
    c_t = lambda min(c_limit, pi(a_t) / mu(a_t)): Eq. 1 and remarks 1 and 2; Dalton et al. 2020 (CuLE), Eq. 4 to 9.
    With lambda < 1 the advantage looks as far ahead as the target: v_{t+1} is mixed with V(s_{t+1}). So with equal
    policies the targets are those of `returns.lambda_returns`, and the advantages their errors.

    Args:
        played: the rollouts, with values of the newest weights.
        log_ratios: float32 [time, columns], log pi(a_t) - log mu(a_t): pi is the newest policy, mu the one that acted.
    """
    discount, return_lambda = settings.discount, settings.return_lambda
    ratios = tf.exp(log_ratios)
    rho = tf.minimum(ratios, settings.vtrace_rho_limit)
    c = return_lambda * tf.minimum(ratios, settings.vtrace_c_limit)
    values, last = played.values, played.last_value
    following = tf.where(played.terminated, 0.0, after(values, last))  # V(s_{t+1})
    delta = rho * (played.rewards + discount * following - values)
    goes_on = ~(played.terminated | played.truncated)
    reached = values + delta - tf.where(goes_on, discount * c * following, 0.0)
    offsets = tf.where(played.valid, reached, tf.where(played.truncated, values, 0.0))
    factors = tf.where(played.valid, tf.where(goes_on, discount * c, 0.0), tf.where(played.truncated, 0.0, 1.0))
    found = backwards(offsets, factors, last)
    ahead = tf.where(goes_on, after(found, last), following)  # v_{t+1}: the next row may be another episode's
    mixed = following + return_lambda * (ahead - following)
    advantages = rho * (played.rewards + discount * mixed - values)
    return Targets(tf.stop_gradient(found), tf.stop_gradient(advantages))
