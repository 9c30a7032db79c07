"""Every option of `train`, grouped by what a person wants to do: ./run.sh --help-all."""

import re
import shutil
import textwrap
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ga3c.commands.help import texts
from ga3c.settings import catalogue, flag_of

_REPLAYING = catalogue.listed(catalogue.names(row for row in catalogue.ALGORITHMS.values() if row.replays), "and")
GROUPS = {
    "What is trained": """game environment_arguments wrapper observation adapt_spaces action_masks preset algorithm
        dataset own_algorithm network memory memory_units seed start_from resume trust""",
    "How long": "steps minutes episodes",
    "The rules of Atari games, and what the agent sees of them": """protocol frame_skip_frames frame_size_pixels
        frame_stack no_op_max_steps sticky_action_probability full_action_set fire_reset life_loss_terminates
        stall_limit_steps episode_cap_frames""",
    "How it samples": "sampling serial agents envs_per_agent t_max games batches start_steps_limit",
    "How it learns": """minimum_batch_steps discount return_lambda reward_clip reward_scaling_discount
        reward_scaling_limit entropy_weight entropy_target entropy_target_decay_steps value_weight normalize_advantages
        normalize_values log_epsilon vtrace_rho_limit vtrace_c_limit epochs later_epochs_share minibatches
        ppo_clip value_clip error_clip input_scaling""",
    "The optimizer": """optimizer learning_rate learning_rate_schedule learning_rate_decay_steps kl_target
        learning_rate_batch_steps gradient_clip_norm actor_gradient_clip rmsprop_decay rmsprop_epsilon adam_epsilon""",
    "How it explores": """exploration exploration_start exploration_end exploration_decay_steps exploration_base
        exploration_exponent exploration_levels exploration_noise""",
    f"Replay memory ({_REPLAYING})": """replay_transitions replay_minimum_transitions batch steps_per_update
        target_updates n_steps double_q dueling atoms value_limit priority_alpha priority_error priority_beta
        priority_beta_final replay_eviction eviction_alpha replay_copies concurrent_training prefetch_batches
        replay_compression checkpoint_replay secondary_batch""",
    "The controller, and what it controls": """controller controller_seconds policy_lag_limit_updates predictors
        trainers""",
    "Speed and machine": """device precision emulator pin_agents xla tensorflow_threads max_prediction_batch
        agent_silence_seconds""",
    "Several devices": "devices device_updates device_exchange_minibatches device_pull_steps",
    "Many machines": "cluster experience_age_limit_updates replay_shards",
    "What is written and shown": """name run_dir console track record_norms log_seconds plot_seconds stall_seconds
        checkpoint_seconds checkpoints_kept checkpoint_steps checkpoint_games""",
}
VALUES = {
    "game": "GAME", "start_from": "RUN", "resume": "[RUN]", "name": "NAME", "run_dir": "DIRECTORY",
    "dataset": "DATASET", "environment_arguments": "JSON", "wrapper": "MODULE:WRAPPER [...]",
    "devices": "DEVICES", "cluster": "ADDRESS", "own_algorithm": "MODULE:CLASS",
    "track": "TRACKER [...]",
}  # fmt: skip
WIDEST = 100  # characters in a line: longer lines are hard to read


def text_of(options: Any) -> str:
    """Returns the help of every option. options: their defaults, a dataclass of dataclasses of settings."""
    known = {name: (kind, value, text) for group in _groups(options) for name, kind, value, text in _settings(group)}
    width = min(WIDEST, shutil.get_terminal_size((80, 24)).columns)
    lines = ["usage: ./run.sh [train] [OPTIONS]", ""]
    lines += textwrap.wrap(
        "Trains an agent. ./run.sh help shows the commands and what people use first. The defaults shown are "
        "those of Atari games, or of the preset or game that is named: ./run.sh --preset NAME --help.", width,
    )  # fmt: skip
    for title, names in GROUPS.items():
        lines += ["", title, "-" * len(title)]
        for name in names.split():
            lines += ["", *_entry(name, *known[name], width)]
    return "\n".join(lines)


def _groups(options: Any) -> list:
    return [options, *(value for value in vars(options).values() if is_dataclass(value))]


def _settings(group: Any):
    """Yields name, type, value and text of each setting of one group."""
    said, kinds = texts(type(group)), get_type_hints(type(group))
    for field in fields(group):
        if field.name in said:
            yield field.name, kinds[field.name], getattr(group, field.name), said[field.name]


def _entry(name: str, kind: Any, value: Any, text: str, width: int) -> list[str]:
    """Returns the flag with its default, and below it its text, with a line for each word that it may have."""
    literals = [one for one in (kind, *get_args(kind)) if get_origin(one) is Literal]
    words = list(map(str, get_args(literals[0]))) if literals else []
    paragraphs = re.split(rf"\n(?=(?:{'|'.join(map(re.escape, words))}): )", text) if words else [text]
    explained = {paragraph.partition(":")[0] for paragraph in paragraphs[1:]}
    if len(explained) < len(words):
        paragraphs.insert(1, f"Say one of {', '.join(words)}.")
    default = "" if value in (None, ()) else f"  (default: {_said(value)})"
    lines = [f"  {_flag(name, kind, value)}{default}"]
    for paragraph in paragraphs:
        indent = 8 if paragraph.partition(":")[0] in explained else 6
        lines += textwrap.wrap(
            " ".join(paragraph.split()), width, initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 4 * (indent > 6)), break_on_hyphens=False, break_long_words=False,
        )  # fmt: skip
    return lines


def _flag(name: str, kind: Any, value: Any) -> str:
    flag = flag_of(name)
    if isinstance(value, bool):
        return f"{flag}, {flag_of(f'no_{name}')}" if value else flag
    numbers = {int: "INT", float: "NUMBER"}
    kinds = [numbers[one] for one in (kind, *get_args(kind)) if one in numbers]
    return f"{flag} {VALUES.get(name) or (kinds[0] if kinds else 'WORD')}"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
