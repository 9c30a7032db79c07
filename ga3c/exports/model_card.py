"""The model card: README.md as the hub of Hugging Face reads it (huggingface.co/docs/hub/model-cards)."""

import json
from collections.abc import Mapping

from ga3c.experiments.aggregates import in_words


def card(metadata: Mapping) -> str:
    """Returns the text of the card. metadata: what agent.json holds."""
    score, files = metadata["score"], metadata["files"]
    protocol = metadata["protocol"]["fingerprint"]
    ways = [
        f"| {way['name']} | {way['mean']:.1f} | {in_words(way['low'], way['high'], way['scores'], 1)} "
        f"| {way['min']:g} to {way['max']:g} |"
        for way in score["ways"]
    ]
    rows = [
        f"| `{name}` | {file['bytes'] / 1e6:.2f} MB | {file['largest_difference']:.1g} "
        f"| {_played(file)} | {_script(file)} |"
        for name, file in files.items()
    ]
    shown = [f"| `{one['name']}` | {one['dtype']} | {_shape(one)} |" for one in metadata["inputs"]]
    said = [f"| `{one['name']}` | {one['dtype']} | {_shape(one)} |" for one in metadata["outputs"]]
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
        f"| actions | mean of {score['episodes']} games | 95 % interval | lowest to highest |",
        "|---|---|---|---|",
        *ways,
        "",
        f"True scores, protocol {protocol}, seeds from {score['seed']}.",
        "",
        "## Files",
        "",
        "The difference is the largest between what a file and the agent say of observations of play. That of numbers "
        "above 1 is a share.",
        "",
        "| file | size | difference | mean of 10 games | plays the game with nothing but its runtime |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "## Inputs and outputs",
        "",
        "| input | type | shape |",
        "|---|---|---|",
        *shown,
        "",
        "| output | type | shape |",
        "|---|---|---|",
        *said,
        "",
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


def _shape(tensor: Mapping) -> str:
    return " x ".join("batch" if length is None else str(length) for length in tensor["shape"])
