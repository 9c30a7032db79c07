"""Ape-X on one machine: a replay that nobody waits for, priorities of what is new, and runs as a person starts them."""

import dataclasses
import json
import os
import signal
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.systems.learner import Learner  # isort: skip (first: it loads TensorFlow)
from ga3c import progress
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.replay.asynchronous_queue import AsynchronousReplayQueue
from ga3c.replay.priorities import SMALLEST
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.replay.replay_queue import Updates
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.scheduling.pace import Pace
from ga3c.systems import apex
from ga3c.systems.wiring import Context
from tests import program
from tests.program import CALM, SLOW, TINY, Started
from tests.test_queues import in_thread
from tests.test_replay import DISCOUNT, Player, from_list, restarted
from tests.test_replay_queue import AGENTS, ENVS, STEPS, Agent, check, replay, spied, wait_for
from tests.test_replayed import QUICK, SOLVED

SMALL = [*QUICK[: QUICK.index("--steps-per-update")], "--batch", 32, "--learning-rate", 0.003, "--discount", 0.5]
SMALL += ["--log-seconds", 0.5]


def queue(minimum=8, memory=None, steps=0):
    updates = Updates(Pace(minimum, 0), 64, 3)
    return spied(lambda tell: AsynchronousReplayQueue(memory or replay(), updates, steps, tell))


