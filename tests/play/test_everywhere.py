"""Everything that a match takes plays everywhere: kinds of evaluators, and places to use them."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

import games
from games.feature_file import load_features
from play.__main__ import main
from play.web.catalogue import Catalogue
from search import LinearEvaluator
from search.lookups.rote import RoteMemory

ROOT = Path(__file__).resolve().parents[2]
TERMS = str(ROOT / "docs/examples/my_features.py")
OWN_GAME = "docs.examples.hexapawn:Hexapawn"
#: For each kind: its game, the player that has it, and further options.
KINDS: dict[str, tuple[str, str, list[str]]] = {
    "weights by hand": ("checkers", "classic", []),
    "a shipped network": ("checkers", "quantised", []),
    "a feature of one's own": ("checkers", "mine.json", ["--features", TERMS]),
    "a rote memory": ("checkers", "classic+memory.sqlite", []),
    "n-tuples": ("connect_four", "solved", []),
    "outcomes": ("backgammon", "wide", []),
    "a game of one's own": (OWN_GAME, "hand", []),
}
#: For each place: its command, without the options of the kind, and what stands in its output.
PLACES = {
    "match": ("match GAME PLAYER random --games 2 --quiet", "games 2: "),
    "ladder": ("ladder GAME PLAYER random --games 2 --quiet", "random"),
    "explain": ("explain GAME start EVALUATOR --depth 1", "What makes up the static value"),
    "terminal": ("terminal GAME PLAYER --depth 1 --play none", " at depth 1"),
    "analyse": ("analyse FILE EVALUATOR --game GAME --depth 1 --quiet", "decision"),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, in which one is, with an evaluator over terms of one's own and a memory."""
    game: Any = games.load("checkers")
    features = load_features(TERMS, game, game.features["classic"])
    weights = {"men": 1.0, "kings": 1.36, "refuge": 0.35}
    LinearEvaluator(game, features, weights, name="mine").save(tmp_path / "mine.json")
    memory = RoteMemory(game)
    memory.store(game.start(), 0.5, 3)
    memory.merge()
    memory.save(tmp_path / "memory.sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_used_in_every_place(
    kind: str,
    place: str,
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game, player, options = KINDS[kind]
    command, said = PLACES[place]
    if place == "analyse":
        saved = files / f"games{'.mat' if game == 'backgammon' else '.txt'}"
        assert main(["match", game, "random", "random", "--save", str(saved), "--games", "2"]) == 0
        capsys.readouterr()
        command = command.replace("FILE", str(saved))
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    names = {"GAME": game, "PLAYER": player, "EVALUATOR": player.partition("+")[0]}
    words = [names.get(word, word) for word in command.split()]
    assert main([*words, *options]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_offered_in_the_browser(
    kind: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn")
    game, player, options = KINDS[kind]
    served: dict[str, Any] = {}
    monkeypatch.setattr("play.web.server.serve", lambda **given: served.update(given))
    own = ["--game", game] if options or game == OWN_GAME else []
    assert main(["web", "--runs", str(files), *own, *options]) == 0
    catalogue = Catalogue(served["data"], served["runs"], served["own"])
    rules = catalogue.game("hexapawn" if game == OWN_GAME else game)
    wanted = [name.partition(".")[0] for name in player.split("+")]
    ids = [entry.id for entry in catalogue.entries().values()
           if entry.game == rules.name and entry.name in wanted]  # fmt: skip
    loaded = catalogue.load("+".join(ids), rules)
    assert loaded.evaluator(rules.start()) == loaded.evaluator(rules.start())
    assert (loaded.lookup is not None) == ("+" in player or game == "backgammon")


def test_an_engine_takes_terms_of_ones_own(files: Path) -> None:
    from subprocess import run

    command = [sys.executable, "-m", "play", "engine", "mine.json", "--hub", "--depth", "1"]
    for options, said in ((["--features", TERMS], "wait"), ([], "by --features")):
        done = run([*command, *options], input="hub\nquit\n", text=True, capture_output=True,
                   cwd=files, env={"PYTHONPATH": str(ROOT)}, check=False)  # fmt: skip
        assert said in done.stdout + done.stderr
