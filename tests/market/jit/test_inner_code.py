"""Tests of kernels that only kernels call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from daedalus.market.jit.inner_code import inner


@inner(forceinline=True)
def _half(number: float) -> float:
    return number / 2.0


@inner()
def _sum_of_halves(numbers: Any) -> float:
    total = 0.0
    for number in numbers:
        total += _half(number)
    return total


@njit
def _outer(numbers: Any) -> float:
    return _sum_of_halves(numbers)


def _has_machine_code(function: Any) -> bool:
    (compiled,) = function.overloads.values()
    engine = compiled.library.codegen._engine
    return bool(engine.is_symbol_defined(compiled.fndesc.llvm_func_name))


def test_callers_contain_inner_functions_and_only_they_have_machine_code() -> None:
    assert _outer(np.array([1.0, 2.0, 4.0])) == 3.5
    assert _has_machine_code(_outer)
    assert not _has_machine_code(_half)


def test_python_may_call_an_inner_function_before_and_after_its_callers_compile() -> None:
    numbers = np.array([3.0, 5.0])
    assert _sum_of_halves(numbers) == 4.0
    assert _outer(numbers) == 4.0
    assert _sum_of_halves(numbers) == 4.0
    assert _half(1) == 0.5  # an integer: another signature
