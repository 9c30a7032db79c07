"""The columns of a run's logs."""

from dataclasses import dataclass, field, fields

from ga3c.controller.counts import Decision

LOGS = ("throughput", "episodes", "controller", "messages")
EPISODE_COLUMNS = ["seconds", "steps", "score", "length_steps", "agent"]


@dataclass
class Throughput:
    """One row of throughput.csv; README.md here explains each column."""

    seconds: float
    steps: int
    frames: int
    pps: float
    tps: float
    updates_per_second: float
    trained_steps_per_second: float
    frames_per_second: float
    agents: int
    predictors: int
    trainers: int
    games: int  # under way: those of the agents that have started
    prediction_queue: int
    training_queue: int
    mean_prediction_batch: float
    mean_training_batch: float
    mean_policy_lag_updates: float
    max_policy_lag_updates: int
    episodes: int
    mean_score: float
    trained_steps: int
    lost_steps: int
    skipped_updates: int
    agents_core_ms_per_step: float
    server_core_ms_per_step: float
    cores_used: float  # by agents and server
    prediction_ms: float
    prediction_queue_ms: float
    prediction_queue_model_ms: float
    prediction_assembly_ms: float
    prediction_model_ms: float
    prediction_reply_ms: float
    predictor_waiting_share: float
    training_queue_ms: float
    update_ms: float
    update_assembly_ms: float
    update_model_ms: float
    trainer_waiting_share: float
    # Of the algorithm, by its names: means over the updates; and what a system says besides.
    numbers: dict[str, float] = field(default_factory=dict)

    def cells(self) -> dict[str, float]:
        """Returns the cells of the row by column."""
        fixed = vars(self).copy()
        return fixed | fixed.pop("numbers")


THROUGHPUT_COLUMNS = [f.name for f in fields(Throughput) if f.name != "numbers"]  # the algorithm's numbers follow
DECISION_COLUMNS = Decision.columns()  # of controller.csv
MESSAGE_COLUMNS = ["time", "message"]  # seconds since the epoch
