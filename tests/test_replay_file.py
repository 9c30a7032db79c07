"""The replay that is kept with the checkpoints: written while play goes on, read with suspicion."""

import errno
import itertools
import json
import os
import re
import threading
import zlib

import numpy as np
import pytest

from ga3c.records import files
from ga3c.records.disk import Disk
from ga3c.records.replay_file import BLOCK_BYTES, ReplayFile
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from tests import program
from tests.test_replay import DISCOUNT, Player

ROWS = 400


def play(replay: Replay, player: Player, rollouts: int) -> None:
    for _ in range(rollouts):
        replay.add(0, *player.rollout())
    replay.offer()


def made(player: Player, rows: int = ROWS) -> Replay:
    return Replay(Recipe(player.spec, 1, player.envs, rows, 1, DISCOUNT, priority_alpha=0.5), lambda: 0.5)


def filled(rollouts: int = 300) -> tuple[Replay, Player]:
    """One that has been written over, with priorities of all sizes."""
    player = Player(np.random.default_rng(1), 4, 2)
    replay = made(player)
    replay.begin(0, player.begin())
    play(replay, player, rollouts)
    drawn = replay.draw(200)
    replay.learned(drawn, np.arange(200, dtype=np.float32))
    return replay, player


def states(replay: Replay) -> dict[int, bytes]:
    """All that can be drawn, as bytes: what stands in each place."""
    drawn = replay.draw(20_000)
    arrays = [drawn.arrays[name][0] for name in ("observation", "action", "return", "discount", "next_observation")]
    return {place: b"".join(array[i].tobytes() for array in arrays) for i, place in enumerate(drawn.places.tolist())}


@pytest.fixture
def said():
    return []


def file_in(directory, said) -> ReplayFile:
    return ReplayFile(directory, Disk(said.append, directory), said.append)


def test_a_replay_comes_back_as_it_was(tmp_path, said):
    replay, player = filled()
    file_in(tmp_path, said).save(replay, 1000, last=True)
    again = made(player)
    file_in(tmp_path, said).load(again, 1000)
    assert said == ["Saving the replay.", f"Replay: {replay.size:,} transitions from replay.bin."]
    assert [path.name for path in tmp_path.iterdir()] == ["replay.bin"]
    before, after = states(replay), states(again)
    assert len(before) > ROWS / 2
    common = before.keys() & after.keys()
    assert len(common) > 0.95 * len(before)
    assert {place: before[place] for place in common} == {place: after[place] for place in common}
    every = np.sort(replay.places())
    assert (np.sort(again.places()) == every).all()
    assert (replay._priorities.of(every) == again._priorities.of(every)).all()
    assert replay._priorities.largest == again._priorities.largest > 1


@pytest.mark.parametrize("rollouts", [1, 30, 1000])
def test_what_is_written_over_while_it_is_saved_is_left_out(rollouts):
    replay, player = filled()
    before = states(replay)
    parts, kept = replay.parts(), []
    kept += [part.copy() for part in itertools.islice(parts, 12)]  # the books
    play(replay, player, rollouts)
    parts = iter([*kept, *(part.copy() for part in parts)])
    again = made(player)

    def restore() -> None:
        again.restore(lambda array: np.copyto(array, next(parts)), lambda: None)

    if rollouts == 1000:  # nothing of it is left
        with pytest.raises(ValueError, match="rows"):
            restore()
        assert again.size == 0
        return
    restore()
    after = states(again)
    assert 0 < len(after) < len(before)
    assert all(before[place] == state for place, state in after.items() if place in before)


def test_it_is_written_beside_play_and_not_with_each_checkpoint(tmp_path, said, monkeypatch):
    replay, player = filled()
    file, go_on, written = file_in(tmp_path, said), threading.Event(), []
    write = file._write

    def slow(*arguments) -> None:
        assert go_on.wait(program.HANG_SECONDS)
        write(*arguments)
        written.append(arguments[1])

    monkeypatch.setattr(file, "_write", slow)
    for steps in (1, 2, 3):
        file.save(replay, steps)  # returns, while the first is still written
    go_on.set()
    file._writing.join(program.HANG_SECONDS)
    play(replay, player, 10)
    file.save(replay, 4, last=True)
    assert written == [1, 4]
    play(replay, player, 1)
    file.save(replay, 5)  # too little is new
    play(replay, player, 100)
    file.save(replay, 6)
    file.save(replay, 7, last=True)
    assert written == [1, 4, 6]
    again = made(player)
    file_in(tmp_path, said).load(again, 6)
    assert again.size == replay.size


