"""The emulator's CUDA kernels without a GPU: to PTX, to machine code with a report, and run on this machine.

The last takes what NVVM is given for the GPU, and has it compiled for a core instead: all that the CUDA compiler makes
of the emulator is run as it is, thread by thread. What is left unseen is what NVVM and ptxas do with it.
"""

import contextlib
import ctypes
import itertools
import math
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import llvmlite.binding as llvm
import numpy as np
from numba.cuda import compiler, cuda_paths, dispatcher
from numba.cuda.core import config
from numba.cuda.typing.typeof import Purpose, typeof

from ga3c.emulator.cuda import arrays, batch, kernels

# A type and a star, as NVVM's LLVM writes a pointer; today's says ptr.
_POINTER = re.compile(r'(?:void \([^()]*\)|i\d+|float|double|ptr|\{[^{}"]*\}|\[[^\[\]"]*\])(?: addrspace\(\d\))?\*')
_WIDE = re.compile(r'^ *(?:%"[^"]*" = load|store) i\d+(?: [^,\n]*)?, ptr (%"[^"]*"), align ([48])$', re.M)


@dataclass(frozen=True)
class Report:
    """What ptxas says of a kernel: for one thread, and how large its code is with all that it calls."""

    registers: int
    stack_bytes: int
    spilled_bytes: int
    code_bytes: int


def libraries(games: batch.Batch) -> dict:
    """The code of each kernel for what a batch hands to it."""
    game, cache, others = games._game, games._cache, (games._consoles, games._orders)
    firsts = {"begin": cache, "play": game, "see": game, "look": game, "show": np.zeros((1, 4, 84, 84), np.uint8)}
    return {name: lowered(name, (first, *others)) for name, first in firsts.items()}


@contextlib.contextmanager
def core_as_gpu():
    """A batch lies in the main memory. Its kernels are others: see `OnACore`."""
    device = SimpleNamespace(MULTIPROCESSOR_COUNT=1)
    context = SimpleNamespace(get_memory_info=lambda: (math.inf, math.inf))
    there = {"to_device": np.array, "device_array": arrays.aligned, "synchronize": lambda: None}
    there["current_context"] = lambda: context
    with (
        patch.object(arrays, "cuda", SimpleNamespace(**there)),
        patch.object(batch, "cuda", SimpleNamespace(get_current_device=lambda: device)),
        patch.object(batch, "PIXEL_GRID", (3, 5)),
    ):
        yield


@contextlib.contextmanager
def _compiler_for(capability: tuple[int, int]):
    """What numba-cuda asks of a driver and of NVRTC is answered here."""
    device = SimpleNamespace(compute_capability=capability)
    with (
        patch.object(dispatcher, "get_current_device", lambda: device),
        patch.object(cuda_paths, "_get_nvrtc_path", lambda: None),
        patch.object(config, "FORCE_CUDA_CC", capability),
    ):
        yield


def lowered(name: str, arguments: tuple, capability: tuple[int, int] = (9, 0)):
    """The code library of a kernel for such arguments (named tuples of arrays)."""
    signature = tuple(typeof(one, Purpose.argument) for one in arguments)
    function = getattr(kernels, name).py_func
    with _compiler_for(capability):
        return compiler._compile_pyfunc_with_fixup(function, signature, device=False, cc=capability, abi="numba")[0]


def ptx(library, capability: tuple[int, int]) -> str:
    with _compiler_for(capability):
        return library.get_asm_str(cc=capability)


def report(code: str, capability: tuple[int, int]) -> Report:
    """Assembles PTX. Raises CalledProcessError."""
    ptxas = distribution("nvidia-cuda-nvcc-cu12").locate_file("nvidia/cuda_nvcc/bin/ptxas")
    with tempfile.TemporaryDirectory() as directory:
        source, made = Path(directory, "kernel.ptx"), Path(directory, "kernel.cubin")
        source.write_text(code)
        command = [ptxas, "-v", f"-arch=sm_{capability[0]}{capability[1]}", source, "-o", made]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        size = made.stat().st_size
    text = said.stderr + said.stdout

    def most(pattern: str) -> int:
        return max((int(number) for number in re.findall(pattern, text)), default=0)

    return Report(most(r"Used (\d+) registers"), most(r"(\d+) bytes stack frame"), most(r"(\d+) bytes spill"), size)


