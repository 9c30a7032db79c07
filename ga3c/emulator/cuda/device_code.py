"""Compiles the emulator's functions a second time, from the same source, as device functions."""

import sys
from functools import partial
from types import ModuleType

from numba.core.dispatcher import Dispatcher
from numba.cuda import types
from numba.cuda.cudadrv import nvvm
from numba.cuda.dispatcher import CUDADispatcher

from ga3c.emulator import cpu, frame, lines, tia

# Long functions with many callers. They are not inlined, so that the code fits into the instruction caches.
APART = {
    "bus": ("read", "write"),
    "cpu": ("run_frame",),
    "instruction": ("execute",),
    "motion": ("reset_position",),
    "picture": ("draw_until",),
    "tia": ("tia_read", "tia_write"),
}
OPTIONS = {"device": True, "debug": False, "opt": True}


class DeviceFunction(CUDADispatcher):
    """A device function that is compiled once, and not once more for each constant argument."""

    def get_call_template(self, args, kws):
        return super().get_call_template([types.unliteral(one) for one in args], kws)

    def compile_device(self, args, return_type=None):
        is_new = args not in self.overloads
        result = super().compile_device(args, return_type)
        if is_new and self.targetoptions["apart"]:
            result.library.get_function(result.fndesc.mangled_name).attributes.add("noinline")
        return result


def prepare() -> None:
    """Sets how the emulator's functions are compiled. It is called before the first kernel is compiled."""
    # Tables go to global memory: constant memory serves different addresses one after the other, and has only 64 KB.
    nvvm.ADDRSPACE_CONSTANT = nvvm.ADDRSPACE_GLOBAL
    # No fused multiply-add: it rounds once, a core rounds twice.
    nvvm.compile_ir = partial(nvvm.compile_ir, fma=False)
    for module in _modules():
        for function in vars(module).values():
            if isinstance(function, Dispatcher):
                _compile_as(function, function)
    _compile_as(cpu.run_frame, lines.run_frame_by_halves)
    _compile_as(tia.tia_write, lines.tia_write_of_line)
    _compile_as(frame.next_frame, lines.next_frame_by_lines)


def _compile_as(function: Dispatcher, source: Dispatcher) -> None:
    """Makes `source` the device function of a compiled function: numba-cuda looks for it in this attribute."""
    module = function.py_func.__module__.rpartition(".")[2]
    options = OPTIONS | {"apart": function.py_func.__name__ in APART.get(module, ())}
    function._CUDATypingContext__dispatcher = DeviceFunction(source.py_func, options)


def _modules() -> list[ModuleType]:
    folder = __name__.rpartition(".cuda.")[0]
    return [module for name, module in list(sys.modules.items()) if name.rpartition(".")[0] == folder]