def test_what_a_killed_program_left_half_written_goes(tmp_path, said):
    (tmp_path / ".replay.bin.1.partial").write_bytes(b"half")
    file_in(tmp_path, said).save(filled()[0], 1, last=True)
    assert [path.name for path in tmp_path.iterdir()] == ["replay.bin"]


def test_where_the_disk_does_not_take_it_the_one_before_stays(tmp_path, said, monkeypatch):
    replay, player = filled()
    file = file_in(tmp_path, said)
    file.save(replay, 1, last=True)
    before = (tmp_path / "replay.bin").read_bytes()
    play(replay, player, 10)

    def full(file: int, part) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "write", full)
        file.save(replay, 2, last=True)
    assert [path.name for path in tmp_path.iterdir()] == ["replay.bin"]
    assert (tmp_path / "replay.bin").read_bytes() == before
    assert said[-1].startswith(f"Cannot write {tmp_path / 'replay.bin'}: No space left on device.")
    file.save(replay, 2, last=True)  # it is tried again
    assert (tmp_path / "replay.bin").read_bytes() != before


def forged(content: bytes, change) -> bytes:
    """With other arrays, and a checksum that fits."""
    header, _, rest = content.partition(b"\n")
    parts = np.frombuffer(rest[:-4], np.uint8).copy()
    change(parts)
    return header + b"\n" + parts.tobytes() + zlib.crc32(parts).to_bytes(4, "little")


def with_header(content: bytes, **entries) -> bytes:
    header, _, rest = content.partition(b"\n")
    return json.dumps(json.loads(header) | entries).encode() + b"\n" + rest


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


def put(first: int, value, dtype):
    """Into the arrays, from that byte on."""

    def change(parts: np.ndarray) -> None:
        new = np.array([value], dtype).view(np.uint8)
        parts[first : first + len(new)] = new

    return change


def places() -> int:
    player = Player(np.random.default_rng(1), 4, 2)
    return made(player).length * player.envs


# The arrays in their order: last and head, 8 bytes each; two newest states of 36 bytes and their ages; then the rows.
AGES = 8 + 8 + 72 + 2
ACTIONS = AGES + places()
REWARDS = ACTIONS + 4 * places()
PRIORITIES = REWARDS + 7 * places()
DAMAGED = {
    "nothing": (lambda content: b"", "Expecting value"),
    "zeros": (lambda content: bytes(100_000), "Expecting value"),
    "noise": (lambda content: np.random.default_rng(1).bytes(100_000), "decode"),
    "no replay": (lambda content: b"[]\n", "no replay"),
    "cut off": (lambda content: content[:-1000], "not complete"),
    "without its end": (lambda content: content[:-1], "damaged"),
    "longer": (lambda content: content + b"x", "damaged"),
    "a byte of its books": (lambda content: flipped(content, 400), "damaged"),
    "a byte of its pictures": (lambda content: flipped(content, len(content) - 100), "damaged"),
    "of other agents": (lambda content: with_header(content, layout={"agents": 9}), "other games, agents or sizes"),
    "of later": (lambda content: with_header(content, steps=1001), "later time"),
    "an action that there is not": (lambda content: forged(content, put(ACTIONS, 4, np.int32)), "actions or rewards"),
    "a reward that is none": (lambda content: forged(content, put(REWARDS, np.nan, np.float32)), "actions or rewards"),
    "priorities that are none": (lambda content: forged(content, put(PRIORITIES, np.nan, np.float64)), "priorities"),
    "rows that cannot be": (lambda content: forged(content, put(0, 2**60, np.int64)), "rows"),
    "fewer than no rows": (lambda content: forged(content, put(8, -(2**63), np.int64)), "damaged"),
}