class OnACore:
    """A kernel's code for the GPU, run on a core, called as a kernel is: kernel[blocks, threads](arguments)."""

    def __init__(self, library):
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = llvm.get_host_cpu_features().flatten()
        machine = llvm.Target.from_default_triple().create_target_machine(features=features, opt=1)
        texts = [_for_a_core(text) for text in library.llvm_strs]
        whole = llvm.parse_assembly(_each_thread(library._entry_name, "\n".join(texts)))
        for text in texts:
            whole.link_in(llvm.parse_assembly(text))
        whole.verify()
        self._engine = llvm.create_mcjit_compiler(whole, machine)
        self._engine.finalize_object()
        self._address = self._engine.get_function_address("each_thread")

    def __getitem__(self, grid: tuple[int, int]) -> Callable[..., None]:
        return lambda *arguments: self._run(grid[0] * grid[1], arguments)

    def _run(self, threads: int, arguments: tuple) -> None:
        """Raises AssertionError where something was read or written at an address that a GPU does not do it at."""
        flat = [ctypes.c_int32(threads), *(one for argument in arguments for one in _flat(argument))]
        ctypes.CFUNCTYPE(None, *(type(one) for one in flat))(self._address)(*flat)
        wrong = ctypes.c_int64.from_address(self._engine.get_global_value_address("wrong_addresses"))
        assert wrong.value == 0, f"{wrong.value} addresses are no multiples of what is read there"


def _each_thread(kernel: str, text: str) -> str:
    """A function that calls the kernel for one thread after the other; where a thread is, each asks in three parts:
    the block, how many threads a block has, which of them it is; here each block has one."""
    parameters = re.search(rf'^define void @"{re.escape(kernel)}"\((.*)\)', text, re.M)[1]
    numbers = itertools.count()
    arguments = re.sub(r'%"[^"]*"', lambda name: f"%a{next(numbers)}", parameters)
    return f"""
@thread = global i32 0
@threads = global i32 0
@wrong_addresses = global i64 0
define void @check(ptr %address, i64 %mask) {{
  %number = ptrtoint ptr %address to i64
  %beyond = and i64 %number, %mask
  %is_wrong = icmp ne i64 %beyond, 0
  %one = zext i1 %is_wrong to i64
  %count = load i64, ptr @wrong_addresses
  %new = add i64 %count, %one
  store i64 %new, ptr @wrong_addresses
  ret void
}}
define i32 @get_tid() {{
  ret i32 0
}}
define i32 @get_ntid() {{
  ret i32 1
}}
define i32 @get_ctaid() {{
  %v = load i32, ptr @thread
  ret i32 %v
}}
define i32 @get_nctaid() {{
  %v = load i32, ptr @threads
  ret i32 %v
}}
declare void @"{kernel}"({re.sub(" %a[0-9]+", "", arguments)})
define void @each_thread(i32 %threads, {arguments}) {{
start:
  store i32 %threads, ptr @threads
  br label %next
next:
  %thread = load i32, ptr @thread
  call void @"{kernel}"({arguments})
  %following = add i32 %thread, 1
  store i32 %following, ptr @thread
  %more = icmp slt i32 %following, %threads
  br i1 %more, label %next, label %end
end:
  store i32 0, ptr @thread
  ret void
}}
"""


def _for_a_core(text: str) -> str:
    """A module for NVVM in the language of today's LLVM, for this machine."""
    lines = (line for line in text.splitlines() if not line.startswith(("target ", "!nvvm", "!", '@"llvm.used"')))
    text = re.sub(r", !\w+ !\d+", "", "\n".join(lines))
    text = re.sub(r'@"llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x"', r"@get_\1", text)
    before = None
    while before != text:
        before, text = text, _POINTER.sub("ptr", text)
    # Addresses given as numbers: each access is checked.
    text = _WIDE.sub(lambda found: f"  call void @check(ptr {found[1]}, i64 {int(found[2]) - 1})\n{found[0]}", text)
    text += "\ndeclare void @check(ptr, i64)\n"
    # As a GPU may: a product and a sum that are each rounded here would be rounded once, together.
    text = re.sub(r" = (fadd|fsub|fmul) ", r" = \1 contract ", text)
    text = re.sub(r"addrspacecast (.*?) to ptr", r"bitcast \1 to ptr", text)
    return re.sub(r"addrspace\(\d\) ", "", text)


def _flat(argument) -> list:
    """As numba hands an argument over."""
    if isinstance(argument, tuple):
        return [one for part in argument for one in _flat(part)]
    if isinstance(argument, np.ndarray):
        numbers = [0, 0, argument.size, argument.itemsize, argument.ctypes.data, *argument.shape, *argument.strides]
        return [ctypes.c_int64(number) for number in numbers]
    kinds = {bool: ctypes.c_bool, float: ctypes.c_double}
    return [kinds.get(type(argument), ctypes.c_int64)(argument)]
