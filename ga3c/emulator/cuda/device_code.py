"""The emulator's compiled functions as device functions: the same source, compiled a second time."""

import sys
from functools import partial
from types import ModuleType

from numba.core.dispatcher import Dispatcher
from numba.cuda import types
from numba.cuda.cudadrv import nvvm
from numba.cuda.dispatcher import CUDADispatcher

from ga3c.emulator import cpu, frame, lines, tia

# Long, and called from many places: one copy of each is kept, so that the code fits into the caches for instructions.
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
    """A device function that is compiled once, not anew for each constant it is called with."""

    def get_call_template(self, args, kws):
        return super().get_call_template([types.unliteral(one) for one in args], kws)

    def compile_device(self, args, return_type=None):
        is_new = args not in self.overloads
        result = super().compile_device(args, return_type)
        if is_new and self.targetoptions["apart"]:
            result.library.get_function(result.fndesc.llvm_func_name).attributes.add("noinline")
        return result


def prepare() -> None:
    """Before the first kernel is compiled: says how all functions of the emulator are compiled that it calls."""
    # Constant memory gives threads that look at different places their values one after the other, and has 64 KB.
    nvvm.ADDRSPACE_CONSTANT = nvvm.ADDRSPACE_GLOBAL
    # A product and a sum in one instruction are rounded once; a core rounds twice.
    nvvm.compile_ir = partial(nvvm.compile_ir, fma=False)
    for module in _modules():
        for function in vars(module).values():
            if isinstance(function, Dispatcher):
                _compile_as(function, function)
    _compile_as(cpu.run_frame, lines.run_frame_by_halves)
    _compile_as(tia.tia_write, lines.tia_write_of_line)
    _compile_as(frame.next_frame, lines.next_frame_by_lines)


def _compile_as(function: Dispatcher, source: Dispatcher) -> None:
    """Notes the device function of one compiled for the cores, where numba-cuda keeps it and looks for it."""
    module = function.py_func.__module__.rpartition(".")[2]
    options = OPTIONS | {"apart": function.py_func.__name__ in APART.get(module, ())}
    function._CUDATypingContext__dispatcher = DeviceFunction(source.py_func, options)


def _modules() -> list[ModuleType]:
    folder = __name__.rpartition(".cuda.")[0]
    return [module for name, module in list(sys.modules.items()) if name.rpartition(".")[0] == folder]