@pytest.mark.parametrize(("change", "why"), DAMAGED.values(), ids=DAMAGED)
def test_another_file_is_refused_in_one_line(tmp_path, said, change, why):
    replay, player = filled(60)
    file_in(tmp_path, said).save(replay, 1000, last=True)
    path, again = tmp_path / "replay.bin", made(player)
    path.write_bytes(change(path.read_bytes()))
    file_in(tmp_path, said).load(again, 1000)
    assert len(said) == 2
    assert "\n" not in said[1]
    assert said[1].startswith(f"Cannot read {path}: ")
    assert said[1].endswith(". The replay is filled anew.")
    assert re.search(why, said[1])
    assert (again.size, len(again.places())) == (0, 0)
    other = Player(np.random.default_rng(2), 4, 2)
    again.begin(0, other.begin())
    play(again, other, 20)
    assert set(states(again)) <= set(again.places().tolist())


@pytest.mark.parametrize("kind", ["pipe", "link to a device", "directory"])
def test_what_is_no_file_is_refused(tmp_path, said, kind):
    path = tmp_path / "replay.bin"
    {"pipe": os.mkfifo, "link to a device": lambda p: p.symlink_to("/dev/zero"), "directory": os.mkdir}[kind](path)
    file_in(tmp_path, said).load(made(Player(np.random.default_rng(1), 4, 2)), 1000)
    assert said == [f"Cannot read {path}: it is no regular file. The replay is filled anew."]


def test_without_a_file_nothing_is_said(tmp_path, said):
    file_in(tmp_path, said).load(made(Player(np.random.default_rng(1), 4, 2)), 1000)
    assert said == []


def test_a_large_one_is_written_in_blocks(tmp_path, said, monkeypatch):
    """No more of it than that is copied at a time."""
    spec = EnvironmentSpec("large", (200, 200, 4), "uint8", discrete(4), 1, 4)
    replay = Replay(Recipe(spec, 1, 2, 500, 1, DISCOUNT))
    record = np.zeros((), rollout_dtype(spec, 20, 2))
    record["valid"] = True
    replay.begin(0, record["observation"][0])
    for _ in range(15):
        replay.add(0, record, 20)
    replay.offer()
    sizes, write = [], os.write
    monkeypatch.setattr(files.os, "write", lambda file, part: (sizes.append(len(part)), write(file, part))[1])
    file_in(tmp_path, said).save(replay, 1, last=True)
    assert max(sizes) <= BLOCK_BYTES
    assert sum(sizes) == (tmp_path / "replay.bin").stat().st_size > 4 * BLOCK_BYTES


DQN = ["--algorithm", "dqn", "--replay-minimum-transitions", 400, "--replay-transitions", 2000, "--batch", 8]


def test_a_run_goes_on_with_its_replay_or_fills_it_first(tmp_path):
    run = tmp_path / "run"
    began = program.run(*program.TINY, "--serial", *DQN, "--run-dir", run, "--steps", 1000, "--checkpoint-replay")
    assert began.returncode == 0, began.stderr
    assert "Replay: 400 transitions first, then training begins." in began.stdout
    assert began.stdout.count(": training begins.") == 1
    assert began.stdout.index("Saving the replay.") < began.stdout.index("Saved in")
    resumed = program.run("--resume", run, "--steps", 1500)
    assert resumed.returncode == 0, resumed.stderr
    assert " transitions from replay.bin." in resumed.stdout
    assert " first, then" not in resumed.stdout
    path = run / "replay.bin"
    path.write_bytes(flipped(path.read_bytes(), 5000))
    refilled = program.run("--resume", run, "--steps", 2500)
    assert refilled.returncode == 0, refilled.stderr
    assert f"Cannot read {path}: it is damaged. The replay is filled anew." in refilled.stdout
    assert "Replay: 400 transitions first, then training goes on." in refilled.stdout
    assert refilled.stdout.count(": training goes on.") == 1


def test_a_file_of_long_ago_is_not_taken_for_the_present(tmp_path, said):
    replay, player = filled()
    file_in(tmp_path, said).save(replay, 1000, last=True)
    again = made(player)
    file_in(tmp_path, said).load(again, 1001 + again.capacity)
    assert again.size == 0
    assert f"it is {again.capacity + 1:,} steps older than the checkpoint" in said[-1]
