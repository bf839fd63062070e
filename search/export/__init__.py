"""Evaluators as C: kernels translated to C99, and the files that `plysmith export` writes."""
