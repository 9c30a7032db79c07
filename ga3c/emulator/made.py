"""Machine code made for a game: compiled when the game is first played, and kept for the next start."""

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from hashlib import sha256
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
from numba import types

from ga3c.emulator.bus import read
from ga3c.emulator.compiled import SOURCES, one_at_a_time
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.functions import NAME, OUTSIDE
from ga3c.emulator.instruction import execute
from ga3c.emulator.program import Program
from ga3c.emulator.tia import tia_write, write_change, write_graphics
from ga3c.emulator.translator import translated

ACTIONS = 18
WATCHED_ACTIONS = 400  # of four frames each
_FUNCTIONS = {one.__name__: one for one in (tia_write, write_change, write_graphics, read, execute, run_frame)}
_HOST = f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
_engines = []  # they own the loaded code


def code_for(game: str, rom: np.ndarray, begun: Callable[[], np.ndarray]) -> int:
    """Returns the address of the code made for a game, for `frame.next_frame`; 0 where there can be none.

    `begun` returns the record, uint8 [SIZE], of a console in which the game has begun. The code is kept beside Numba's.
    """
    if not _HOST.startswith(("x86_64", "aarch64", "arm64")):  # others do not have the calling convention
        return 0
    key = sha256(f"{SOURCES} {_HOST} {llvm.llvm_version_info}".encode() + rom.tobytes()).digest()
    folder = getattr(run_frame._cache, "_cache_path", None)  # none if there is no folder that can be written to
    file = Path(folder) / f"{game}.{sha256(_HOST.encode()).hexdigest()[:8]}.o" if folder else None
    code = _kept(file, key)
    if code is None:
        with one_at_a_time(folder) if folder else nullcontext():
            code = _kept(file, key) or _built(begun(), rom)
            _keep(file, key, code)
    return _loaded(code)


def _kept(file: Path | None, key: bytes) -> bytes | None:
    with suppress(OSError):
        content = file.read_bytes() if file else b""
        return content[len(key) :] if content.startswith(key) else None
    return None


def _keep(file: Path | None, key: bytes, code: bytes) -> None:
    with suppress(OSError):
        if file:
            part = file.with_suffix(f".{os.getpid()}")
            part.write_bytes(key + code)
            part.replace(file)


def _machine() -> llvm.TargetMachine:
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(llvm.get_host_cpu_name(), features, codemodel="jitdefault", jit=True)


def _built(record: np.ndarray, rom: np.ndarray) -> bytes:
    """Returns an object file with the code of the instructions that random play executes."""
    actions = np.random.default_rng(0).integers(ACTIONS, size=WATCHED_ACTIONS)
    machine, passes = _machine(), llvm.create_new_module_pass_manager()
    module = llvm.parse_assembly(translated(Program(record, rom, actions)))
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    passes.add_instruction_combine_pass()  # all of LLVM's passes take four times as long, and gain nothing
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return machine.emit_object(module)


def _loaded(code: bytes) -> int:
    for name, function in _FUNCTIONS.items():
        arguments = (types.int64,) * OUTSIDE[name]
        function.compile(arguments)
        found = function.overloads[arguments]
        llvm.add_symbol(f"ga3c_{name}", found.library.get_pointer_to_function(found.fndesc.llvm_func_name))
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return engine.get_function_address(NAME)
