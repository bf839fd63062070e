"""`python -m play patterns`: the file that it writes, and wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest

from play.__main__ import main

pytestmark = pytest.mark.plain


def test_a_database_is_built_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "8.safetensors"
    build = ["patterns", "sliding8", str(path), "--quiet"]
    assert main([*build, "--sum", "1,2,3,6/4,5,7,8", "--sum", "1,2,3,6", "--no-mirror"]) == 0
    assert "21,168 costs of 3 patterns written to" in capsys.readouterr().out
    solve = ["solve", "sliding8", "8 7 6 5 4 3 2 1 0", "--heuristic", str(path)]
    assert main(solve) == 0
    assert "optimal (8 never overestimates)" in capsys.readouterr().out
    one = str(tmp_path / "1.safetensors")
    assert main(["patterns", "sliding8", one, "--quiet", "--sum", "1", "--no-mirror"]) == 0
    assert "72 costs of 1 pattern written to" in capsys.readouterr().out
    before = path.read_bytes()
    assert main([*build, "--sum", "4-4"]) == 2
    assert "expected a new file" in capsys.readouterr().err and path.read_bytes() == before
    assert main([*build, "--sum", "1,2,3", "--overwrite"]) == 0 and path.read_bytes() != before
    path.write_bytes(before)
    assert main(["solve", "sliding15", "--heuristic", str(path)]) == 2
    assert "expected an evaluator of sliding15, found one of sliding8" in capsys.readouterr().err
