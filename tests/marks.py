"""Marks of tests that many modules share."""

from __future__ import annotations

import pytest

from games import kernels

plain = pytest.mark.plain
compiled_only = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
