"""A directory that holds a trained agent in several formats: made, checked and only then put in its place."""

import contextlib
import json
import shutil
from importlib import import_module
from pathlib import Path

from ga3c import environments
from ga3c.devices.device import quiet
from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import evaluate, summary, ways_of
from ga3c.exports import agreement, formats, game_script, measured
from ga3c.exports.deployed_agent import deployed
from ga3c.exports.model_card import card
from ga3c.exports.played import Played, play
from ga3c.exports.request import CARD, METADATA, Request
from ga3c.exports.signature import Runtime, described
from ga3c.play.playing import Stage, names_of
from ga3c.play.trained_agent import TrainedAgent
from ga3c.records.files import make_directory, read_json, reason, remove, write_whole
from ga3c.records.staging import put_in_place, staging
from ga3c.text import count

OBSERVATIONS, SAMPLES = 1_000, 300  # to compare by, and to quantize by


def export(agent: TrainedAgent, request: Request) -> dict:
    """Writes the agent in each format, with scripts and a card. Returns what agent.json holds. Raises ConfigError.

    Each file is read again by its own runtime and asked about observations of play. If one does not say what the agent
    says, none is kept.
    """
    request.check()
    score = _known_score(agent, request)
    print(f"Playing for {OBSERVATIONS:,} observations ...", flush=True)
    played = play(agent, OBSERVATIONS + SAMPLES, request.seed)
    score = score or _played_score(agent, request)
    try:
        make_directory(request.out)
        with staging(request.out, "export") as folder:
            metadata = _written(agent, request, played, folder, _metadata(agent, score))
            old = request.earlier() - {new.name for new in folder.iterdir()}
            put_in_place(folder, request.out, last=METADATA)
            _remove(request.out, old)
        write_whole(request.out / CARD, card(metadata))
    except OSError as error:
        raise ConfigError(f"Cannot write to {request.out}: {reason(error)}.") from error
    return metadata


def _known_score(agent: TrainedAgent, request: Request) -> dict | None:
    """Returns what `evaluation.evaluate` does, where it lies beside the weights, as that of agents that come with the
    program; None if it does not, or is of other games. Raises ConfigError."""
    known, settings = agent.path.parent.parent / "evaluation.json", agent.settings.environment
    if not known.exists():
        return None
    score = read_json(known)
    asked = (agent.steps, request.episodes, request.seed, protocols.fingerprint(settings), 0.0)
    try:
        known_of = tuple(map(score.get, ("steps_trained", "episodes", "seed", "fingerprint")))
        if (*known_of, score.get("exploration", 0.0)) != asked:
            return None
        ways = {way: list(map(float, score["ways"][way]["scores"])) for way in ways_of(agent)}
        return score | {"ways": {way: score["ways"][way] | summary(scores, settings) for way, scores in ways.items()}}
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{known} does not hold the scores of games: move it away, and they are played.") from error


def _played_score(agent: TrainedAgent, request: Request) -> dict:
    """Returns what `evaluation.evaluate` does."""
    print(f"Playing {count(len(ways_of(agent)) * request.episodes, 'game')} for the score ...", flush=True)
    return evaluate(agent, agent.settings.environment, request.episodes, request.seed)


def _metadata(agent: TrainedAgent, score: dict) -> dict:
    """Returns what a program has to know to use the agent, as plain values."""
    settings, kind = agent.settings, agent.games.spec.actions
    ways = [{"name": name, **score["ways"][way]} for way, name in ways_of(agent).items()]
    return {
        "game": agent.game,
        "algorithm": settings.learning.own_algorithm or settings.learning.algorithm,
        "network": agent.model.network_name,
        "steps_trained": agent.steps,
        "actions": {"kind": kind.kind, "sizes": list(kind.sizes), "names": _action_names(agent)},
        "protocol": {"fingerprint": score["fingerprint"], **protocols.rules(settings.environment)},
        "score": {"episodes": score["episodes"], "seed": score["seed"], "ways": ways},
    }


def _action_names(agent: TrainedAgent) -> list[str]:
    """Returns the names of the actions: those of the console, or their numbers."""
    if environments.resolve(agent.settings.environment.game)[0] != "atari":
        return names_of(agent.games.spec.actions)
    stage = Stage(agent.settings.environment, 1, 0)
    with contextlib.closing(stage):
        return list(map(str, stage.action_names))


def _written(agent: TrainedAgent, request: Request, played: Played, folder: Path, metadata: dict) -> dict:
    """Writes and checks all files in `folder`. Returns the metadata, with the files."""
    model = deployed(agent)
    metadata |= {"inputs": described(model.input), "outputs": described(model.output), "files": {}}
    asked, samples = played.part(0, OBSERVATIONS), played.part(OBSERVATIONS, None)
    of_agent = measured.mean_score(agent, agent.model.decide, request.seed) if request.quantize else None
    for file, (name, quantize) in request.files.items():
        options = {"quantize": quantize, "samples": samples.inputs} if quantize else {}
        runtime = _runtime(name, model, folder / file, metadata, options)
        said, seconds = measured.timed(runtime, asked.inputs)
        found = agreement.agreement(said, asked.outputs)
        agreement.check(found, file, quantize, agent.settings.learning.precision)
        entry = {"format": name, "quantize": quantize, "bytes": _bytes(folder / file)}
        entry |= {"largest_difference": found.largest, "same_actions": found.same, "observations": found.count}
        entry["microseconds"] = 1e6 * seconds / found.count
        print(f"{file}: {entry['bytes'] / 1e6:.2f} MB; {found}.", flush=True)
        if quantize:
            policy = measured.policy_of(agent, runtime, request.seed)
            entry |= {"mean_score": measured.mean_score(agent, policy, request.seed), "of_agent": of_agent}
        metadata["files"][file] = entry | _script(agent, name, file, folder, request.seed)
    for line in measured.lines(metadata["files"]):
        print(line, flush=True)
    write_whole(folder / METADATA, json.dumps(metadata, indent=2) + "\n")
    return metadata


def _runtime(name: str, model, path: Path, metadata: dict, options: dict) -> Runtime:
    """Writes a file and reads it again. Any exception of a converter or a runtime becomes a ConfigError."""
    module, failure = import_module(f"ga3c.exports.{formats.FORMATS[name].module}"), None
    with quiet():
        try:
            module.write(model, path, **options)
            if hasattr(module, "add_metadata"):
                module.add_metadata(path, {key: value for key, value in metadata.items() if key != "files"})
            runtime = module.read(path)
        except Exception as error:
            failure = error
    if failure is None:
        return runtime
    if isinstance(failure, ConfigError | OSError):
        raise failure
    said = f"{type(failure).__name__}: {reason(failure).rstrip('.')}"
    raise ConfigError(f"--format {name} cannot hold this agent: {said}.") from failure


def _script(agent: TrainedAgent, name: str, file: str, folder: Path, seed: int) -> dict:
    """Writes the script of a file, if there can be one. Returns its name."""
    text = game_script.script(agent, name, file, seed)
    if text is None:
        return {"script": None}
    script = formats.script_name(file)
    write_whole(folder / script, text)
    return {"script": script}


def _bytes(path: Path) -> int:
    """Returns the bytes of a file, or of all files of a directory."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _remove(out: Path, names: set[str]) -> None:
    """Removes models and scripts of the export that lay there before."""
    for name in names:
        shutil.rmtree(out / name) if (out / name).is_dir() else remove(out / name)
