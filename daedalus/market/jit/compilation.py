"""Decorators that compile kernels, and a cache on disk that notices every edit of this package.

Numba's own cache compares only the file that holds a kernel. After an edit of another file it runs
the old code of the functions that the kernel calls. Here the cache compares the sources of the
whole package: kernels call nothing outside it.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import caching
from numpy.typing import NDArray

from daedalus.market.jit.inner_code import inner

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Records: TypeAlias = NDArray[np.void]
Record: TypeAlias = Any
"""A record of a structured array: compiled code reads its fields as attributes."""

_PACKAGE = Path(__file__).parents[1]
# "numpy" leaves out checks for a divisor of 0, which would raise: kernels trust their input
_UNCOUNTED: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}

logger = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function into the machine code of the kernels that call it.

    It gets arrays and may not make any. So it need not count references to them, and to pass them
    costs nothing. See docs/log.md for what both are worth.
    """
    return cast(Function, inner(**_UNCOUNTED, forceinline=True)(function))


def shared_kernel(function: Function) -> Function:
    """Do the same for a function that is called at many places, and that they share."""
    return cast(Function, inner(**_UNCOUNTED)(function))


def allocating_kernel(function: Function) -> Function:
    """Compile a function that kernels call and that makes arrays."""
    return cast(Function, inner(error_model="numpy")(function))


def cached_kernel(function: Function) -> Function:
    """Compile a function that Python calls, and keep the machine code on disk."""
    return cast(Function, _cached(njit(error_model="numpy")(function)))


def threaded_kernel(function: Function) -> Function:
    """Do the same for a function that several threads call at once, see ``on_threads``."""
    return cast(Function, _cached(njit(nogil=True, error_model="numpy")(function)))


def _cached(compiled: Any) -> Any:
    compiled._cache = _Cache(compiled.py_func)
    return compiled  # as njit(cache=True) does it, with a cache of numba's own


@functools.cache
def package_stamp() -> str:
    """Return the hash of the package's sources; the first call reads them, as kernels are made."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(hashlib.sha256(path.relative_to(_PACKAGE).as_posix().encode()).digest())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@functools.cache
def _tell_of_compiling() -> None:
    """Say once in a process that a kernel has to be compiled; more of them may follow."""
    logger.warning("Compiling the market, once; this takes up to a minute on two idle cores ...")


class _UserFolder(caching.UserWideCacheLocator):
    """The user's cache folder, for an installation that cannot be written."""

    def ensure_cache_path(self) -> None:
        if not Path(self._cache_path).is_absolute():
            raise FileNotFoundError("this user has no home")
        super().ensure_cache_path()  # type: ignore[no-untyped-call]  # numba has no types


class _ReadOnlyFolder(caching.UserProvidedCacheLocator):
    """``NUMBA_CACHE_DIR``, where no folder can be written, as in a read-only container."""

    def ensure_cache_path(self) -> None:
        os.listdir(self.get_cache_path())  # type: ignore[no-untyped-call]  # numba has no types


class _TemporaryFolder(_UserFolder):
    """A temporary folder of this user, where there is no other, as without a home."""

    def __init__(self, function: object, path: str) -> None:
        super().__init__(function, path)  # type: ignore[no-untyped-call]  # numba has no types
        self._cache_path = str(Path(tempfile.gettempdir()) / f"daedalus-kernels-{os.getuid()}")

    def ensure_cache_path(self) -> None:
        folder = Path(self._cache_path)
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.lstat().st_uid != os.getuid():  # its code would be another user's
            raise PermissionError(errno.EACCES, "belongs to another user", str(folder))


class _CacheFiles(caching.CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [  # noqa: RUF012
        caching.UserProvidedCacheLocator,  # ``NUMBA_CACHE_DIR``, where it is set
        caching.InTreeCacheLocator,  # the package's own ``__pycache__``
        _UserFolder,
        _ReadOnlyFolder,
        _TemporaryFolder,
    ]


class _Cache(caching.FunctionCache):
    _impl_class = _CacheFiles

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]  # numba has no types
        self._cache_file._source_stamp = package_stamp()  # instead of the hash of one file

    def load_overload(self, signature: object, target: object) -> object:
        found: object = super().load_overload(signature, target)  # type: ignore[no-untyped-call]
        if found is None:
            _tell_of_compiling()
        return found

    def save_overload(self, signature: object, compiled: object) -> None:
        try:
            super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]
        except OSError as error:  # a processor that the read-only code was not compiled for
            if error.errno not in (errno.EROFS, errno.EACCES):
                raise

    def holds_code(self) -> bool:
        return bool(self._cache_file._load_index())  # type: ignore[no-untyped-call]
