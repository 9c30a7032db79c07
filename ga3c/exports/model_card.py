"""The model card: README.md as the hub of Hugging Face reads it (huggingface.co/docs/hub/model-cards)."""

import json
from collections.abc import Iterable, Mapping

from ga3c.experiments.aggregates import in_words
from ga3c.experiments.evaluation import table
from ga3c.experiments.tables import markdown

FILES_HEAD = ("file", "size", "difference", "mean of 10 games", "plays the game with nothing but its runtime")


def card(metadata: Mapping) -> str:
    """Returns the text of the card. metadata: what agent.json holds."""
    score, files = metadata["score"], metadata["files"]
    protocol = metadata["protocol"]["fingerprint"]
    rows = []
    for name, file in files.items():
        size, difference = f"{file['bytes'] / 1e6:.2f} MB", f"{file['largest_difference']:.1g}"
        rows.append([f"`{name}`", size, difference, _played(file), _script(file)])
    names = metadata["actions"]["names"]
    lines = [
        "---",
        *_front_matter(metadata),
        "---",
        "",
        f"# {metadata['game']}, {metadata['algorithm']}",
        "",
        f"An agent that was trained with {metadata['steps_trained']:,} steps, in {len(files)} "
        f"{'file' if len(files) == 1 else 'files'}. Each takes what the game shows and says which action to take.",
        "",
        table({way["name"]: way for way in score["ways"]}, score["episodes"]),
        f"True scores, protocol {protocol}, seeds from {score['seed']}.",
        "",
        "## Files",
        "",
        "The difference is the largest between what a file and the agent say of observations of play. That of numbers "
        "above 1 is a share.",
        "",
        markdown(FILES_HEAD, rows),
        "## Inputs and outputs",
        "",
        _tensors("input", metadata["inputs"]),
        _tensors("output", metadata["outputs"]),
        f"Actions: {', '.join(names)}." if names else "Actions are numbers within the bounds of the game.",
        "`agent.json` says all of this for programs.",
        "",
    ]
    return "\n".join(lines)


def _front_matter(metadata: Mapping) -> list[str]:
    """Returns the metadata of the card. A string of JSON is a string of YAML."""
    score, game = metadata["score"], json.dumps(metadata["game"])
    tags = ["reinforcement-learning", "deep-reinforcement-learning", metadata["game"], metadata["algorithm"]]
    tags += sorted({file["format"] for file in metadata["files"].values()})
    lines = ["library_name: ga3c", "license: mit", "tags:", *(f"- {json.dumps(tag)}" for tag in dict.fromkeys(tags))]
    name = json.dumps(f"{metadata['algorithm']}-{metadata['game']}")
    lines += ["model-index:", f"- name: {name}", "  results:"]
    lines += ["  - task:", "      type: reinforcement-learning", "      name: reinforcement-learning"]
    lines += ["    dataset:", f"      name: {game}", f"      type: {game}", "    metrics:"]
    for way in score["ways"]:
        interval = in_words(way["low"], way["high"], way["scores"], 2)
        named = f"mean of {score['episodes']} games, {way['name']} actions, 95 % interval {interval}"
        lines += ["    - type: mean_reward", f"      value: {way['mean']:.2f}", f"      name: {json.dumps(named)}"]
        lines += [f"      config: {json.dumps(metadata['protocol']['fingerprint'])}"]
    return lines


def _played(file: Mapping) -> str:
    """Returns the score of a file that was played with, beside that of the agent."""
    return f"{file['mean_score']:.1f} (the agent {file['of_agent']:.1f})" if "mean_score" in file else ""


def _script(file: Mapping) -> str:
    return f"`python {file['script']}`" if file.get("script") else "no script: the game needs this program"


def _tensors(kind: str, tensors: Iterable[Mapping]) -> str:
    rows = ((f"`{one['name']}`", one["dtype"], _shape(one)) for one in tensors)
    return markdown([kind, "type", "shape"], rows)


def _shape(tensor: Mapping) -> str:
    return " x ".join("batch" if length is None else str(length) for length in tensor["shape"])