def test_slots_go_back_while_a_batch_is_learned_from_and_updates_follow_each_other():
    own = queue(steps=100)
    storing, learning = in_thread(own.store), in_thread(own.next_batch)
    agents = [Agent(own, number) for number in range(AGENTS)]
    agents[0].ships()
    wait_for(lambda: own.replay.stored == STEPS, storing)
    assert learning.is_alive()
    agents[1].ships()
    batch = learning.result()  # eight are there; for the next one nobody has to play
    for rollout in range(6):  # more than there are slots
        for agent in agents:
            agent.ships()
        wait_for(lambda: own.replay.stored == (rollout + 2) * 2 * STEPS, storing)  # noqa: B023
    check(batch)
    for number in range(1, 7):
        own.done(batch)
        batch = in_thread(own.next_batch).result()
        check(batch)
        assert batch.steps == 100 + 14 * STEPS
        assert [one for one in own.told if one[0] == "target"] == [("target", batch.steps)] * (number // 3)
    assert {(len(agent.handle.held), agent.handle.trained_steps) for agent in agents} == {(0, 7 * STEPS)}
    own.close()
    assert storing.result() is None
    assert in_thread(own.next_batch).result() is None


def test_batches_are_drawn_ahead_as_many_as_asked_for_and_errors_find_their_transitions():
    memory, updates = replay(alpha=1.0), Updates(Pace(8, 0), 64, 3)
    own = spied(lambda tell: AsynchronousReplayQueue(memory, updates, 0, tell, ahead=2))
    drawn, draw = [], memory.draw
    memory.draw = lambda *given: drawn.append(draw(*given)) or drawn[-1]
    storing, drawing = in_thread(own.store), in_thread(own.draw_ahead)
    agents = [Agent(own, number) for number in range(AGENTS)]
    for _ in range(4):
        for agent in agents:
            agent.ships()
    for number in range(3, 8):
        wait_for(lambda: len(drawn) == number - 1, drawing)  # noqa: B023
        for agent in agents:
            agent.ships()  # more to draw, and still no more is drawn
        batch = in_thread(own.next_batch).result()
        check(batch)
        assert batch.buffer is drawn[number - 3]
        wait_for(lambda: len(drawn) == number, drawing)  # noqa: B023
        others = [one.arrays["observation"] for one in drawn[number - 2 :]]
        assert not any(np.shares_memory(batch.arrays["observation"], other) for other in others)
        own.done(batch, np.full(64, number, np.float32))
        priorities = memory._priorities.of(batch.buffer.places)
        np.testing.assert_allclose(priorities, number + SMALLEST)
    own.close()
    assert in_thread(own.next_batch).result() is None
    assert storing.result() is None
    assert drawing.result() is None


def test_an_algorithm_need_not_know_the_first_errors():
    settings = parse_settings([*TINY, "--preset", "apex-dqn"])[0]
    spec = EnvironmentSpec("Own", (4,), "float32", discrete(2), 1)
    context = Context(settings, spec, progress.beginning(settings), SimpleNamespace(), Learner(None), print)
    assert not apex._recipe(context).new_have_priorities
    known = dataclasses.replace(context, algorithm=SimpleNamespace(initial_errors=True))
    assert apex._recipe(known).new_have_priorities


def test_drawing_ahead_goes_with_free_updates_alone():
    with pytest.raises(ConfigError, match="--prefetch-batches 2 does not go with --steps-per-update 4"):
        parse_settings(["--preset", "dqn", "--prefetch-batches", "2"])
    sharded = ["--preset", "apex-dqn", "--cluster", "local", "--agents", "2", "--replay-shards", "2"]
    assert parse_settings(sharded)  # the preset's number has no effect there
    with pytest.raises(ConfigError, match="--prefetch-batches 2 does not go with --replay-shards 2"):
        parse_settings([*sharded, "--prefetch-batches", "2"])


def test_what_is_left_is_stored_when_it_is_closed_and_who_waits_for_a_batch_goes():
    own = queue(minimum=1000)
    agent, learning = Agent(own, 0), in_thread(own.next_batch)
    for length in (2, 2, 1):
        agent.ships(length)
    agent.dies()
    own.close()
    assert in_thread(own.store).result() is None
    assert learning.result() is None
    assert own.steps == own.replay.stored == 2 * STEPS + ENVS
    assert agent.handle.settled
    assert agent.handle.trained_steps == 2 * STEPS + ENVS


@pytest.mark.parametrize("n_steps", [1, 3])
def test_what_is_new_has_the_priority_that_the_values_say_by_which_it_was_played(n_steps):
    """Against the list of all that was played; games end, are cut, and agents come in the place of others."""
    random = np.random.default_rng([n_steps, 4])
    player = Player(random, 1, 2)
    recipe = Recipe(player.spec, 1, 2, 400, n_steps, DISCOUNT, priority_alpha=0.6, new_have_priorities=True)
    memory = Replay(recipe)
    values = {}  # (game, row) -> V and Q of its action
    memory.begin(0, player.begin())
    for number in range(60):
        if number in (20, 40):
            memory.begin(0, player.begin())
        before = [len(game) for game in player.games]
        record, length = player.rollout()
        for name in ("value", "action_value"):
            record[name] = random.normal(size=record[name].shape)
        for env, row in np.ndindex(2, length):
            values[env, before[env] + row] = record["value"][row, env], record["action_value"][row, env]
        memory.add(0, record, length)
        memory.offer()
        if number == 30:
            memory = restarted(memory, Replay(recipe))
    wanted, unknown = {}, 0
    for env, game in enumerate(player.games):
        for row in range(max(0, len(game) - memory.length), len(game) - n_steps):
            if not game[row].valid:
                continue
            total, factor, _ = from_list(game, row, n_steps)
            end = next(i for i in range(row, row + n_steps) if i == row + n_steps - 1 or ends(game[i])) + 1
            place = row % memory.length * 2 + env
            if factor and (env, end) not in values:
                unknown, wanted[place] = unknown + 1, None
            else:
                error = total + (factor * values[env, end][0] if factor else 0) - values[env, row][1]
                wanted[place] = (abs(error) + SMALLEST) ** 0.6
    places = np.array(sorted(wanted))
    assert (np.sort(memory.places()) == places).all()
    assert unknown >= 2
    priorities = memory._priorities
    for place, found in zip(places, priorities.of(places), strict=True):
        if wanted[place] is None:
            assert found > np.median([value for value in wanted.values() if value])  # the largest by then
        else:
            assert found == pytest.approx(wanted[place], rel=1e-4)
    assert priorities.largest >= 0.999 * max(value for value in wanted.values() if value)


def ends(step) -> bool:
    return step.terminated or step.truncated


def test_a_replay_that_keeps_no_values_reads_files_as_before():
    player = Player(np.random.default_rng(1), 1, 2)
    recipe = Recipe(player.spec, 1, 2, 50, 1, DISCOUNT, priority_alpha=0.6)
    with_values = dataclasses.replace(recipe, new_have_priorities=True)
    plain, other = Replay(recipe), Replay(with_values)
    assert "initial_errors" not in plain.layout
    assert other.layout == plain.layout | {"initial_errors": True}
    assert with_values.bytes - recipe.bytes == 8 * 2 * plain.length


def test_the_preset_has_the_constants_of_the_paper():
    settings = parse_settings(["--preset", "apex-dqn"])[0]
    learning, own = settings.learning, settings.replay
    assert (learning.learning_rate, learning.learning_rate_decay_steps) == (2.5e-4 / 4, 0)
    assert (learning.rmsprop_decay, learning.rmsprop_epsilon, learning.gradient_clip_norm) == (0.95, 1.5e-7, 40.0)
    assert (learning.exploration, learning.exploration_base, learning.exploration_exponent) == ("per-game", 0.4, 7.0)
    assert (learning.discount, learning.error_clip) == (0.99, 0.0)
    assert (own.batch, own.n_steps, own.target_updates, own.steps_per_update) == (512, 3, 2_500, 0)
    assert (own.priority_alpha, own.priority_beta, own.priority_beta_final) == (0.6, 0.4, 0.4)
    assert (own.replay_transitions, own.replay_minimum_transitions) == (2_000_000, 50_000)
    assert own.prefetch_batches == 16
    assert own.double_q
    assert own.dueling
    assert settings.environment.episode_cap_frames == 50_000
    other = parse_settings(["--preset", "apex-dqn", "--batch", "128"])[0]
    assert other == dataclasses.replace(settings, replay=dataclasses.replace(own, batch=128))


@pytest.mark.parametrize(
    "flags", ["--serial", "--sampling synchronised", "--concurrent-training", "--secondary-batch 512"]
)
def test_what_would_wait_for_updates_is_refused(flags):
    with pytest.raises(ConfigError, match=f"--steps-per-update 0.*{flags.split()[0]}"):
        parse_settings(["--preset", "apex-dqn", *flags.split()])


def books(run):
    totals = checkpoint.load_newest(run / "checkpoints")[2]["totals"]
    assert totals["made_steps"] == totals["trained_steps"] + totals["lost_steps"]
    return totals


def test_a_real_run_learns(tmp_path):
    run = tmp_path / "run"
    started = Started(
        tmp_path / "log", "--preset", "apex-dqn", *SMALL, "--seed", 1, "--run-dir", run,
        code=program.PATIENT_STOP,
    )  # fmt: skip

    def solved():
        rows = program.rows(run / "throughput.csv")
        return rows and int(rows[-1]["episodes"]) > 200 and float(rows[-1]["mean_score"]) > SOLVED

    started.wait_for(solved)
    assert started.stop() == 130
    assert "Scores are those of 5 of 8 games" in started.log.read_text()
    totals = books(run)
    games = program.rows(run / "episodes.csv")
    assert len(games) == totals["episodes"]
    # All games of an agent end together: of the first one's, one counts, of the second's all four.
    together = Counter((game["agent"], game["steps"]) for game in games)
    first, second = sorted({game["agent"] for game in games}, key=int)
    assert {agent: {together[one] for one in together if one[0] == agent} for agent in (first, second)} == {
        first: {1},
        second: {4},
    }
    assert totals["updates"] > 20
    assert totals["lost_steps"] == 0
    assert "training begins" in started.log.read_text()


def test_a_killed_agent_is_replaced_and_a_killed_run_goes_on_with_its_replay(tmp_path):
    run = tmp_path / "run"
    started = Started(
        tmp_path / "log", "--preset", "apex-dqn", *TINY[:6], *SMALL[len(TINY) :], "--run-dir", run,
        "--checkpoint-seconds", 1, "--agent-silence-seconds", 2, "--checkpoint-replay", "--prefetch-batches", 2,
        *SLOW, code=CALM,
    )  # fmt: skip

    def learned():
        return sum(float(row["updates_per_second"]) > 0 for row in program.rows(run / "throughput.csv"))

    def goes_on():
        before, steps = learned(), stored()
        started.wait_for(lambda: learned() > before + 1 and stored() > steps)

    def stored():
        rows = program.rows(run / "throughput.csv")
        return int(rows[-1]["steps"]) if rows else 0

    goes_on()
    for deaths, number in enumerate((signal.SIGKILL, signal.SIGSTOP), start=1):  # dead; and hanging
        os.kill(started.agents()[0].pid, number)
        started.wait_for(lambda: started.log.read_text().count("takes its place") == deaths)  # noqa: B023
        goes_on()
    started.wait_for((run / "replay.bin").exists)
    with (run / "replay.bin").open("rb") as file:
        assert json.loads(file.readline())["layout"]["initial_errors"]  # what is new has priorities by acting
    assert started.stop(signal.SIGKILL) == -signal.SIGKILL
    assert not started.left_over()
    started = Started(tmp_path / "again", "--resume", run, code=CALM)
    goes_on()
    assert started.stop() == 130
    assert "Traceback" not in started.log.read_text()
    assert "transitions from replay.bin" in started.log.read_text()
    books(run)
