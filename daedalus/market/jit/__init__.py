"""Compilation of kernels: the one door to what numba keeps inside."""
