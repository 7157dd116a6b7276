"""Compilation of kernels that only kernels call: into code of their callers alone.

Numba optimises every function, makes machine code of it, and then does both again with each caller
into which it is compiled. Here LLVM gets the code of an inner function as it is, and optimises it
as a part of the caller. See docs/log.md for what this is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from numba import _dynfunc, njit  # type: ignore[attr-defined]  # an extension without a stub
from numba.core import codegen, compiler


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function into the kernels that call it.

    Python may call such a function too, as tests do. It then gets machine code of its own.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        compiled: Any = njit(  # type: ignore[call-overload]  # its stub lacks these options
            pipeline_class=_InnerCompiler,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            **options,
        )(function)
        compiled.add_overload = MethodType(_keep_from_python, compiled)
        compiled._compile_for_args = njit(function, **options)._compile_for_args
        return compiled

    return decorate


def _keep_from_python(dispatcher: Any, compiled: Any) -> None:
    """Do what ``Dispatcher.add_overload`` does for callers that are compiled, and for no others."""
    dispatcher.overloads[tuple(compiled.signature.args)] = compiled


class _InnerCode(codegen.JITCodeLibrary):
    """Code that is linked into the libraries of its callers."""

    def _optimize_final_module(self) -> None:
        """Leave this to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]  # numba has no types
        self._finalized = True


class _InnerCompiler(compiler.Compiler):
    def compile_extra(self, func: Callable[..., Any]) -> Any:
        context = self.state.targetctx
        self.state.library = _InnerCode(context.codegen(), func.__qualname__)  # type: ignore[no-untyped-call]
        context.get_executable = _name_only
        return super().compile_extra(func)  # type: ignore[no-untyped-call]


def _name_only(library: Any, description: Any, environment: object) -> Any:
    """Return an object by which numba finds the function, and which nothing may call."""
    library._ensure_finalized()
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))
