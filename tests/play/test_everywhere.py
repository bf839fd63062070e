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
OWN_GAME, OWN_PROBLEM = "docs.examples.hexapawn:Hexapawn", "docs.examples.lights_out:LightsOut"
#: A game whose evaluator is a kernel.
OWN_KERNEL = "own_kernel:Ahead"
#: For each kind: its game, the player that has it, and further options.
KINDS: dict[str, tuple[str, str, list[str]]] = {
    "weights by hand": ("checkers", "classic", []),
    "a shipped network": ("checkers", "quantised", []),
    "invented terms": ("checkers", "invented", []),
    "a feature of one's own": ("checkers", "mine.json", ["--features", TERMS]),
    "a rote memory": ("checkers", "classic+memory.safetensors", []),
    "n-tuples": ("connect_four", "solved", []),
    "outcomes": ("backgammon", "wide", []),
    "a game of one's own": (OWN_GAME, "hand", []),
    "a kernel of one's own": (OWN_KERNEL, "ahead", []),
    "a problem of one's own": (OWN_PROBLEM, "fifth", []),
}
#: For each place: its command, without the options of the kind, and what stands in its output.
PLACES = {
    "match": ("match GAME PLAYER random --games 2 --quiet", "games 2: "),
    "ladder": ("ladder GAME PLAYER random --games 2 --quiet", "random"),
    "explain": ("explain GAME start EVALUATOR --depth 1", "What makes up the static value"),
    "terminal": ("terminal GAME PLAYER --depth 1 --play none", " at depth 1"),
    "analyse": ("analyse FILE EVALUATOR --game GAME --depth 1 --quiet", "decision"),
    "engine": ("engine PLAYER --hub --depth 1", "wait"),
}
#: The places of the kinds for which there are others.
OTHERS = {
    "outcomes": {
        "analyse": ("analyse FILE EVALUATOR --game GAME --depth 0 --quiet", "decision"),
        "engine": ("engine PLAYER --gnubg-socket 0 --depth 0", "set player 0 external"),
    },
    "a problem of one's own": {
        "explain": ("explain GAME start EVALUATOR", "What makes up the estimated cost"),
        "solve": ("solve GAME --heuristic EVALUATOR", "fifth never overestimates"),
    },
}
#: No other program speaks a protocol for these, and the engine says of which game its protocol is.
NO_ENGINE = ("connect_four", OWN_GAME, OWN_KERNEL)
#: A ladder reads players as a match does, and needs each kind of game once.
LADDER = ("a feature of one's own", "outcomes")
HERE = [
    (kind, place)
    for kind, (game, *_) in KINDS.items()
    for place in (OTHERS[kind] if game == OWN_PROBLEM else PLACES)
    if (kind, place) != ("outcomes", "explain")  # see test_explain_command.py
    if place != "ladder" or kind in LADDER
]


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
    memory.save(tmp_path / "memory.safetensors")
    (tmp_path / "own_kernel.py").write_text(
        "from docs.examples.hexapawn import Hexapawn, advance\n\n\n"
        "class Ahead(Hexapawn):\n"
        "    name, features, evaluators = 'ahead', {}, {'ahead': advance}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    return tmp_path


@pytest.mark.parametrize(("kind", "place"), HERE)
def test_every_kind_is_used_in_every_place(
    kind: str,
    place: str,
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game, player, options = KINDS[kind]
    command, said = OTHERS.get(kind, {}).get(place) or PLACES[place]
    if place == "analyse":
        saved = files / f"games{'.mat' if game == 'backgammon' else '.txt'}"
        assert main(["match", game, "random", "random", "--save", str(saved), "--games", "2"]) == 0
        capsys.readouterr()
        command = command.replace("FILE", str(saved))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hub\nquit\n")))
    socket = "play.protocols.gnubg_socket.ExternalServer.serve_forever"
    monkeypatch.setattr(socket, lambda server, **options: None)
    names = {"GAME": game, "PLAYER": player, "EVALUATOR": player.partition("+")[0]}
    words = [names.get(word, word) for word in command.split()]
    refused = place == "engine" and game in NO_ENGINE
    assert main([*words, *options]) == (2 if refused else 0)
    shown = capsys.readouterr()
    if refused:
        assert f"--hub plays checkers: {player}: expected" in shown.err and not shown.out
    else:
        assert said in shown.out


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_offered_in_the_browser(
    kind: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn")
    game, player, options = KINDS[kind]
    served: dict[str, Any] = {}
    monkeypatch.setattr("play.web.server.serve", lambda **given: served.update(given))
    own = ["--game", game] if options or ":" in game else []
    assert main(["web", "--runs", str(files), *own, *options]) == 0
    catalogue = Catalogue(served["data"], served["runs"], served["own"])
    name = games.load(game).name
    find = catalogue.problem if game == OWN_PROBLEM else catalogue.game
    rules: Any = find(name)
    wanted = [name.partition(".")[0] for name in player.split("+")]
    ids = [entry.id for entry in catalogue.entries().values()
           if entry.game == rules.name and entry.name in wanted]  # fmt: skip
    loaded = catalogue.load("+".join(ids), rules)
    assert loaded.evaluator(rules.start()) == loaded.evaluator(rules.start())
    usual = game in ("backgammon", "connect_four") or player == "quantised"  # people meet a lookup
    assert (loaded.lookup is not None) == ("+" in player or usual)


@pytest.mark.parametrize("place", PLACES)
def test_a_problem_is_refused_where_two_sides_are_needed(
    place: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if place in ("explain", "engine"):
        return
    command, _ = PLACES[place]
    names = {"GAME": OWN_PROBLEM, "PLAYER": "fifth", "EVALUATOR": "fifth", "FILE": "games.txt"}
    assert main([names.get(word, word) for word in command.split()]) == 2
    assert "`python -m play solve` solve it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "match checkers mine.json random",
        "ladder checkers mine.json random",
        "explain checkers start mine.json",
        "terminal checkers mine.json",
        "engine mine.json --hub",
    ],
)
def test_the_command_line_names_its_option_for_own_terms(
    words: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert "expected --features FILE" in said and "features=" not in said


def test_anybody_plays_a_random_player_at_the_terminal(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for game in ("checkers", "backgammon", OWN_GAME):
        seen = []
        for _ in range(2):
            words = ["terminal", game, "random", "--play", "none", "--seed", "7"]
            monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
            assert main(words) == 0
            seen.append(capsys.readouterr().out)
        assert seen[0] == seen[1] and "(random):" in seen[0] and "at depth" not in seen[0]
