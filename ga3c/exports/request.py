"""A request to export: the formats, the place, and what is checked before anything is written."""

import os
from dataclasses import dataclass
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.exports.formats import FORMATS, QUANTIZATIONS, check_installed, file_of, script_name
from ga3c.records.files import read_json

METADATA, CARD = "agent.json", "README.md"
_ALL_FILES = {*map(file_of, FORMATS), *(file_of("tflite", one) for one in QUANTIZATIONS)}


@dataclass(frozen=True)
class Request:
    """The formats to write, and how."""

    formats: tuple[str, ...]
    quantize: tuple[str, ...]
    out: Path
    replace: bool
    episodes: int
    seed: int

    @property
    def files(self) -> dict[str, tuple[str, str | None]]:
        """The names of the files, each with its format and its quantization."""
        found = {file_of(name): (name, None) for name in self.formats}
        return found | {file_of("tflite", one): ("tflite", one) for one in self.quantize}

    def check(self) -> None:
        """Raises ConfigError, before anything takes time, where the files cannot be written."""
        for given, known, what in ((self.formats, FORMATS, "format"), (self.quantize, QUANTIZATIONS, "quantization")):
            for one in given:
                if one not in known:
                    raise ConfigError(f"There is no {what} {one!r}: there are {', '.join(known)}.")
        if self.quantize and "tflite" not in self.formats:
            raise ConfigError("--quantize is for --format tflite: add that.")
        if not self.formats:
            raise ConfigError(f"Name a format to export to: {', '.join(FORMATS)}.")
        check_installed(self.formats)
        if os.path.exists(self.out / "config.json"):
            raise ConfigError(f"{self.out} is a run, or an agent of this program: name another directory with --out.")
        names = (METADATA, *self.files, *map(script_name, self.files), CARD)
        there = [name for name in names if os.path.exists(self.out / name)]
        if there and METADATA not in there:
            raise ConfigError(f"There is {there[0]} in {self.out}, which is no export: name another with --out.")
        if there and not self.replace:
            raise ConfigError(
                f"There is {there[0]} in {self.out} already: name another directory with --out, or add --replace."
            )
        self.earlier()  # is asked again when it is replaced

    def earlier(self) -> set[str]:
        """Returns the names of the models and scripts of the export that lies there. Raises ConfigError.

        Anybody may have written its agent.json: names that no export has do not count.
        """
        path, names = self.out / METADATA, set()
        if not os.path.exists(path):
            return names
        try:
            for file, about in read_json(path)["files"].items():
                if file in _ALL_FILES:
                    names |= {file} | {script_name(file)} & {about["script"]}
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigError(f"{path} is not of an export: name another directory with --out.") from error
        return names
