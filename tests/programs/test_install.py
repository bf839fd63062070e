"""An installed Plysmith is complete: it needs nothing of the clone that its wheel came from."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import plysmith

ROOT = Path(__file__).resolve().parents[2]
#: Prints where the packages are, searches with a shipped evaluator given by name only.
SEARCH = """
import json, games, search
game = games.load("checkers")
evaluator = search.load_evaluator("checkers/quantised")
result = search.Engine(game, evaluator).search(game.start(), depth=6)
print(json.dumps({
    "packages": games.__file__,
    "evaluator": evaluator.name,
    "depth": result.depth,
    "move": game.move_text(game.start(), result.move),
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of programs of an environment in which a wheel of this clone is installed.

    Everything that the wheel needs comes from the environment of the tests. The Plysmith of that
    environment is not seen, because it is an editable install, whose link is not followed from
    another environment.
    """
    folder = tmp_path_factory.mktemp("installed")
    source, wheels = folder / "source", folder / "wheels"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "runs", "*.egg-info")
    shutil.copytree(ROOT, source, ignore=ignored)  # building leaves files behind
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, source],
        check=True,
        timeout=300,
    )
    shutil.rmtree(source)
    (wheel,) = wheels.iterdir()
    assert wheel.name == f"plysmith-{plysmith.__version__}-py3-none-any.whl"
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    bin = environment / "bin"
    subprocess.run(
        [*pip, "--python", bin / "python", "install", "--no-deps", "--no-index", wheel],
        check=True,
        timeout=300,
    )
    python = [bin / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(python, capture_output=True, text=True, check=True).stdout[:-1])
    tests = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "tests.pth").write_text("".join(f"{path}\n" for path in sorted(tests)))
    return bin


def run(arguments: list[Path | str], folder: Path) -> str:
    """Returns the output of a program that runs in a folder without access to the clone."""
    result = subprocess.run(
        arguments,
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.mark.slow
def test_a_shipped_evaluator_is_found_by_name(installed: Path, tmp_path: Path) -> None:
    printed = json.loads(run([installed / "python", "-c", SEARCH], tmp_path))
    assert Path(printed.pop("packages")).is_relative_to(installed.parent)
    assert printed.pop("move") in {"9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"}
    assert printed == {"evaluator": "quantised", "depth": 6}


@pytest.mark.slow
def test_the_page_is_served(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra web")
    pytest.importorskip("starlette", reason="needs the extra web")
    command = [installed / "plysmith", "play", "web", "--port", "0"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        try:
            said = server.stdout.readline()
            assert said.startswith("Plysmith is at http://127.0.0.1:"), said + server.stderr.read()
            port = int(said.split(":")[2].partition("/")[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
            answers = {}
            for path in ("/", "/static/main.js", "/static/style.css", "/api/catalogue"):
                connection.request("GET", path)
                response = connection.getresponse()
                answers[path] = response.read().decode()
                assert response.status == 200, path
            connection.close()
        finally:
            server.terminate()
            server.wait(300)
    assert "<html" in answers["/"]
    catalogue = json.loads(answers["/api/catalogue"])
    ids = {entry["id"] for entry in catalogue["evaluators"]}
    defaults = catalogue["defaults"]
    assert defaults["checkers"] == "shipped:checkers/quantised.safetensors"
    assert defaults["backgammon"] == "shipped:backgammon/wide.safetensors"
    assert set(defaults.values()) <= ids | {None}  # None: a game without evaluators


@pytest.mark.slow
def test_the_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert run([installed / "plysmith", "--version"], tmp_path) == "plysmith 0.1.0\n"
    assert "--learner" in run([installed / "plysmith", "train", "--help"], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.plain
@pytest.mark.parametrize(
    ("arguments", "status", "out", "error"),
    [
        (["--version"], 0, f"plysmith {plysmith.__version__}\n", ""),
        (["--help"], 0, plysmith.usage() + "\n", ""),
        ([], 2, plysmith.usage() + "\n", ""),
        (
            ["brilliant"],
            2,
            "",
            f"plysmith: expected a command among {', '.join(plysmith.COMMANDS)}; found"
            " 'brilliant'\n",
        ),
        (
            ["train", "checkers", "--set", "rate"],
            2,
            "",
            "plysmith train: --set: expected OPTION=VALUE, found 'rate'\n",
        ),
    ],
)
def test_the_command(
    arguments: list[str], status: int, out: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plysmith.main(arguments) == status
    assert capsys.readouterr() == (out, error)


@pytest.mark.plain
@pytest.mark.parametrize("command", plysmith.COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command in plysmith.usage()
    with pytest.raises(SystemExit) as end:
        plysmith.main([command, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: plysmith {command} ")
