"""The newer figures of accelerated methods, from runs that are made up."""

import shutil
from itertools import chain

import pytest

from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments.runs import directory_of
from ga3c.papers.accelerated import Options, fig6, fig7, fig9
from ga3c.records.run_directory import SECONDARY
from tests import program
from tests.finished_runs import make_run


def settings_of(run, out):
    words = run.command(out)
    return parse_settings(words[words.index("train") + 1 :])[0]


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_figure_9_is_of_both_optimizers(scale, tmp_path):
    runs = fig9.plan(Options(scale, seconds=60.0, seeds=1))
    for optimizer, group in runs.items():
        for run in group:
            learning = settings_of(run, tmp_path).learning
            assert (learning.algorithm, learning.optimizer, learning.record_norms) == ("c51", optimizer, True)
            make_run(run, tmp_path, **dict.fromkeys(fig9.NORMS, 2.5))
    words = fig9.reproduce(Options(scale, seconds=60.0, seeds=1), tmp_path)
    assert "weights 2.5, gradient 2.5, step 2.5" in words
    rows = program.rows(tmp_path / "fig9.csv")
    assert len(rows) == len(list(chain(*runs.values())))
    assert {float(row["conv0_update_norm"]) for row in rows} == {2.5}
    assert (tmp_path / "fig9.png").exists()
    with pytest.raises(ConfigError, match="--batches 33"):
        fig9.plan(Options(scale, batches=(33,)))


def test_figure_7_is_of_the_runs_of_figure_6(tmp_path):
    options = Options(seconds=60.0)
    for run in chain(*fig6.plan(options).values()):
        assert settings_of(run, tmp_path).learning.record_norms
        make_run(run, tmp_path, weight_norm=30.0)
        own = directory_of(run, tmp_path)
        (own / SECONDARY).mkdir()
        shutil.copy(own / "throughput.csv", own / SECONDARY)
    assert fig7.RUNS == fig6.RUNS
    words = fig7.reproduce(options, tmp_path)
    assert "secondary with 32 (the other 256), seed 1: 30 after" in words
    assert (tmp_path / "fig7.png").exists()
